"""Blocks: values that are compressed together (FORMAT.md section 5)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from zrecord._binding import Binding, Kind
from zrecord._codecs import decompressor
from zrecord._crc32c import Bytes, crc32c
from zrecord._fetched import Wanted, in_chunks
from zrecord._schema import FieldSpec
from zrecord._sealed import corrupt, unsupported
from zrecord._tables import FieldTables, TablesFile, damaged

Array = np.ndarray[Any, Any]
BLOCK = np.dtype(
    [
        ("first", "<u8"),
        ("at", "<u8"),
        ("stored", "<u4"),
        ("raw", "<u4"),
        ("slots", "<u4"),
        ("flags", "<u4"),
        ("crc", "<u4"),
        ("zero", "<u4"),
    ]
)
_UNIT_BYTES = 512 * BLOCK.itemsize
_AS_IS, _TRANSPOSE, _DELTA = 1, 2, 4
_KEPT_BYTES = 2 << 20
_MAX_LENGTH = 2**31 - 1


class BlocksColumn:
    """The blocks of a field in a shard. Keeps the blocks that were decoded last."""

    def __init__(self, file: TablesFile, spec: FieldSpec, tables: FieldTables, runs: Array, verify: str) -> None:
        self._file = file
        self._spec = spec
        self._tables = tables
        self._verify = verify
        self._binding = Binding(file.uuid, spec.id)
        self._element = spec.element_bytes or 1
        self._width = spec.width
        self._decompress = decompressor(spec.codec)
        records = file.units_of(spec.id, tables.offsets, _UNIT_BYTES, 8, Kind.OFFSETS, verify != "never")
        self._blocks: Array = records[: records.size // BLOCK.itemsize * BLOCK.itemsize].view(BLOCK)
        self._runs = runs["unit"].astype(np.int64)
        self._check_records(runs, records.size)
        self._chunks = runs["chunk"].astype(np.int64)
        self._firsts = self._blocks["first"].astype(np.int64)
        self._verified = np.zeros(self._blocks.size, bool)
        self._present: Bytes | None = None
        self._kept: OrderedDict[int, tuple[Array, Array]] = OrderedDict()

    def _check_records(self, runs: Array, size: int) -> None:
        blocks = self._blocks
        if blocks["zero"].any() or (blocks["flags"] & ~np.uint32(7)).any() or (blocks["flags"] >> 1 == 3).any():
            raise unsupported(self._file.path, f"field {self._spec.id} in {self._file.path}", "flags of blocks")
        slots, raw = blocks["slots"].astype(np.int64), blocks["raw"].astype(np.int64)
        stored, at = blocks["stored"].astype(np.int64), blocks["at"].astype(np.int64)
        ends = np.cumsum(slots)
        run = self._runs.searchsorted(np.arange(blocks.size), "right") - 1
        low = runs["offset"].astype(np.int64)[run]
        is_as_is = (blocks["flags"] & _AS_IS) != 0
        width = self._width
        is_sound = (
            blocks.size > 0
            and size == blocks.size * BLOCK.itemsize
            and bool((slots > 0).all())
            and bool((blocks["first"] == ends - slots).all())
            and int(ends[-1]) == self._file.length
            and bool((self._runs < blocks.size).all())
            and bool((blocks["first"][self._runs] == runs["first"]).all())
            and bool(((at >= low) & (at + stored <= low + runs["bytes"].astype(np.int64)[run])).all())
            and bool(((slots == 1) | (raw <= self._tables.block_bytes)).all())
            and bool((raw <= _MAX_LENGTH).all())
            and bool((raw == slots * width if width is not None else (slots == 1) | (raw >= 4 * slots)).all())
            and bool(np.where(is_as_is, (blocks["flags"] == _AS_IS) & (stored == raw), self._may_transform()).all())
        )
        if not is_sound:
            raise corrupt(self._file.path, f"the blocks of field {self._spec.id} are out of order, or not within their runs")

    def _may_transform(self) -> Array:
        flags = self._blocks["flags"]
        is_transposed, is_delta = flags == _TRANSPOSE, flags == _DELTA
        allowed: Array = flags == 0
        if self._element in (2, 4, 8, 16):
            allowed = allowed | is_transposed
        if self._element in (2, 4, 8):
            allowed = allowed | is_delta
        return allowed

    def present(self, indices: Array) -> Array:
        if not self._tables.validity.size:
            return np.ones(indices.size, bool)
        if self._present is None:
            self._present = self._file.presence(self._spec.id, self._tables, self._verify != "never")
        return (self._present[indices >> 3] >> (indices & 7).astype(np.uint8) & 1).astype(bool)

    def fixed(self, indices: Array) -> Bytes:
        width = self._width or 0
        rows = np.zeros((indices.size, width), np.uint8)
        is_present = self.present(indices)
        for block, places in self._by_block(indices):
            values, _ = self._decoded(block)
            kept = places[is_present[places]]
            rows[kept] = values.reshape(-1, width)[indices[kept] - self._firsts[block]]
        return rows.reshape(-1)

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        values: list[bytes | Bytes | None] = [None] * indices.size
        is_present = self.present(indices)
        for block, places in self._by_block(indices):
            content, ends = self._decoded(block)
            for place in places[is_present[places]].tolist():
                slot = int(indices[place] - self._firsts[block])
                values[place] = content[int(ends[slot - 1]) if slot else 0 : int(ends[slot])].tobytes()
        return values

    def wanted(self, indices: Array) -> list[Wanted]:
        blocks = np.unique(self._firsts.searchsorted(indices, "right") - 1)
        blocks = blocks[[block not in self._kept for block in blocks.tolist()]]
        begins = self._blocks["at"][blocks].astype(np.int64)
        chunks = self._chunks[self._runs.searchsorted(blocks, "right") - 1]
        return in_chunks(self._file.chunk, chunks, begins, begins + self._blocks["stored"][blocks])

    def _by_block(self, indices: Array) -> list[tuple[int, Array]]:
        """Returns each block with values of these records, and the places of the records."""
        blocks = self._firsts.searchsorted(indices, "right") - 1
        order = np.argsort(blocks, kind="stable")
        found, starts = np.unique(blocks[order], return_index=True)
        return list(zip(found.tolist(), np.split(order, starts[1:])))

    def _decoded(self, block: int) -> tuple[Array, Array]:
        """Returns the bytes of all values of a block, and where each ends."""
        kept = self._kept.get(block)
        if kept is None:
            kept = self._decode(block)
            self._kept[block] = kept
            while len(self._kept) > 1 and sum(content.size for content, _ in list(self._kept.values())) > _KEPT_BYTES:
                self._kept.popitem(last=False)
        return kept

    def _decode(self, block: int) -> tuple[Array, Array]:
        first, at, size, raw, slots, flags, crc, _ = self._blocks[block].item()
        run = int(self._runs.searchsorted(block, "right")) - 1
        stored = self._file.chunk(int(self._chunks[run]))[at : at + size]
        if self._verify != "never" and self._file.has_checksums and not self._verified[block]:
            if crc32c(stored) ^ self._binding.of(Kind.BLOCK, block) != crc:
                raise damaged(self._file.path.parent, f"values of {self._spec.name!r} from record {first} of the shard on")
            self._verified[block] = self._verify == "first"
        try:
            plain = stored if flags & _AS_IS else np.frombuffer(self._decompress(stored.tobytes(), raw), np.uint8)
            return self._values(plain, slots, flags)
        except ValueError as e:
            what = f"the block of values of '{self._spec.name}' from record {first} of the shard on"
            raise corrupt(self._file.path.parent, f"{what}: {e}") from e

    def _values(self, plain: Array, slots: int, flags: int) -> tuple[Array, Array]:
        if self._width is not None:
            return _restored(plain, self._element, flags), np.arange(1, slots + 1) * self._width
        if slots == 1:
            return _restored(plain, self._element, flags), np.array([plain.size])
        lengths = plain[: 4 * slots]
        if not flags & _AS_IS:
            lengths = np.ascontiguousarray(lengths.reshape(4, slots).T).reshape(-1)
        ends = np.cumsum(lengths.view("<u4").astype(np.int64))
        content = plain[4 * slots :]
        if ends[-1] != content.size:
            raise ValueError("its lengths do not add up to its bytes")
        return _restored(content, self._element, flags), ends


def _restored(content: Array, element: int, flags: int) -> Array:
    """Reverses the transform of numbers."""
    if not flags & (_TRANSPOSE | _DELTA):
        return content
    if content.size % element:
        raise ValueError(f"it has {content.size} bytes of numbers")
    rows: Array = np.ascontiguousarray(content.reshape(element, -1).T).reshape(-1)
    if flags & _DELTA:
        dtype = np.dtype(f"<u{element}")
        rows = np.cumsum(rows.view(dtype), dtype=dtype).view(np.uint8)
    return rows
