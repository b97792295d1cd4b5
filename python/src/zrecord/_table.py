"""Versions of a table (FORMAT.md section 7)."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import numpy as np

from zrecord._field import Field
from zrecord._location import Location
from zrecord._patch import read_patch
from zrecord._remote import RemotePath
from zrecord._remote_field import field_at
from zrecord._remote_source import Keeper, RemoteSource
from zrecord._schema import FieldSpec, UnreadableField, read_fields
from zrecord._sealed import MAX_BYTES, JsonObject, corrupt
from zrecord._source import ShardSource, Source
from zrecord._tables import FieldSets, SealedShard, read_chunks, read_field_sets, read_refs
from zrecord.errors import CorruptDataError, NotADatasetError, StorageError, ZrecordError

_Read = TypeVar("_Read")
_INDEX_MAP = FieldSpec(1, "newIndex", "i64")

_NAME = re.compile(r"(\d{20})\.json", re.ASCII)
_UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_TAG = "(?!(?i:[0-9]+|latest)$)[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}"
_CARE = ("tag", "untag", "expire", "sweep", "repair")
_RETRACT = "retract"
_MAX_TAGS = 10_000
_MAX_HINT_BYTES = 4 << 10
_MAX_STEPS = 8


@dataclass(frozen=True)
class Contents:
    """What a version has: its number, its fields, its shards, and where records of the version before went, if they moved."""

    version: int
    fields: list[FieldSpec]
    unreadable: list[UnreadableField]
    shards: list[Source]
    index_map: Source | None


@dataclass(frozen=True)
class _Tag:
    name: str
    version: int
    file: str
    size: int
    seal: str


@dataclass(frozen=True)
class _Manifest:
    """The manifest of a version, of which the rules for its place in the chain of versions hold."""

    json: JsonObject
    version: int
    commit: UUID
    oldest: int
    tags: list[_Tag]


@dataclass(frozen=True)
class _Hint:
    """Where the newest version was seen."""

    table: UUID
    version: int
    commit: UUID


class _NoListing(NotADatasetError):
    """The newest version is not known by its hint, and the directory cannot be listed."""


def has_versions(path: Path) -> bool:
    """Tells whether a local directory has the manifest of a version, or a hint at one: it is a table, or was one."""
    return (path / "manifest").is_dir() and (bool(_listed(path)) or _hint(path) is not None)


def read_table(path: Location, version: int | None) -> Contents:
    """Reads a version, by default the newest."""

    def read(newest: _Manifest) -> Contents:
        _require_table(path, newest)
        return _contents(path, _find(path, newest, newest.version if version is None else version))

    try:
        return _reading(path, read)
    except CorruptDataError as e:
        if version is None or _is_missing(e) or _is_newest_readable(path) or not _may_have(path, version):
            raise
    except (_NoListing, StorageError):
        # A server may refuse a file that is missing, as those that must not tell which files there are do.
        if version is None or not isinstance(path, RemotePath) or path.remote.is_listable:
            raise
    # It is unknown which versions were expired.
    try:
        manifest = _read(path, version)
    except CorruptDataError as e:
        if not _is_missing(e):
            raise
        raise NotADatasetError(f"Cannot open version {version} of {path}: it has no such manifest; check the URL", path) from e
    _require_table(path, manifest)
    return _contents(path, manifest)


def _require_table(path: Location, newest: _Manifest) -> None:
    if newest.json.string("operation") == _RETRACT:
        raise NotADatasetError(f"Cannot open dataset {path}: the creation of its table was taken back; check the path", path)


def _is_newest_readable(path: Location) -> bool:
    try:
        _newest(path)
    except CorruptDataError:
        return False
    return True


def _may_have(path: Location, version: int) -> bool:
    return isinstance(path, RemotePath) or version in _listed(path)


def _listed(path: Location) -> list[int]:
    if isinstance(path, RemotePath):
        if not path.remote.is_listable:
            raise _NoListing(
                f"Cannot open dataset {path}: there is no listing over {path.remote.scheme}, and no file 'manifest/latest' that "
                "leads to the newest version; publish that file with the dataset, or give a version",
                path,
            )
        names = map(_NAME.fullmatch, path.remote.list_names(path / "manifest"))
        return sorted(int(name[1]) for name in names if name)
    with os.scandir(path / "manifest") as files:
        found = (_NAME.fullmatch(file.name) for file in files if not file.is_dir(follow_symlinks=False))
        return sorted(int(name[1]) for name in found if name)


def _file_of(path: Location, version: int) -> Location:
    return path / "manifest" / f"{version:020d}.json"


def _is_missing(error: CorruptDataError) -> bool:
    return isinstance(error.__cause__, FileNotFoundError)


def _reading(path: Location, reading: Callable[[_Manifest], _Read]) -> _Read:
    """Runs a reading of versions. Runs it again on a newer newest version if a file was expired meanwhile."""
    newest = _newest(path)
    while True:
        try:
            return reading(newest)
        except CorruptDataError as e:
            again = _newest(path) if _is_missing(e) else newest
            if again.commit == newest.commit:
                raise
            newest = again


def _newest(path: Location) -> _Manifest:
    """Reads the newest version: upwards from the hint, or from the end of the directory."""
    hint = _hint(path)
    found = _from(path, hint) if hint else None
    return found or _listed_newest(path, hint)


def _hint(path: Location) -> _Hint | None:
    """Reads where the newest version was seen. The file has no promise."""
    try:
        json = JsonObject.read(path / "manifest" / "latest", _MAX_HINT_BYTES)
        return _Hint(json.uuid("table"), json.integer("version"), json.uuid("commit"))
    except StorageError as e:
        if isinstance(path, RemotePath) and not path.remote.is_listable:
            raise _NoListing(f"Cannot tell the newest version of {path}: {e}, or give a version", path) from e
        return None
    except (ZrecordError, OSError):
        return None


def _from(path: Location, hint: _Hint) -> _Manifest | None:
    """Reads the newest version from a hint on; None if the hint does not lead to it."""
    try:
        found = _read(path, hint.version)
        if (found.json.uuid("table"), found.commit) != (hint.table, hint.commit):
            return None
        is_checked = False
        for _ in range(_MAX_STEPS):
            following = _next(path, found)
            if following is None:
                return found if is_checked or _follows(path, found) else None
            if not _is_next(found, following):
                break
            found, is_checked = following, True
        else:
            return None
    except CorruptDataError:
        return None
    newest = _listed_newest(path, hint)
    if newest.oldest <= found.version:
        gap = _file_of(path, found.version + 1)
        raise corrupt(gap, f"it does not follow version {found.version}")
    return newest


def _next(path: Location, manifest: _Manifest) -> _Manifest | None:
    try:
        return _read(path, manifest.version + 1)
    except CorruptDataError as e:
        if _is_missing(e):
            return None
        raise


def _follows(path: Location, manifest: _Manifest) -> bool:
    """Tells whether a version follows the one before: a slow publisher may have left it below the floor."""
    return manifest.oldest == manifest.version or _is_next(_read(path, manifest.version - 1), manifest)


def _is_next(manifest: _Manifest, following: _Manifest) -> bool:
    return following.oldest == following.version or following.json.uuid("previous") == manifest.commit


def _listed_newest(path: Location, hint: _Hint | None) -> _Manifest:
    """Reads the version with the greatest number. It may be expired between two looks if there is a newer one by then."""
    tried = -1
    while True:
        listed = _listed(path)
        if not listed and hint:
            raise _ahead(path, hint, "there is no manifest")
        if not listed:
            raise NotADatasetError(f"Cannot open dataset {path}: its directory 'manifest' has no version", path)
        try:
            found = _read(path, listed[-1])
        except CorruptDataError as e:
            if not _is_missing(e) or listed[-1] <= tried:
                raise
            tried = listed[-1]
            continue
        while (following := _next(path, found)) is not None:
            found = following
        if hint and hint.version > found.version and hint.table == found.json.uuid("table"):
            raise _ahead(path, hint, f"version {found.version} is the newest")
        return found


def _ahead(path: Location, hint: _Hint, found: str) -> CorruptDataError:
    """Returns the error for a hint at a version that was lost."""
    latest = path / "manifest" / "latest"
    return CorruptDataError(
        f"Cannot tell the newest version of {path}: {latest} says that version {hint.version} was published, but {found}; "
        f"restore the manifests after it from a copy, or delete {latest} if they were given up on purpose",
        latest,
    )


def _find(path: Location, newest: _Manifest, version: int) -> _Manifest:
    """Reads a version by the first file that is sound: its manifest, if it was not expired, or the copy of one of its tags."""
    if version == newest.version:
        return newest
    copies = [tag for tag in newest.tags if tag.version == version]
    is_retained = newest.oldest <= version < newest.version
    if not is_retained and not copies:
        expired = "it was expired; " if 0 <= version < newest.version else ""
        raise NotADatasetError(f"Cannot open version {version} of {path}: {expired}the versions are {_described(newest)}", path)
    try:
        return _read(path, version) if is_retained else _read_copy(path, copies.pop(0))
    except CorruptDataError:
        for tag in copies:
            with contextlib.suppress(CorruptDataError):
                return _read_copy(path, tag)
        raise


def _described(newest: _Manifest) -> str:
    """Describes the versions that can be read, such as ``3, 7 to 9``."""
    copies = sorted({tag.version for tag in newest.tags if tag.version < newest.oldest})
    retained = str(newest.oldest) if newest.oldest == newest.version else f"{newest.oldest} to {newest.version}"
    return ", ".join([*map(str, copies), retained])


def _read(path: Location, version: int) -> _Manifest:
    return _parse(JsonObject.read(_file_of(path, version)), version)


def _read_copy(path: Location, tag: _Tag) -> _Manifest:
    """Reads the copy of a tagged version's manifest, if it is the file that the tag means."""
    json = JsonObject.read(path / tag.file)
    if (json.size, json.string("crc32c")) != (tag.size, tag.seal):
        raise json.corrupt(f"it is not the file that tag '{tag.name}' names, with {tag.size} bytes and checksum {tag.seal}")
    return _parse(json, tag.version)


def _parse(json: JsonObject, expected: int) -> _Manifest:
    version = json.integer("version")
    if version != expected:
        raise json.corrupt(f"it is of version {version}, but its name says {expected}")
    if ("previous" in json.members) != (version > 0):
        raise json.corrupt("every version has the member 'previous', except version 0")
    if version:
        json.uuid("previous")
    if "base" in json.members:
        json.integer("base", 0, version - 1)
    records = json.object("records")
    made = (records.integer("version", 0, version), records.uuid("commit"))
    if json.string("operation") not in _CARE and made != (version, json.uuid("commit")):
        raise json.corrupt(f"its operation is {json.string('operation')}, but it says that version {made[0]} made its records")
    if json.string("operation") in _CARE and made[0] == version:
        raise json.corrupt(f"its operation is {json.string('operation')}, but it says that it made its records itself")
    if "sweptBeforeMillis" in json.members or json.string("operation") == "sweep":
        json.integer("sweptBeforeMillis", 0)
    return _Manifest(json, version, json.uuid("commit"), json.integer("oldest", 0, version), _read_tags(json, version))


def _read_tags(json: JsonObject, version: int) -> list[_Tag]:
    members = json.objects("tags")
    if len(members) > _MAX_TAGS:
        raise json.corrupt(f"it has {len(members)} tags, but at most {_MAX_TAGS} are accepted")
    tags = [
        _Tag(
            name=member.matching("name", _TAG),
            version=member.integer("version", 0, version - 1),
            file=member.matching("file", rf"tag/{_UUID}\.json"),
            size=member.integer("bytes", 1, MAX_BYTES),
            seal=member.matching("crc", "[0-9a-f]{8}"),
        )
        for member in members
        if member.integer("timestampMillis") >= 0
    ]
    names = [tag.name for tag in tags]
    if names != sorted(set(names)):
        raise json.corrupt("its tags are not sorted by name, or a name appears twice")
    return tags


def _contents(path: Location, manifest: _Manifest) -> Contents:
    json = manifest.json
    fields, unreadable = read_fields(json.objects("fields"))
    every: list[FieldSpec | UnreadableField] = [*fields, *unreadable]
    if len({f.id for f in every}) != len(every) or len({f.name for f in every}) != len(every):
        raise json.corrupt("an id or name of a field appears twice")
    shards: list[Source] = []
    keeper = Keeper()
    partitions = json.integers("partitions", 1, 2**31 - 1) if "partitions" in json.members else []
    if len(set(partitions)) != len(partitions) or any(field >= json.integer("nextFieldId") for field in partitions):
        raise json.corrupt(f"its partition fields {partitions} are not all different fields")
    for entry in json.objects("lists"):
        shards += _read_list(path, entry, len(partitions), keeper)
    shards += _read_entries(path, json, len(partitions), keeper)
    length = sum(shard.length for shard in shards)
    if length != json.integer("length"):
        raise json.corrupt(f"it says {json.integer('length')} records, but its shards have {length}")
    index_map = None
    if "indexMap" in json.members:
        index_map = _read_entry(path, json.object("indexMap"), read_field_sets(json), 0, keeper)
    return Contents(manifest.version, fields, unreadable, shards, index_map)


def _read_list(path: Location, entry: JsonObject, partitions: int, keeper: Keeper, levels: int = 2) -> list[Source]:
    """Reads a list of shards, or the lists that a list of lists names."""
    level = entry.integer("level", 1, 2) if "level" in entry.members else 1
    if level > levels:
        raise entry.corrupt("it lists a list of lists, but there are two levels at most")
    json = JsonObject.read(path / entry.matching("file", r"list/[0-9a-f-]{36}\.json"))
    named = (entry.integer("bytes", 1, MAX_BYTES), entry.matching("crc", "[0-9a-f]{8}"))
    if (json.size, json.string("crc32c")) != named:
        raise json.corrupt(f"it is not the file that the manifest names, with {named[0]} bytes and checksum {named[1]}")
    if level == 1:
        shards = _read_entries(path, json, partitions, keeper)
    else:
        shards = [shard for member in json.objects("lists") for shard in _read_list(path, member, partitions, keeper, 1)]
    if len(shards) != entry.integer("shards") or sum(shard.length for shard in shards) != entry.integer("length"):
        raise json.corrupt("its shards are not those that the manifest counts")
    return shards


def _read_entries(path: Location, json: JsonObject, partitions: int, keeper: Keeper) -> list[Source]:
    field_sets = read_field_sets(json)
    return [_read_entry(path, member, field_sets, partitions, keeper) for member in json.objects("shards")]


def _read_entry(path: Location, member: JsonObject, field_sets: FieldSets, partitions: int, keeper: Keeper) -> Source:
    length = member.integer("length", 1)
    patch = read_patch(member, length)
    partition = member.members.get("partition", [])
    is_texts = isinstance(partition, list) and all(isinstance(text, (str, type(None))) for text in partition)
    if not is_texts or len(partition) != partitions:
        raise member.corrupt(f"shard {member.uuid('uuid')} has no values of the {partitions} partition fields")
    make = partial(
        SealedShard,
        directory=path / "shard" / str(member.uuid("uuid")),
        uuid=member.uuid("uuid"),
        length=length,
        slots=length if patch is None else patch.slots,
        chunks=read_chunks(member),
        tables=read_refs(member, field_sets),
    )
    if isinstance(path, RemotePath):
        return RemoteSource(length, lambda: ShardSource(make(), patch), keeper)
    return ShardSource(make(), patch)


def read_index_map(path: Location, index_map: Source, verify: str) -> Field:
    """Returns the new index of each record of the version before, as a field."""
    return field_at(path, _INDEX_MAP, [index_map], np.array([0, index_map.length]), verify)
