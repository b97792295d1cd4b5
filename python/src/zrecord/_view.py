"""A field at some of the records of a dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from zrecord._field import Field
from zrecord._indexing import indices_of, is_index

Array = np.ndarray[Any, Any]
#: The indices of records in a dataset: a range, or an array of int64 that nobody writes to.
Rows = range | Array


def rows_of(key: Any, length: int, what: Callable[[], str]) -> Rows:
    """Returns the rows that a slice, a list or an array of indices, or a mask names.

    Raises ``IndexError`` for anything else, such as one number.
    """
    if key is Ellipsis:
        key = slice(None)
    if isinstance(key, slice):
        return _tight(range(*key.indices(length)))
    if is_index(key):
        raise IndexError(f"{what()} gives no part for the number {key!r}; give [{key!r}] for a part of one record")
    indices = indices_of(key, length, what)
    if indices.ndim != 1:
        raise IndexError(f"{what()} gives parts for indices of one dimension, not {indices.ndim}; give indices.reshape(-1)")
    kept = indices.copy()
    kept.flags.writeable = False
    return kept


def joined(rows: Rows, part: Rows) -> Rows:
    """Returns the rows that are at a part of rows."""
    if isinstance(rows, range):
        if isinstance(part, range):
            step = rows.step * part.step
            first = rows.start + rows.step * part.start
            return _tight(range(first, first + step * len(part), step))
        found = rows.start + rows.step * part
    else:
        found = rows[_as_array(part)]
    found.flags.writeable = False
    return found


def digest_of(rows: Rows) -> str:
    """Returns 16 hexadecimal digits that tell rows apart."""
    indices = _as_array(rows).astype("<i8", copy=False)
    return hashlib.sha256(np.ascontiguousarray(indices).tobytes()).hexdigest()[:16]


def is_all(rows: Rows, length: int) -> bool:
    """Tells whether rows are all of a number of records, in their order."""
    return isinstance(rows, range) and rows == range(length)


def as_key(rows: Rows) -> slice | Array:
    """Returns the key that ``rows_of`` makes the rows of."""
    if not isinstance(rows, range):
        return rows
    return slice(rows.start, None if rows.stop < 0 else rows.stop, rows.step)


def _as_array(rows: Rows) -> Array:
    return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64) if isinstance(rows, range) else rows


def _tight(rows: range) -> range:
    """Returns the same numbers with an end right after the last one."""
    if not rows:
        return range(0)
    return range(rows.start, rows[-1] + (1 if rows.step > 0 else -1), rows.step)


class FieldView(Field):
    """A field of a part of a dataset. Reads from the field of the whole dataset."""

    def __init__(self, base: Field, rows: Rows) -> None:
        # What a Field reads with is left out: every method that reads is another one here.
        self.spec = base.spec
        self._base = base
        self._rows = rows
        self._path = base._path
        self._length = len(rows)
        self._is_array = base._is_array
        self._pickled = None

    def absent(self, indices: Array) -> Array | None:
        return self._base.absent(self._places(indices))

    def _present(self, indices: Array) -> Array:
        return self._base._present(self._places(indices))

    def _value(self, index: int) -> Any:
        if not -self._length <= index < self._length:
            raise IndexError(f"Index {index} is out of range for {self._what()}, of which {self._length} records were taken")
        return self._base._value(int(self._rows[index % self._length]))

    def _slice(self, start: int, stop: int, step: int) -> Any:
        if not isinstance(self._rows, range):
            return self._at(np.arange(start, stop, step, dtype=np.int64))
        part = joined(self._rows, range(start, stop, step))
        assert isinstance(part, range)
        return self._base._slice(part.start, part.stop, part.step)

    def _gather(self, indices: Array) -> Array:
        return self._base._gather(self._places(indices))

    def _list(self, indices: Array) -> list[Any]:
        return self._base._list(self._places(indices))

    def _places(self, indices: Array) -> Array:
        """Returns the records of the whole dataset that are at indices of the part."""
        if isinstance(self._rows, range):
            return self._rows.start + self._rows.step * indices
        places: Array = self._rows[indices]
        return places
