"""The commits of a store since its last checkpoint (FORMAT.md section 9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from zrecord._binding import Binding, Kind
from zrecord._crc32c import crc32c
from zrecord._sealed import corrupt, require_plain, require_version, unsupported
from zrecord._shard import CHUNK_HEADER_BYTES
from zrecord._tables import ENTRY

Array = np.ndarray[Any, Any]
_MAGIC = b"ZRECJRNL"
_RECORD_MAGIC = 0x4A52525A
_HEADER_BYTES = 64
_RECORD_HEADER_BYTES = 56
_RECORD = np.dtype(
    [
        ("magic", "<u4"),
        ("bytes", "<u4"),
        ("sequence", "<u8"),
        ("flags", "<u4"),
        ("crc", "<u4"),
        ("zero", "<u8"),
        ("length", "<u8"),
        ("fields", "<u4"),
        ("chunks", "<u4"),
        ("changes", "<u4"),
        ("zero2", "<u4"),
    ]
)
_CHUNK = np.dtype([("id", "<u4"), ("carried", "<u4"), ("records", "<u8"), ("end", "<u8")])


class StoreState:
    """A copy of a store's tables, to which records of its journal are applied.

    ``carried`` has, by chunk, positions and bytes that the journal carries.
    """

    def __init__(self, length: int, chunks: dict[int, int], entries: list[Array], checksums: list[Array]) -> None:
        self.length = length
        self.chunks = chunks
        self.entries = entries
        self.checksums = checksums
        self.carried: dict[int, list[tuple[int, bytes]]] = {}

    def apply(self, path: Path, header: Array, body: bytes) -> None:
        """Applies a whole record of the journal."""
        fields, chunks, changes = int(header["fields"]), int(header["chunks"]), int(header["changes"])
        length = int(header["length"])
        change = np.dtype([("index", "<u8"), ("values", [("entry", ENTRY), ("crc", "<u4")], (len(self.entries),))])
        needed = chunks * _CHUNK.itemsize + changes * change.itemsize
        if fields != len(self.entries) or needed > len(body) or length - changes > self.length:
            raise corrupt(path, f"record {header['sequence']} contradicts itself or the store: {header}")
        at = _aligned(needed)
        for number, carried, _, end in np.frombuffer(body, _CHUNK, chunks).tolist():
            if carried > len(body) - at or end < CHUNK_HEADER_BYTES + carried:
                raise corrupt(path, f"it says that chunk {number} ends at byte {end}, and carries {carried} bytes of it")
            self.chunks[number] = end
            if carried:
                self.carried.setdefault(number, []).append((end - carried, body[at : at + carried]))
            at += _aligned(carried)
        table = np.frombuffer(body, change, changes, chunks * _CHUNK.itemsize)
        if changes and int(table["index"].max()) >= length:
            raise corrupt(path, f"record {header['sequence']} changes records beyond its length {length}")
        for field in range(fields):
            self.entries[field] = _grown(self.entries[field], length)
            self.checksums[field] = _grown(self.checksums[field], length)
            self.entries[field][table["index"]] = table["values"]["entry"][:, field]
            self.checksums[field][table["index"]] = table["values"]["crc"][:, field]
        self.length = length


def replay(path: Path, content: bytes, store: UUID, state: StoreState, after: int, last: int | None) -> int:
    """Applies the records above ``after``, up to ``last`` or to the end; returns the number of the last one applied."""
    if (
        content[:8] != _MAGIC
        or len(content) < _HEADER_BYTES
        or crc32c(content[:60]) != int.from_bytes(content[60:64], "little")
        or content[16:32] != store.bytes
    ):
        raise corrupt(path, "its header is damaged, or it is of another store")
    require_version(path, int.from_bytes(content[8:12], "little"))
    require_plain(path, bytes(content[:64]), 64, (32, 60))
    binding = Binding(store, 0)
    at, sequence = _HEADER_BYTES, after
    while last is None or sequence < last:
        header = _whole(content, at, binding)
        if header is None or int(header["sequence"]) > sequence + 1:
            break
        end = at + int(header["bytes"])
        if int(header["sequence"]) == sequence + 1:
            if int(header["flags"]) & ~1 or any(content[at + 24 : at + 32]) or any(content[at + 52 : at + 56]):
                raise unsupported(path, f"record {header['sequence']} of {path}", "flags or reserved bytes")
            state.apply(path, header, content[at + _RECORD_HEADER_BYTES : end])
            sequence += 1
        at = end
    if last is None:
        _require_tail(path, content, at, sequence, binding)
    elif sequence < last:
        raise corrupt(path, f"record {sequence + 1} of {last} is damaged")
    return sequence


def _whole(content: bytes, at: int, binding: Binding) -> Array | None:
    """Returns the header of the record at a position, if the record is whole and its checksum holds."""
    if at + _RECORD_HEADER_BYTES > len(content):
        return None
    header: Array = np.frombuffer(content, _RECORD, 1, at)[0]
    length = int(header["bytes"])
    if header["magic"] != _RECORD_MAGIC or length < _RECORD_HEADER_BYTES or length % 8 or at + length > len(content):
        return None
    summed = content[at : at + 20] + bytes(4) + content[at + 24 : at + length]
    found = crc32c(summed) ^ binding.of(Kind.JOURNAL_RECORD, int(header["sequence"]))
    return header if found == header["crc"] else None


def _require_tail(path: Path, content: bytes, at: int, sequence: int, binding: Binding) -> None:
    """Requires that at most one cut record follows the last whole record."""
    words = np.frombuffer(content, "<u4", (len(content) - at) // 4, at)
    most = 4 * (len(content) - at)  # records that overlap would take time without bound
    for place in np.flatnonzero(words[::2] == _RECORD_MAGIC).tolist():
        start = at + 8 * place
        if start + _RECORD_HEADER_BYTES > len(content):
            return
        header: Array = np.frombuffer(content, _RECORD, 1, start)[0]
        if int(header["sequence"]) <= sequence + 1 or not header["flags"] & 1:
            continue
        most -= min(int(header["bytes"]), len(content) - start)
        if most < 0 or _whole(content, start, binding) is not None:
            raise corrupt(path, f"record {sequence + 1} at byte {at} is damaged, but was safe when a later one was written")


def _aligned(length: int) -> int:
    return -(-length // 8) * 8


def _grown(table: Array, length: int) -> Array:
    """Returns a table with room for a number of records. Doubles the room, because records come one by one."""
    if length <= table.size:
        return table
    grown = np.zeros(max(length, 2 * table.size), table.dtype)
    grown[: table.size] = table
    return grown
