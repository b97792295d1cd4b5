"""Entries: 16 bytes for each record tell where its value is (FORMAT.md section 4)."""

from __future__ import annotations

from typing import Any, Protocol
from uuid import UUID

import numpy as np

from zrecord._binding import Binding, Kind
from zrecord._codecs import decoder
from zrecord._crc32c import Bytes, crc32c_each
from zrecord._fetched import Content, FetchedBytes, Wanted, gather_in_chunks, in_chunks
from zrecord._location import Location
from zrecord._schema import FieldSpec
from zrecord._sealed import corrupt
from zrecord._shard import CHUNK_HEADER_BYTES
from zrecord._span import Span, address

Array = np.ndarray[Any, Any]
_MAX_LENGTH = 2**31 - 1
_NOTHING = np.zeros(0, np.uint8)


class Chunks(Protocol):
    """The chunks that entries point into: their published ends by their numbers, in rising order, and who owns them."""

    uuid: UUID
    ends: dict[int, int]

    def chunk(self, number: int) -> Content:
        """Returns all published bytes of a chunk."""


class Table(Protocol):
    """Items of one size, one for each record."""

    @property
    def size(self) -> int:
        """The number of items."""

    def __getitem__(self, indices: Array, /) -> Array:
        """Returns the items of records."""


class StoredColumn:
    """Values whose places are looked up one by one. A subclass finds and verifies them."""

    def __init__(self, path: Location, chunks: Chunks, spec: FieldSpec) -> None:
        self._path = path
        self._spec = spec
        self._shard = chunks
        self._ids = np.array(list(chunks.ends), np.int64)
        self._chunks: list[Bytes] | None = None
        self._span: Span | None = None

    def _checked(self, indices: Array) -> tuple[Array, Array]:
        """Returns entries that are within their chunks and have the right checksums, and which of them have values."""
        raise NotImplementedError

    def fixed(self, indices: Array) -> Bytes:
        width = self._spec.width or 0
        if self._spec.codec != "raw" or width == 0:
            return self._decoded(indices, width)
        entries, is_present = self._checked(indices)
        if (entries["length"][is_present] != width).any():
            raise self._corrupt(indices[is_present & (entries["length"] != width)][0], f"it has not {width} bytes")
        if not is_present.any():
            return np.zeros(indices.size * width, np.uint8)
        found = entries if is_present.all() else entries[is_present]
        rows = self._gather(found["chunk"], found["offset"].astype(np.int64), width).reshape(-1, width)
        if is_present.all():
            return rows.reshape(-1)
        values = np.zeros((indices.size, width), np.uint8)
        values[is_present] = rows
        return values.reshape(-1)

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        entries, is_present = self._checked(indices)
        if self._spec.codec == "raw":
            return [self._stored(entry) if there else None for entry, there in zip(entries, is_present)]
        decode = decoder(self._spec.codec)
        values: list[bytes | Bytes | None] = []
        for index, entry, there in zip(indices.tolist(), entries, is_present.tolist()):
            try:
                values.append(decode(self._stored(entry).tobytes()) if there else None)
            except ValueError as e:
                raise self._corrupt(index, str(e)) from e
        return values

    def _decoded(self, indices: Array, width: int) -> Bytes:
        rows = np.zeros((indices.size, width), np.uint8)
        for index, row, value in zip(indices.tolist(), rows, self.values(indices)):
            if value is not None:
                if len(value) != width:
                    raise self._corrupt(index, f"it has {len(value)} bytes instead of {width}")
                row[:] = np.frombuffer(value, np.uint8)
        return rows.reshape(-1)

    def _stored(self, entry: Array) -> Bytes:
        offset, chunk, length = entry.item()
        return self._shard.chunk(chunk)[offset : offset + length]

    def _gather(self, numbers: Array, offsets: Array, width: int) -> Bytes:
        """Returns a copy of the values of one width at places in chunks."""
        maps = self._maps()
        if maps is None:
            return gather_in_chunks(self._shard.chunk, numbers, offsets, width)
        if self._span is None:
            self._span = Span(maps, width)
        starts = np.array([address(chunk) for chunk in maps], np.int64) - self._span.base
        rows: Bytes = self._span.gather(starts[self._ids.searchsorted(numbers)] + offsets).view(np.uint8)
        return rows

    def _maps(self) -> list[Bytes] | None:
        """Returns the maps of all chunks; ``None`` if the chunks are fetched."""
        if self._chunks is None:
            chunks = [self._shard.chunk(number) for number in self._shard.ends]
            mapped = [chunk for chunk in chunks if not isinstance(chunk, FetchedBytes)]
            if len(mapped) < len(chunks):
                return None
            self._chunks = mapped
        return self._chunks

    def _corrupt(self, index: int, reason: str) -> Exception:
        path: Location = self._path
        return corrupt(path, f"the value of record {int(index)} of the shard in field '{self._spec.name}': {reason}")


class EntriesColumn(StoredColumn):
    """The entries of a field in a shard or store, which are in the file at ``path``."""

    def __init__(
        self, path: Location, chunks: Chunks, spec: FieldSpec, verify: str, entries: Table, checksums: Table | None
    ) -> None:
        super().__init__(path, chunks, spec)
        self._entries = entries
        self._binding = Binding(chunks.uuid, spec.id)
        self._checksums = None if verify == "never" else checksums
        self._verified = np.zeros(entries.size if self._checksums is not None and verify == "first" else 0, bool)
        self._ends = np.array(list(chunks.ends.values()), np.uint64)

    def present(self, indices: Array) -> Array:
        return self._load(indices)[1]

    def _load(self, indices: Array) -> tuple[Array, Array]:
        """Returns entries, and which of them have values."""
        entries = self._entries[indices]
        words: Array = entries.view("<u8").reshape(-1, 2)
        return entries, (words[:, 0] | words[:, 1]) != 0

    def _checked(self, indices: Array) -> tuple[Array, Array]:
        """Returns entries whose places are within their chunks and whose bytes have the right checksums."""
        entries, is_present = self._load(indices)
        found = entries[is_present]
        if found.size:
            is_wrong = self._is_wrong(found)
            if is_wrong.any():
                entry = found[is_wrong][0]
                raise self._corrupt(indices[is_present][is_wrong][0], f"its entry {entry} is not within a chunk")
        self._verify(indices, entries, is_present)
        return entries, is_present

    def _is_wrong(self, found: Array) -> Array:
        """Tells which entries are not within their chunks."""
        ordinals = np.minimum(self._ids.searchsorted(found["chunk"]), max(0, self._ids.size - 1))
        ends = self._ends[ordinals] if self._ends.size else np.zeros(found.size, np.uint64)
        is_wrong: Array = (
            (self._ids[ordinals] != found["chunk"] if self._ids.size else True)
            | (found["offset"] < CHUNK_HEADER_BYTES)
            | (found["offset"] % 8 != 0)
            | (found["length"] > _MAX_LENGTH)
            | (found["offset"] > ends)
            | (found["length"] > ends - np.minimum(found["offset"], ends))
        )
        return is_wrong

    def wanted(self, indices: Array) -> list[Wanted]:
        entries, is_present = self._load(indices)
        found = entries[is_present]
        if found.size:
            found = found[~self._is_wrong(found)]
        begins = found["offset"].astype(np.int64)
        return in_chunks(self._shard.chunk, found["chunk"], begins, begins + found["length"])

    def _verify(self, indices: Array, entries: Array, is_present: Array) -> None:
        if self._checksums is None:
            return
        todo = np.flatnonzero(~self._verified[indices]) if self._verified.size else np.arange(indices.size)
        if not todo.size:
            return
        pieces = [self._stored(entries[i]) if is_present[i] else _NOTHING for i in todo.tolist()]
        kinds = np.where(is_present[todo], Kind.VALUE, Kind.ABSENT)
        found = crc32c_each(pieces) ^ self._binding.of_each(kinds, indices[todo])
        is_wrong = found != self._checksums[indices[todo]]
        if is_wrong.any():
            raise self._corrupt(indices[todo][is_wrong][0], "it fails its checksum")
        if self._verified.size:
            self._verified[indices[todo]] = True
