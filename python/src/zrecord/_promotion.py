"""Values that no file has as they are read: initial defaults, and promoted types (FORMAT.md section 7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from zrecord._columns import Column
from zrecord._crc32c import Bytes
from zrecord._fetched import Wanted
from zrecord._schema import STORED, FieldSpec
from zrecord.errors import CorruptDataError

Array = np.ndarray[Any, Any]
_CHAINS = (
    ("i8", "i16", "i32", "i64"),
    ("u8", "u16", "u32", "u64"),
    ("f32", "f64"),
    ("date", "timestamp_ntz"),
    ("utf8", "bytes"),
)
_DAY_MICROS = 86_400_000_000
_MOST_DAYS = (2**63 - 1) // _DAY_MICROS


def is_promotion(stored: FieldSpec, wanted: FieldSpec) -> bool:
    """Tells whether values of a field can be read as those of another type, or as what they are."""
    if stored.shape != wanted.shape:
        return False
    if (stored.dtype, stored.nested) == (wanted.dtype, wanted.nested):
        return True
    if stored.scale is not None and wanted.scale is not None:
        return stored.scale == wanted.scale and _precision(stored) < _precision(wanted)
    return any(
        stored.dtype in chain and wanted.dtype in chain and chain.index(stored.dtype) < chain.index(wanted.dtype)
        for chain in _CHAINS
    )


def _precision(spec: FieldSpec) -> int:
    return int(spec.dtype[len("decimal(") :].split(",")[0])


class InitialColumn:
    """A field that the shard does not have, and whose values are the initial default there."""

    def __init__(self, value: bytes) -> None:
        self._value = np.frombuffer(value, np.uint8)

    def present(self, indices: Array) -> Array:
        return np.ones(indices.size, bool)

    def fixed(self, indices: Array) -> Bytes:
        return np.tile(self._value, indices.size)

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        return [self._value] * indices.size

    def wanted(self, indices: Array) -> list[Wanted]:
        return []


class PromotedColumn:
    """A field that the shard has with elements of fewer bytes."""

    def __init__(self, column: Column, stored: FieldSpec, wanted: FieldSpec) -> None:
        self._column = column
        self._stored = stored
        self._wanted = wanted

    def present(self, indices: Array) -> Array:
        return self._column.present(indices)

    def fixed(self, indices: Array) -> Bytes:
        return self._converted(self._column.fixed(indices))

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        return [None if value is None else self._converted(value) for value in self._column.values(indices)]

    def wanted(self, indices: Array) -> list[Wanted]:
        return self._column.wanted(indices)

    def _converted(self, value: bytes | Bytes) -> Bytes:
        raw = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.ascontiguousarray(value)
        before, after = self._stored.element_bytes or 1, self._wanted.element_bytes or 1
        if self._stored.scale is not None:
            words = raw.reshape(-1, before)
            wide = np.zeros((words.shape[0], after), np.uint8)
            wide[:, :before] = words
            wide[:, before:] = np.where(words[:, -1:] & 0x80, 255, 0)
            return wide.reshape(-1)
        elements = raw.view(STORED[self._stored.dtype]).astype(STORED[self._wanted.dtype])
        if self._stored.dtype == "date":
            if elements.size and np.abs(elements).max() > _MOST_DAYS:
                raise CorruptDataError(f"Cannot read field '{self._wanted.name}': a date has no timestamp", self._wanted.name)
            elements *= _DAY_MICROS
        return elements.view(np.uint8).reshape(-1)
