"""Lays columns out in a region of the shared memory, as ``io.zrecord.serving.ColumnBatch`` reads them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from zrecord._write.columns import Column
from zrecord._write.memory import Region

Array = np.ndarray[Any, Any]
# Of a batch that is sent; a single longer record is a batch of its own.
_BATCH_BYTES = 8 << 20
_BATCH_RECORDS = 1 << 18
_PLACES = struct.Struct("<qqqq")
_NONE = -1


class Part:
    """A column that begins with record ``first`` of what is written."""

    def __init__(self, column: Column, first: int, is_variable: bool) -> None:
        self._column = column
        self._first = first
        self._ends = column.ends()
        self.is_variable = is_variable
        self.has_absent = column.present is not None

    def ends(self, start: int, stop: int) -> Array:
        """Returns where the values of some records end, from the first of these records on."""
        ends = self._ends[start - self._first : stop - self._first + 1]
        return ends - ends[0]

    def length(self, start: int, stop: int) -> int:
        return int(self._ends[stop - self._first] - self._ends[start - self._first])

    def put(self, start: int, stop: int, target: Array) -> None:
        self._column.put(start - self._first, stop - self._first, target)

    def present(self, start: int, stop: int) -> Array:
        assert self._column.present is not None
        return self._column.present[start - self._first : stop - self._first]


class Layout:
    """Records ``start`` to ``stop``, and where their bytes come in a region of ``length`` bytes."""

    def __init__(self, parts: Sequence[Part], start: int, stop: int) -> None:
        self._parts = parts
        self._start, self._stop = start, stop
        self.count = stop - start
        self._at: list[tuple[int, int, int, int]] = []
        at = 8 + _PLACES.size * len(parts)
        for part in parts:
            length = part.length(start, stop)
            values, at = at, _aligned(at + length)
            offsets, validity = _NONE, _NONE
            if part.is_variable:
                offsets, at = at, at + 8 * (self.count + 1)
            if part.has_absent:
                validity, at = at, _aligned(at + (self.count + 7) // 8)
            self._at.append((values, length, offsets, validity))
        self.length = at

    def fill(self, region: Region) -> int:
        """Copies the records into a region, and returns the length of what tells their places, which comes first."""
        memory, base = region.bytes, region.at
        start, stop = self._start, self._stop
        head = bytearray(struct.pack("<q", self.count))
        for part, (values, length, offsets, validity) in zip(self._parts, self._at):
            part.put(start, stop, memory[values : values + length])
            if offsets != _NONE:
                memory[offsets : offsets + 8 * (self.count + 1)].view(np.int64)[:] = part.ends(start, stop)
                offsets += base
            if validity != _NONE:
                bits = np.packbits(part.present(start, stop), bitorder="little")
                memory[validity : validity + len(bits)] = bits
                validity += base
            head += _PLACES.pack(base + values, length, offsets, validity)
        memory[: len(head)] = np.frombuffer(head, np.uint8)
        return len(head)


def _aligned(at: int) -> int:
    return (at + 7) & ~7


def layouts(parts: Sequence[Part], start: int, stop: int) -> Iterator[Layout]:
    """Cuts records into batches of at most 8 MiB, or of one record."""
    sums = np.zeros(stop - start + 1, np.int64)
    for part in parts:
        sums += part.ends(start, stop)
    at = 0
    while at < stop - start:
        end = int(np.searchsorted(sums, sums[at] + _BATCH_BYTES, "right")) - 1
        end = min(max(end, at + 1), at + _BATCH_RECORDS)
        yield Layout(parts, start + at, start + end)
        at = end
