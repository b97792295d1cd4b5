"""Changes a tables file of a table on disk, and computes the checksums that then hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from zrecord._binding import Binding, Kind
from zrecord._crc32c import crc32c
from zrecord._tables import BLOCK_VALUES, block_bytes

ENTRY_STRIDE = 20_488

#: Of the golden table: two versions with records, a tag of version 0, and an expiry with the floor 1.
NEWEST = 3

#: An id that nothing in a golden table has.
ID = "123e4567-e89b-12d3-a456-426614174000"


def sealed(members: dict[str, Any]) -> bytes:
    members.pop("crc32c", None)
    text = json.dumps(members, separators=(",", ":"))[:-1].encode()
    return text + f',"crc32c":"{crc32c(text):08x}"}}\n'.encode()


def manifest_of(table: Path, version: int) -> Path:
    return table / "manifest" / f"{version:020d}.json"


def edit(file: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    members = json.loads(file.read_text(encoding="utf-8"))
    change(members)
    file.write_bytes(sealed(members))


@dataclass(frozen=True)
class Block:
    """A block of a variable run: the ends of up to 1,024 values without alignment, and the checksums of their units."""

    number: int
    at: int
    first: int
    values: int
    unit_values: int
    chunk: int

    def end_at(self, slot: int) -> int:
        return self.at + 8 + 4 * (slot - self.first)

    def checksum_at(self, slot: int) -> int:
        return self.at + 8 + 4 * self.values + 4 * ((slot - self.first) // self.unit_values)

    @property
    def size(self) -> int:
        return block_bytes(self.values, self.unit_values)[0]


class TablesOnDisk:
    """The tables file of a shard. ``write`` makes the JSON, the trailer and all manifests and lists of the table fit."""

    def __init__(self, table: Path, shard: str) -> None:
        self.table = table
        self.directory = table / "shard" / shard
        (self.path,) = self.directory.glob("*.tables")
        content = self.path.read_bytes()
        at = int.from_bytes(content[-16:-8], "little")
        self.content = bytearray(content[:at])
        self.json: dict[str, Any] = json.loads(content[at:-16])

    def field(self, name_or_id: int) -> dict[str, Any]:
        return next(field for field in self.json["fields"] if field["id"] == name_or_id)

    def chunk(self, ordinal: int) -> Path:
        return self.directory / f"{self.json['chunks'][ordinal][0]}.zr"

    def chunk_of_run(self, field: int) -> Path:
        """Returns the chunk of the first run of a field."""
        at = self.field(field)["runs"][0]
        return self.chunk(int.from_bytes(self.content[at + 4 : at + 8], "little"))

    def entry_at(self, field: int, slot: int) -> int:
        at: int = self.field(field)["offsets"][0]
        return at + slot // 1024 * ENTRY_STRIDE + slot % 1024 * 16

    def checksum_at(self, field: int, slot: int) -> int:
        unit = slot // 1024
        slots = min(1024, self.json["length"] - 1024 * unit)
        at: int = self.field(field)["offsets"][0]
        return at + unit * ENTRY_STRIDE + 16 * slots + slot % 1024 * 4

    def exchange(self, one: int, two: int, size: int) -> None:
        """Exchanges two pieces of the file."""
        kept = self.content[one : one + size]
        self.content[one : one + size] = self.content[two : two + size]
        self.content[two : two + size] = kept

    def binding(self, field: int) -> Binding:
        return Binding(UUID(self.json["shard"]), field)

    def bind_value(self, field: int, slot: int, crc: int, kind: Kind = Kind.VALUE) -> None:
        at = self.checksum_at(field, slot)
        self.content[at : at + 4] = (crc ^ self.binding(field).of(kind, slot)).to_bytes(4, "little")

    def crc_of_value(self, field: int, slot: int) -> int:
        at = self.entry_at(field, slot)
        offset = int.from_bytes(self.content[at : at + 8], "little")
        chunk = int.from_bytes(self.content[at + 8 : at + 12], "little")
        length = int.from_bytes(self.content[at + 12 : at + 16], "little")
        return crc32c(self.chunk(chunk).read_bytes()[offset : offset + length])

    def seal_entries(self, field: int) -> None:
        """Computes the checksums of the units of entries."""
        for unit, first in enumerate(range(0, self.json["length"], 1024)):
            size = 20 * min(1024, self.json["length"] - first)
            at = self.field(field)["offsets"][0] + unit * ENTRY_STRIDE
            crc = crc32c(bytes(self.content[at : at + size])) ^ self.binding(field).of(Kind.OFFSETS, unit)
            self.content[at + size : at + size + 4] = crc.to_bytes(4, "little")

    def blocks(self, field: int) -> Iterator[Block]:
        runs_at, size, _ = self.field(field)["runs"]
        number = 0
        for run in range(runs_at, runs_at + size, 64):
            chunk, values = self._integer(run + 4, 4), self._integer(run + 56, 4)
            first, count = self._integer(run + 8, 8), self._integer(run + 16, 8)
            at = self.field(field)["offsets"][0] + self._integer(run + 48, 8)
            for slot in range(first, first + count, BLOCK_VALUES):
                block = Block(number, at, slot, min(BLOCK_VALUES, first + count - slot), values, chunk)
                yield block
                at += block_bytes(block.values, values)[1]
                number += 1

    def block_of(self, field: int, slot: int) -> Block:
        return next(block for block in self.blocks(field) if block.first <= slot < block.first + block.values)

    def start_of(self, field: int, slot: int) -> int:
        """Returns where a value of a variable run begins in its chunk."""
        block = self.block_of(field, slot)
        before = 0 if slot == block.first else self._integer(block.end_at(slot - 1), 4)
        return self._integer(block.at, 8) + before

    def seal_blocks(self, field: int) -> None:
        """Computes the checksums of the blocks of variable runs."""
        for block in self.blocks(field):
            end = block.at + block.size
            crc = crc32c(bytes(self.content[block.at : end])) ^ self.binding(field).of(Kind.OFFSETS, block.number)
            self.content[end : end + 4] = crc.to_bytes(4, "little")

    def _integer(self, at: int, size: int) -> int:
        return int.from_bytes(self.content[at : at + size], "little")

    def seal_runs(self, field: int) -> None:
        """Computes the checksum of the list of runs."""
        at, size, _ = self.field(field)["runs"]
        crc = crc32c(bytes(self.content[at : at + size])) ^ self.binding(field).of(Kind.RUNS, 0)
        self.field(field)["runs"][2] = f"{crc:08x}"

    def edit(self, change: Callable[[dict[str, Any]], Any]) -> None:
        """Writes the file with another JSON."""
        change(self.json)
        self.write()

    def write(self) -> None:
        content = sealed(self.json)
        trailer = len(self.content).to_bytes(8, "little") + len(content).to_bytes(4, "little")
        self.path.write_bytes(bytes(self.content) + content + trailer + crc32c(trailer).to_bytes(4, "little"))
        found = [self.path.stem, self.path.stat().st_size, len(self.content), len(content), content[-11:-3].decode()]
        for file in self.table.glob("list/*.json"):
            edit(file, lambda m: _point(m["shards"], found))
        for file in self.table.glob("manifest/*.json"):
            edit(file, lambda m: self._point(m, found))

    def _point(self, manifest: dict[str, Any], found: list[Any]) -> None:
        _point(manifest["shards"], found)
        for entry in manifest["lists"]:
            content = (self.table / entry["file"]).read_bytes()
            entry.update(bytes=len(content), crc=content[-11:-3].decode())


def _point(shards: list[dict[str, Any]], found: list[Any]) -> None:
    for shard in shards:
        for ref in shard["tables"]:
            if ref[0] == found[0]:
                ref[:5] = found
