"""Versions of a table (FORMAT.md section 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from zrecord._schema import FieldSpec, read_field
from zrecord._sealed import JsonObject
from zrecord._shard import Shard, read_shard_meta
from zrecord._source import ShardSource
from zrecord.errors import CorruptDataError, NotADatasetError

_NAME = re.compile(r"(\d{20})\.json", re.ASCII)
_ATTEMPTS = 3


@dataclass(frozen=True)
class _ShardEntry:
    directory: Path
    uuid: UUID
    meta: str
    meta_crc: str
    length: int

    def load(self) -> Shard:
        """Opens the shard, if it is the shard that the manifest means."""
        path = self.directory / self.meta
        meta = read_shard_meta(path)
        if (meta.checksum, meta.uuid, meta.length) != (self.meta_crc, self.uuid, self.length):
            raise CorruptDataError(
                f"Cannot read {path}: it is not the file that the manifest names, with {self.length} records of shard "
                f"{self.uuid} and checksum {self.meta_crc}; restore it from a copy",
                path,
            )
        return Shard(self.directory, meta)


def versions(path: Path) -> list[int]:
    """Returns the present versions of a table, in order."""
    found = (_NAME.fullmatch(file.name) for file in (path / "manifest").iterdir())
    return sorted(int(name[1]) for name in found if name)


def read_table(path: Path, version: int | None) -> tuple[int, list[FieldSpec], list[ShardSource]]:
    """Reads a version, by default the newest: its number, its fields and its shards."""
    number, json = _read_newest(path) if version is None else (version, _read_manifest(path, version))
    if json is None:
        present = versions(path)
        raise NotADatasetError(
            f"Cannot open version {number} of {path}: it has {len(present)} versions"
            + (f" from {present[0]} to {present[-1]}" if present else ""),
            path,
        )
    if json.integer("version") != number:
        raise json.corrupt(f"it is of version {json.integer('version')}, but its name says {number}")
    fields = [read_field(member) for member in json.objects("fields")]
    if len({f.id for f in fields}) != len(fields) or len({f.name for f in fields}) != len(fields):
        raise json.corrupt("an id or name of a field appears twice")
    shards: list[_ShardEntry] = []
    for entry in json.objects("lists"):
        shards += _read_list(path, entry)
    shards += _read_entries(path, json)
    length = sum(shard.length for shard in shards)
    if length != json.integer("length"):
        raise json.corrupt(f"it says {json.integer('length')} records, but its shards have {length}")
    return number, fields, [ShardSource(shard.length, shard.load) for shard in shards]


def _read_newest(path: Path) -> tuple[int, JsonObject]:
    """Reads the newest version. It may be expired between two looks if there is a newer version by then."""
    tried = -1
    while True:
        present = versions(path)
        if not present:
            raise NotADatasetError(f"Cannot open dataset {path}: its directory 'manifest' has no version", path)
        json = _read_manifest(path, present[-1])
        if json is not None:
            return present[-1], json
        if present[-1] <= tried:
            raise CorruptDataError(f"Cannot open dataset {path}: its newest version, {tried}, cannot be opened", path)
        tried = present[-1]


def _read_manifest(path: Path, version: int) -> JsonObject | None:
    """Reads the manifest of a version, even while it is set aside to be expired; ``None`` if there is none."""
    for _ in range(_ATTEMPTS):  # between two looks it may be set aside, or be put back because it has a tag
        for file in _names(path / "manifest", f"{version:020d}.json"):
            try:
                return JsonObject.read(file)
            except CorruptDataError as e:
                if not isinstance(e.__cause__, FileNotFoundError):
                    raise
    return None


def _names(directory: Path, name: str) -> Iterator[Path]:
    """Returns the file of this name, and the files to which it may have been set aside."""
    yield directory / name
    aside = re.compile(re.escape(name) + r"\.[^.]+\.expiring", re.ASCII)
    yield from (file for file in directory.iterdir() if aside.fullmatch(file.name))


def _read_list(path: Path, entry: JsonObject) -> list[_ShardEntry]:
    json = JsonObject.read(path / entry.matching("file", r"list/[0-9a-f-]{36}\.json"))
    shards = _read_entries(path, json)
    if len(shards) != entry.integer("shards") or sum(shard.length for shard in shards) != entry.integer("length"):
        raise json.corrupt("its shards are not those that the manifest counts")
    return shards


def _read_entries(path: Path, json: JsonObject) -> list[_ShardEntry]:
    return [
        _ShardEntry(
            directory=path / "shard" / str(member.uuid("uuid")),
            uuid=member.uuid("uuid"),
            meta=member.matching("meta", "[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}"),
            meta_crc=member.matching("metaCrc", "[0-9a-f]{8}"),
            length=member.integer("length", 1),
        )
        for member in json.objects("shards")
    ]
