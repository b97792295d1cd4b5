"""Versions of a table (FORMAT.md section 7)."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import numpy as np

from zrecord._declarations import Declarations, read_declarations
from zrecord._field import Field
from zrecord._lists import ShardReading, read_shard
from zrecord._location import Location
from zrecord._remote import RemotePath
from zrecord._remote_field import field_at
from zrecord._remote_source import Keeper
from zrecord._schema import FieldSpec, UnreadableField, read_fields
from zrecord._sealed import MAX_BYTES, JsonObject, corrupt
from zrecord._source import Source
from zrecord._tables import read_field_sets
from zrecord.errors import AccessDeniedError, CorruptDataError, FormatError, NotADatasetError, StorageError, ZrecordError

_Read = TypeVar("_Read")
_INDEX_MAP = FieldSpec(1, "newIndex", "i64")

_NAME = re.compile(r"(\d{20})\.json", re.ASCII)
_UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_TAG = "(?!(?i:[0-9]+|latest)$)[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}"
CARE = ("tag", "untag", "expire", "sweep", "repair", "declare", "reserve")
_RETRACT = "retract"
_MAX_TAGS = 10_000
_MAX_HINT_BYTES = 4 << 10
_MAX_STEPS = 8


@dataclass(frozen=True)
class Contents:
    """What a version has: its number, its fields, its shards, and where records of the version before went, if they moved.

    Also what the table says of itself, and the number and the commit of the newest version that changed records.
    """

    version: int
    fields: list[FieldSpec]
    unreadable: list[UnreadableField]
    shards: list[Source]
    index_map: Source | None
    declarations: Declarations
    records: tuple[int, UUID]


@dataclass(frozen=True)
class _Tag:
    name: str
    version: int
    file: str
    size: int
    seal: str
    millis: int


@dataclass(frozen=True)
class Manifest:
    """The manifest of a version, of which the rules for its place in the chain of versions hold."""

    json: JsonObject
    table: UUID
    version: int
    commit: UUID
    previous: UUID | None
    oldest: int
    tags: list[_Tag]
    records: tuple[int, UUID]

    @property
    def millis(self) -> int:
        """The Unix time of the commit."""
        return self.json.integer("timestampMillis")

    @property
    def is_beginning(self) -> bool:
        """Whether the version creates a table, or drops it."""
        return self.oldest == self.version

    def follows(self, before: Manifest) -> bool:
        """Tells whether this is the version after another, of the same table unless it begins one."""
        is_of_table = self.is_beginning or self.table == before.table
        return is_of_table and self.version == before.version + 1 and self.previous == before.commit


@dataclass(frozen=True)
class _Hint:
    """Where the newest version was seen."""

    table: UUID
    version: int
    commit: UUID

    def leads_to(self, manifest: Manifest) -> bool:
        return (self.version, self.commit, self.table) == (manifest.version, manifest.commit, manifest.table)

    def contradicts(self, manifest: Manifest) -> bool:
        """Tells whether a version has the number that the hint leads to, but is another one."""
        return self.version == manifest.version and not self.leads_to(manifest)


class _NoListing(NotADatasetError):
    """The newest version is not known by its hint, and the directory cannot be listed."""


def has_versions(path: Path) -> bool:
    """Tells whether a local directory has the manifest of a version, or a hint at one: it is a table, or was one."""
    return (path / "manifest").is_dir() and (bool(_listed(path)) or _hint(path) is not None)


def read_table(path: Location, version: int | None) -> Contents:
    """Reads a version, by default the newest."""

    def read(newest: Manifest) -> Contents:
        require_table(path, newest)
        return _contents(path, find(path, newest, newest.version if version is None else version))

    try:
        return reading(path, read)
    except CorruptDataError as e:
        if version is None or _is_missing(e) or _is_newest_readable(path) or not _may_have(path, version):
            raise
    except (_NoListing, StorageError):
        # A server may refuse a file that is missing, as those that must not tell which files there are do.
        if version is None or not isinstance(path, RemotePath) or path.remote.is_listable:
            raise
    # It is unknown which versions were expired.
    try:
        manifest = _read_unless_replaced(path, version)
    except CorruptDataError as e:
        if not _is_missing(e):
            raise
        raise NotADatasetError(f"Cannot open version {version} of {path}: it has no such manifest; check the URL", path) from e
    require_table(path, manifest)
    return _contents(path, manifest)


def require_table(path: Location, newest: Manifest) -> None:
    """Raises ``NotADatasetError`` if the newest version says that there is no table any more."""
    if newest.json.string("operation") == _RETRACT:
        raise NotADatasetError(
            f"Cannot open dataset {path}: its table was dropped, or its creation was taken back; check the path", path
        )


def why_gone(path: Location) -> str | None:
    """Tells why a file of a shard or a list may be gone that a version of a table named; ``None`` if nothing is known."""
    try:
        newest = _newest(path)
    except (ZrecordError, OSError):
        return None
    if newest.json.string("operation") == _RETRACT:
        return f"the table at {path} was dropped"
    first = readable(path, newest.oldest)
    if first is None or not first.is_beginning or first.version == 0:
        return None
    return (
        f"the table of which it was may have been dropped: version {first.version} of {path} is the first of another table; "
        "open the dataset again"
    )


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


def reading(path: Location, read: Callable[[Manifest], _Read]) -> _Read:
    """Runs a reading of versions. Runs it again on a newer newest version if a file was expired meanwhile."""
    newest = _newest(path)
    while True:
        try:
            return read(newest)
        except CorruptDataError as e:
            again = _newest(path) if _is_missing(e) else newest
            if again.commit == newest.commit:
                raise
            newest = again


def _newest(path: Location) -> Manifest:
    """Reads the newest version: upwards from the hint, or from the end of the directory.

    What contradicts the version may have been expired meanwhile. So a contradiction is damage if the same version is found again.
    """
    doubted = None
    while True:
        hint = _hint(path)
        found, last = _from(path, hint) if hint else (None, None)
        if found:
            return found
        newest = _listed_newest(path, hint)
        doubt = _contradiction(path, hint, last, newest)
        if doubt is None:
            return newest
        if doubted == newest.commit:
            raise doubt
        doubted = newest.commit


def _contradiction(path: Location, hint: _Hint | None, last: Manifest | None, newest: Manifest) -> CorruptDataError | None:
    """Looks for what contradicts the version that a list of the directory led to."""
    if hint and hint.contradicts(newest) and not _is_of_table_before(path, hint, newest):
        return _replaced(path, hint, newest)
    if last and newest.oldest <= last.version:
        return _broken(path, last.version + 1)
    before = None if newest.is_beginning else readable(path, newest.version - 1)
    if before and not newest.follows(before):
        return _broken(path, newest.version)
    if hint and hint.table == newest.table and newest.oldest <= hint.version < newest.version:
        hinted = readable(path, hint.version)
        if hinted and hint.contradicts(hinted):
            return _replaced(path, hint, hinted)
    return None


def _is_of_table_before(path: Location, hint: _Hint, manifest: Manifest) -> bool:
    """Tells whether a slow publisher of a table that was in the directory before left the hint: it names another table
    and another commit, and all versions down to the floor follow the one before."""
    if hint.table == manifest.table or hint.commit == manifest.commit or manifest.is_beginning:
        return False
    at = manifest
    while True:
        before = readable(path, at.version - 1)
        if before is None or not at.follows(before):
            return False
        if before.version <= manifest.oldest:
            return True
        at = before


def readable(path: Location, version: int) -> Manifest | None:
    """Reads a manifest; None if that is not possible, so that nothing can be compared."""
    try:
        return _read(path, version)
    except (CorruptDataError, FormatError):
        return None


def _broken(path: Location, version: int) -> CorruptDataError:
    return corrupt(_file_of(path, version), f"it does not follow version {version - 1}")


def _replaced(path: Location, hint: _Hint, manifest: Manifest) -> CorruptDataError:
    latest = path / "manifest" / "latest"
    return corrupt(
        _file_of(path, manifest.version),
        f"it is of commit {manifest.commit} of table {manifest.table}, but {latest} says that this version was published "
        f"by commit {hint.commit} of table {hint.table}: another table or another copy of the table has replaced the file, "
        f"or the storage let one commit overwrite another; or delete {latest} if the manifests are right",
    )


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


def _from(path: Location, hint: _Hint) -> tuple[Manifest | None, Manifest | None]:
    """Reads the newest version from a hint on, if the hint leads to it, or else the last one before one that does not follow."""
    try:
        found = _read(path, hint.version)
        if not hint.leads_to(found):
            return None, None
        is_checked = False
        for _ in range(_MAX_STEPS):
            following = _next(path, found)
            if following is None:
                return (found if is_checked or _follows(path, found) else None), None
            if not following.follows(found):
                return None, found
            found, is_checked = following, True
    except CorruptDataError:
        pass
    return None, None


def _next(path: Location, manifest: Manifest) -> Manifest | None:
    try:
        return _read(path, manifest.version + 1)
    except CorruptDataError as e:
        if _is_missing(e):
            return None
        raise


def _follows(path: Location, manifest: Manifest) -> bool:
    """Tells whether a version follows the one before: a slow publisher may have left it below the floor."""
    return manifest.is_beginning or manifest.follows(_read(path, manifest.version - 1))


def _listed_newest(path: Location, hint: _Hint | None) -> Manifest:
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
        if hint and hint.version > found.version and hint.table == found.table:
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


def find(path: Location, newest: Manifest, version: int) -> Manifest:
    """Reads a retained version by the first sound file: its manifest, if it was not expired, or the copy of one of its tags."""
    if version == newest.version:
        return newest
    copies = [tag for tag in newest.tags if tag.version == version]
    is_retained = newest.oldest <= version < newest.version
    if not is_retained and not copies:
        expired = "it was expired; " if 0 <= version < newest.version else ""
        raise NotADatasetError(f"Cannot open version {version} of {path}: {expired}the versions are {_described(newest)}", path)
    try:
        return _read_chained(path, newest, version) if is_retained else _read_copy(path, copies.pop(0))
    except CorruptDataError:
        for tag in copies:
            with contextlib.suppress(CorruptDataError):
                return _read_copy(path, tag)
        raise


def _read_chained(path: Location, newest: Manifest, version: int) -> Manifest:
    """Reads a manifest that the next version follows. The next one proves nothing if the one after it does not follow."""
    found = _read(path, version)
    following = newest if version + 1 == newest.version else readable(path, version + 1)
    fits = found.table == newest.table
    if fits and following and following.table == newest.table and not following.follows(found):
        fits = following is not newest and not _is_followed(path, newest, following)
    if fits:
        return found
    if _newest(path).oldest <= version:
        raise _misplaced(path, version)
    raise corrupt(_file_of(path, version), "it was expired meanwhile") from FileNotFoundError(str(_file_of(path, version)))


def _is_followed(path: Location, newest: Manifest, manifest: Manifest) -> bool:
    following = newest if manifest.version + 1 == newest.version else readable(path, manifest.version + 1)
    return following is not None and following.follows(manifest)


def _misplaced(path: Location, version: int) -> CorruptDataError:
    return corrupt(
        _file_of(path, version),
        "it does not fit the versions beside it, so another table or another copy of the table has replaced the file",
    )


def _read_unless_replaced(path: Location, version: int) -> Manifest:
    """Reads a version of a table whose newest version is not known, unless the hint or its neighbours contradict it."""
    found = _read(path, version)
    try:
        hint = _hint(path)
    except _NoListing:
        hint = None
    if hint and hint.leads_to(found):
        return found
    following = _unless_denied(path, version + 1)
    is_doubted = hint and (hint.contradicts(found) or (hint.version >= version and hint.table != found.table))
    if hint and (
        (is_doubted and not _is_of_table_before(path, hint, found))
        or (following and hint.leads_to(following) and not following.follows(found))
    ):
        raise _misplaced(path, version)
    before = None if found.is_beginning else _unless_denied(path, version - 1)
    fits = [following.follows(found)] if following and following.table == found.table else []
    fits += [found.follows(before)] if before else []
    if fits and not any(fits):
        raise _misplaced(path, version)
    return found


def _unless_denied(path: Location, version: int) -> Manifest | None:
    """Reads a manifest as ``_readable`` does. A server may deny access to a file that is missing."""
    try:
        return readable(path, version)
    except AccessDeniedError:
        return None


def _described(newest: Manifest) -> str:
    """Describes the versions that can be read, such as ``3, 7 to 9``."""
    copies = sorted({tag.version for tag in newest.tags if tag.version < newest.oldest})
    retained = str(newest.oldest) if newest.oldest == newest.version else f"{newest.oldest} to {newest.version}"
    return ", ".join([*map(str, copies), retained])


def _read(path: Location, version: int) -> Manifest:
    return _parse(JsonObject.read(_file_of(path, version)), version)


def _read_copy(path: Location, tag: _Tag) -> Manifest:
    """Reads the copy of a tagged version's manifest, if it is the file that the tag means."""
    json = JsonObject.read(path / tag.file)
    if (json.size, json.string("crc32c")) != (tag.size, tag.seal):
        raise json.corrupt(f"it is not the file that tag '{tag.name}' names, with {tag.size} bytes and checksum {tag.seal}")
    return _parse(json, tag.version)


def _parse(json: JsonObject, expected: int) -> Manifest:
    version = json.integer("version")
    if version != expected:
        raise json.corrupt(f"it is of version {version}, but its name says {expected}")
    if ("previous" in json.members) != (version > 0):
        raise json.corrupt("every version has the member 'previous', except version 0")
    if "base" in json.members:
        json.integer("base", 0, version - 1)
    records = json.object("records")
    made = (records.integer("version", 0, version), records.uuid("commit"))
    if json.string("operation") not in CARE and made != (version, json.uuid("commit")):
        raise json.corrupt(f"its operation is {json.string('operation')}, but it says that version {made[0]} made its records")
    if json.string("operation") in CARE and made[0] == version:
        raise json.corrupt(f"its operation is {json.string('operation')}, but it says that it made its records itself")
    if "sweptBeforeMillis" in json.members or json.string("operation") == "sweep":
        json.integer("sweptBeforeMillis", 0)
    previous = json.uuid("previous") if version else None
    oldest = json.integer("oldest", 0, version)
    return Manifest(json, json.uuid("table"), version, json.uuid("commit"), previous, oldest, _read_tags(json, version), made)


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
            millis=member.integer("timestampMillis"),
        )
        for member in members
    ]
    names = [tag.name for tag in tags]
    if names != sorted(set(names)):
        raise json.corrupt("its tags are not sorted by name, or a name appears twice")
    return tags


def _contents(path: Location, manifest: Manifest) -> Contents:
    json = manifest.json
    fields, unreadable = read_fields(json.objects("fields"))
    every: list[FieldSpec | UnreadableField] = [*fields, *unreadable]
    if len({f.id for f in every}) != len(every) or len({f.name for f in every}) != len(every):
        raise json.corrupt("an id or name of a field appears twice")
    if any(f.id >= json.integer("nextFieldId") for f in every):
        raise json.corrupt(f"a field has an id that is not below nextFieldId {json.integer('nextFieldId')}")
    keeper = Keeper()
    partitions = json.integers("partitions", 1, 2**31 - 1) if "partitions" in json.members else []
    if len(set(partitions)) != len(partitions) or any(field >= json.integer("nextFieldId") for field in partitions):
        raise json.corrupt(f"its partition fields {partitions} are not all different fields")
    reading = ShardReading(path, len(partitions), keeper)
    field_sets = read_field_sets(json)
    own = reading.shards(json, field_sets)
    shards = [shard.source for shard in [*reading.lists(json, field_sets, own), *own]]
    length = sum(shard.length for shard in shards)
    if length != json.integer("length"):
        raise json.corrupt(f"it says {json.integer('length')} records, but its shards have {length}")
    index_map = None
    if "indexMap" in json.members:
        index_map = read_shard(path, json.object("indexMap"), field_sets, keeper)
    declarations = read_declarations(json, fields, unreadable)
    return Contents(manifest.version, fields, unreadable, shards, index_map, declarations, manifest.records)


def read_index_map(path: Location, index_map: Source, verify: str) -> Field:
    """Returns the new index of each record of the version before, as a field."""
    return field_at(path, _INDEX_MAP, [index_map], np.array([0, index_map.length]), verify)
