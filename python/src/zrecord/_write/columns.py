"""Columns that are laid out for the engine: values, offsets if lengths differ, and which values are present."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, Any]


class Column(Protocol):
    """Values of some records. ``present`` tells which are there, or is ``None`` if all are."""

    present: Array | None

    def __len__(self) -> int: ...

    def ends(self) -> Array:
        """Returns, for each number of records, the bytes of the values of that many records from the first on."""

    def put(self, start: int, stop: int, target: Array) -> None:
        """Copies the bytes of the values of some records, which fill the target."""


class FixedColumn:
    """Values of one width: an array whose first axis counts the records, with any strides and byte order."""

    def __init__(self, array: Array, stored: np.dtype[Any], present: Array | None = None) -> None:
        self._array = array
        self._stored = stored
        self._width = int(np.prod(array.shape[1:], dtype=np.int64)) * stored.itemsize
        self.present = present

    def __len__(self) -> int:
        return len(self._array)

    def ends(self) -> Array:
        return np.arange(len(self) + 1, dtype=np.int64) * self._width

    def put(self, start: int, stop: int, target: Array) -> None:
        laid = target.view(self._stored).reshape(stop - start, *self._array.shape[1:])
        np.copyto(laid, self._array[start:stop], casting="equiv")


class PackedColumn:
    """Values of different lengths that follow each other in an array of bytes."""

    def __init__(self, packed: Array, offsets: Array, present: Array | None = None) -> None:
        self._packed = packed
        self._offsets = offsets
        self.present = present

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def ends(self) -> Array:
        return self._offsets - self._offsets[0]

    def put(self, start: int, stop: int, target: Array) -> None:
        np.copyto(target, self._packed[self._offsets[start] : self._offsets[stop]])


class PiecesColumn:
    """Values of different lengths, each with memory of its own."""

    def __init__(self, pieces: Sequence[bytes | bytearray | memoryview], present: Array | None = None) -> None:
        self._pieces = pieces
        self._ends = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum(np.fromiter((len(piece) for piece in pieces), np.int64, len(pieces)), out=self._ends[1:])
        self.present = present

    def __len__(self) -> int:
        return len(self._pieces)

    def ends(self) -> Array:
        return self._ends

    def put(self, start: int, stop: int, target: Array) -> None:
        at = target.data
        first = self._ends[start]
        for i in range(start, stop):
            at[self._ends[i] - first : self._ends[i + 1] - first] = self._pieces[i]


class JoinedColumn:
    """Values each of which is a column of its own, or ``None``: then it takes ``absent`` bytes, or none if lengths differ."""

    def __init__(self, values: Sequence[Column | None], absent: int, present: Array | None = None) -> None:
        self._values = values
        self._ends = np.zeros(len(values) + 1, np.int64)
        np.cumsum([absent if value is None else int(value.ends()[-1]) for value in values], out=self._ends[1:])
        self.present = present

    def __len__(self) -> int:
        return len(self._values)

    def ends(self) -> Array:
        return self._ends

    def put(self, start: int, stop: int, target: Array) -> None:
        first = self._ends[start]
        for i in range(start, stop):
            place, value = target[self._ends[i] - first : self._ends[i + 1] - first], self._values[i]
            if value is None:
                place[:] = 0
            else:
                value.put(0, 1, place)
