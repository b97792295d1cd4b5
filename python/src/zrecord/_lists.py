"""The shards of a version, in its manifest and in lists (FORMAT.md section 7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from uuid import UUID

from zrecord._location import Location
from zrecord._patch import read_patch
from zrecord._remote import RemotePath
from zrecord._remote_source import Keeper, RemoteSource
from zrecord._sealed import MAX_BYTES, JsonObject
from zrecord._source import ShardSource, Source
from zrecord._tables import FieldSets, SealedShard, read_chunks, read_field_sets, read_refs
from zrecord.errors import CorruptDataError


@dataclass(frozen=True)
class Listed:
    """A shard of a version."""

    uuid: UUID
    source: Source


@dataclass(frozen=True)
class _Replaced:
    """Shards that stand in the place of the shard with an ordinal, which has a length."""

    ordinal: int
    length: int
    shards: list[Listed]


class ShardReading:
    """Reads the shards of a version."""

    def __init__(self, path: Location, partitions: int, keeper: Keeper) -> None:
        self._path = path
        self._partitions = partitions
        self._keeper = keeper

    def shards(self, members: list[JsonObject], field_sets: FieldSets) -> list[Listed]:
        return [
            Listed(member.uuid("uuid"), read_shard(self._path, member, field_sets, self._partitions, self._keeper))
            for member in members
        ]

    def lists(self, json: JsonObject, field_sets: FieldSets, own: list[Listed], levels: int = 2) -> list[Listed]:
        """Reads the shards of the lists that a manifest names beside its own shards, or that a list of lists names."""
        entries = json.objects("lists")
        replaced = [self._replaced(entry, field_sets) for entry in entries]
        placed = [shard.uuid for some in replaced for entry in some for shard in entry.shards]
        if len(set(placed)) != len(placed) or not set(placed).isdisjoint(shard.uuid for shard in own):
            raise _twice(json)
        return [shard for entry, some in zip(entries, replaced, strict=True) for shard in self._list(entry, some, levels)]

    def _list(self, entry: JsonObject, replaced: list[_Replaced], levels: int) -> list[Listed]:
        """Reads a list of shards, or the lists that a list of lists names, and puts shards in the place of others."""
        level = entry.integer("level", 1, 2) if "level" in entry.members else 1
        if level > levels:
            raise entry.corrupt("it lists a list of lists, but there are two levels at most")
        json = JsonObject.read(self._path / entry.matching("file", r"list/[0-9a-f-]{36}\.json"))
        named = (entry.integer("bytes", 1, MAX_BYTES), entry.matching("crc", "[0-9a-f]{8}"))
        if (json.size, json.string("crc32c")) != named:
            raise json.corrupt(f"it is not the file that the manifest names, with {named[0]} bytes and checksum {named[1]}")
        if level == 1:
            shards = self.shards(json.objects("shards"), read_field_sets(json))
        else:
            field_sets = read_field_sets(json) if "fieldSets" in json.members else FieldSets([])
            shards = self.lists(json, field_sets, [], 1)
        standing = _replace(json, shards, replaced)
        counted = (len(standing), sum(shard.source.length for shard in standing))
        if counted != (entry.integer("shards", 1), entry.integer("length", 1)):
            raise json.corrupt("its shards are not those that the manifest counts")
        return standing

    def _replaced(self, entry: JsonObject, field_sets: FieldSets) -> list[_Replaced]:
        """Reads what an element of ``lists`` replaces in its list, in rising order."""
        replaced: list[_Replaced] = []
        if "replaced" in entry.members:
            for element in entry.mixed("replaced", (3,)):
                ordinal = element.integer(0, replaced[-1].ordinal + 1 if replaced else 0)
                shards = self.shards(element.objects(2), field_sets)
                replaced.append(_Replaced(ordinal, element.integer(1, 1), shards))
        return replaced


def _replace(json: JsonObject, shards: list[Listed], replaced: list[_Replaced]) -> list[Listed]:
    if not replaced:
        return shards
    if replaced[-1].ordinal >= len(shards):
        raise json.corrupt(f"its shard {replaced[-1].ordinal} is replaced, but it has {len(shards)} shards")
    standing = [[shard] for shard in shards]
    for entry in replaced:
        if shards[entry.ordinal].source.length != entry.length:
            raise json.corrupt(f"its shard {entry.ordinal} is replaced, but has another length than {entry.length}")
        standing[entry.ordinal] = entry.shards
    placed = {shard.uuid for entry in replaced for shard in entry.shards}
    found = [shard for some in standing for shard in some]
    if sum(shard.uuid in placed for shard in found) != len(placed):
        raise _twice(json)
    return found


def _twice(json: JsonObject) -> CorruptDataError:
    return json.corrupt("a shard stands in the place of another, and once more beside that")


def read_shard(path: Location, member: JsonObject, field_sets: FieldSets, partitions: int, keeper: Keeper) -> Source:
    length = member.integer("length", 1)
    patch = read_patch(member, length)
    partition = member.members.get("partition", [])
    is_texts = isinstance(partition, list) and all(isinstance(text, (str, type(None))) for text in partition)
    if not is_texts or len(partition) != partitions:
        raise member.corrupt(f"shard {member.uuid('uuid')} has no values of the {partitions} partition fields")
    chunks = read_chunks(member)
    if any(chunk.owner == member.uuid("uuid") for chunk in chunks):
        raise member.corrupt(f"shard {member.uuid('uuid')} names one of its own chunks as another shard's")
    values = member.tuples("values", 2)
    published = sum(chunk.size for chunk in chunks)
    is_unique = len({field for field, _ in values}) == len(values)
    if not is_unique or any(not 0 < field < 2**31 or size > published for field, size in values):
        raise member.corrupt(f"the value bytes of shard {member.uuid('uuid')} are out of range: {values[:8]} of {published}")
    make = partial(
        SealedShard,
        directory=path / "shard" / str(member.uuid("uuid")),
        uuid=member.uuid("uuid"),
        length=length,
        slots=length if patch is None else patch.slots,
        chunks=chunks,
        tables=read_refs(member, field_sets),
    )
    if isinstance(path, RemotePath):
        return RemoteSource(length, lambda: ShardSource(make(), patch), keeper)
    return ShardSource(make(), patch)
