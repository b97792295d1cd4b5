"""The shards of a version, in its manifest and in lists (FORMAT.md section 7.5)."""

from __future__ import annotations

import itertools
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
    """A shard of a version, or one that another stands in the place of."""

    uuid: UUID
    source: Source
    partition_values: int
    is_placed: bool


@dataclass(frozen=True)
class _Replaced:
    """Shards that stand in the place of the shard with an ordinal, which has a length."""

    ordinal: int
    length: int
    shards: list[Listed]


@dataclass(frozen=True)
class _ShardList:
    """The shards of a list of level 1."""

    json: JsonObject
    shards: list[Listed]


class ShardReading:
    """Reads the shards of a version."""

    def __init__(self, path: Location, partitions: int, keeper: Keeper) -> None:
        self._path = path
        self._partitions = partitions
        self._keeper = keeper

    def shards(self, json: JsonObject, field_sets: FieldSets) -> list[Listed]:
        """Reads the shards that a manifest has beside its lists."""
        return self._standing(_ShardList(json, self._read(json.objects("shards"), field_sets)))

    def lists(self, json: JsonObject, field_sets: FieldSets, own: list[Listed]) -> list[Listed]:
        """Reads the shards of the lists that a manifest names beside its own shards."""
        return [shard for found in self._lists(json, field_sets, own, 2) for shard in self._standing(found)]

    def _read(self, members: list[JsonObject], field_sets: FieldSets, is_placed: bool = False) -> list[Listed]:
        return [
            Listed(
                member.uuid("uuid"),
                read_shard(self._path, member, field_sets, self._keeper),
                len(member.members.get("partition", [])),
                is_placed,
            )
            for member in members
        ]

    def _lists(self, json: JsonObject, field_sets: FieldSets, own: list[Listed], levels: int) -> list[_ShardList]:
        entries = json.objects("lists")
        replaced = [self._replaced(entry, field_sets) for entry in entries]
        placed = [shard.uuid for some in replaced for entry in some for shard in entry.shards]
        if len(set(placed)) != len(placed) or not set(placed).isdisjoint(shard.uuid for shard in own):
            raise _twice(json)
        return [found for entry, some in zip(entries, replaced) for found in self._list(entry, some, levels)]

    def _list(self, entry: JsonObject, replaced: list[_Replaced], levels: int) -> list[_ShardList]:
        """Reads a list of shards, or the lists that a list of lists names, and puts shards in the place of others."""
        level = entry.integer("level", 1, 2) if "level" in entry.members else 1
        if level > levels:
            raise entry.corrupt("it lists a list of lists, but there are two levels at most")
        json = JsonObject.read(self._path / entry.matching("file", r"list/[0-9a-f-]{36}\.json"))
        named = (entry.integer("bytes", 1, MAX_BYTES), entry.matching("crc", "[0-9a-f]{8}"))
        if (json.size, json.string("crc32c")) != named:
            raise json.corrupt(f"it is not the file that the manifest names, with {named[0]} bytes and checksum {named[1]}")
        if level == 1:
            found = [_ShardList(json, self._read(json.objects("shards"), read_field_sets(json)))]
        else:
            field_sets = read_field_sets(json) if "fieldSets" in json.members else FieldSets([])
            found = self._lists(json, field_sets, [], 1)
        standing = _replace(json, found, replaced)
        shards = [shard for some in standing for shard in some.shards]
        counted = (len(shards), sum(shard.source.length for shard in shards))
        if counted != (entry.integer("shards", 1), entry.integer("length", 1)):
            raise json.corrupt("its shards are not those that the manifest counts")
        return standing

    def _standing(self, found: _ShardList) -> list[Listed]:
        """Returns the shards of a list, after all that is replaced, if they may be shards of the version."""
        placed = {shard.uuid for shard in found.shards if shard.is_placed}
        if sum(shard.uuid in placed for shard in found.shards) != len(placed):
            raise _twice(found.json)
        for shard in found.shards:
            if shard.partition_values != self._partitions:
                raise found.json.corrupt(f"shard {shard.uuid} has no values of the {self._partitions} partition fields")
        return found.shards

    def _replaced(self, entry: JsonObject, field_sets: FieldSets) -> list[_Replaced]:
        """Reads what an element of ``lists`` replaces in its list, in rising order."""
        replaced: list[_Replaced] = []
        if "replaced" in entry.members:
            for element in entry.mixed("replaced", (3,)):
                ordinal = element.integer(0, replaced[-1].ordinal + 1 if replaced else 0)
                shards = self._read(element.objects(2), field_sets, is_placed=True)
                replaced.append(_Replaced(ordinal, element.integer(1, 1), shards))
        return replaced


def _replace(json: JsonObject, lists: list[_ShardList], replaced: list[_Replaced]) -> list[_ShardList]:
    if not replaced:
        return lists
    count = sum(len(some.shards) for some in lists)
    if replaced[-1].ordinal >= count:
        raise json.corrupt(f"its shard {replaced[-1].ordinal} is replaced, but it has {count} shards")
    entries = {entry.ordinal: entry for entry in replaced}
    ordinals = itertools.count()

    def standing(shard: Listed) -> list[Listed]:
        entry = entries.get(next(ordinals))
        if entry is None:
            return [shard]
        if shard.source.length != entry.length:
            raise json.corrupt(f"its shard {entry.ordinal} is replaced, but has another length than {entry.length}")
        return entry.shards

    return [_ShardList(some.json, [other for shard in some.shards for other in standing(shard)]) for some in lists]


def _twice(json: JsonObject) -> CorruptDataError:
    return json.corrupt("a shard stands in the place of another, and once more beside that")


def read_shard(path: Location, member: JsonObject, field_sets: FieldSets, keeper: Keeper) -> Source:
    length = member.integer("length", 1)
    patch = read_patch(member, length)
    partition = member.members.get("partition", [])
    if not isinstance(partition, list) or not all(isinstance(text, (str, type(None))) for text in partition):
        raise member.corrupt(f"the partition values of shard {member.uuid('uuid')} are no texts")
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
