"""Columns of NumPy arrays, which are copied once, into the shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from zrecord._ragged import Ragged
from zrecord._write.columns import Column, FixedColumn, PackedColumn, PiecesColumn
from zrecord._write.types import ColumnType, of_dtype
from zrecord.errors import SchemaMismatchError

Array = np.ndarray[Any, Any]
DAYS = (-(2**31), 2**31 - 1)


def type_of_array(name: str, array: Array) -> ColumnType:
    """Returns the type that an array's values have."""
    if not array.ndim:
        raise ValueError(f"Field '{name}' has one value, {array!r:.40}, instead of one for each record; give an array or a list")
    found = of_dtype(name, array.dtype)
    if found in ("bytes", "utf8", "date", "timestamp_ntz") and array.ndim > 1 and array.dtype.kind in "SU":
        raise ValueError(f"Field '{name}' has strings of {array.ndim} dimensions; only numbers have a shape")
    return ColumnType(found, array.shape[1:])


def column_of_array(name: str, type_: ColumnType, array: Array) -> Column:
    """Returns the values of an array as a column. Raises ``SchemaMismatchError`` if it has another type or shape."""
    array, present = _unmasked(name, array)
    _require_fits(name, type_, array)
    if array.dtype.kind == "M":
        array, lacking = _as_numbers(name, type_, array)
        present = _and(present, lacking)
    if array.dtype.kind in "SU":
        return _strings(name, type_, array, present)
    if type_.is_variable:
        offsets = np.arange(len(array) + 1, dtype=np.int64) * int(np.prod(array.shape[1:], dtype=np.int64)) * array.itemsize
        return PackedColumn(packed(array, type_.spec.stored_dtype), offsets, present)
    if array.dtype.kind == "b" or array.dtype.name == "bfloat16":
        array = array.view(type_.spec.stored_dtype)
    return FixedColumn(array, type_.spec.stored_dtype, present)


def _unmasked(name: str, array: Array) -> tuple[Array, Array | None]:
    if not isinstance(array, np.ma.MaskedArray):
        return array, None
    mask = np.ma.getmaskarray(array).reshape(len(array), -1)
    # A row without elements has none that is masked.
    present: Array = ~np.logical_and.reduce(mask, 1) if mask.shape[1] else np.ones(len(array), bool)
    if (mask.any(1) & present).any():
        record = int(np.flatnonzero(mask.any(1) & present)[0])
        raise ValueError(
            f"Field '{name}' masks a part of value {record}: a value is absent as a whole; fill the array, or mask whole values"
        )
    return array.filled(np.zeros(1, array.dtype)[0]), present


def _require_fits(name: str, type_: ColumnType, array: Array) -> None:
    given = type_of_array(name, array)
    # Numbers of 16 bits are what bf16 fields are read as.
    is_same = given.type == type_.type or (type_.type == "bf16" and given.type == "u16")
    if array.dtype.kind == "M":
        is_same = type_.is_time or type_.type == "date"
    shape = type_.shape
    fits = shape == given.shape or (-1 in shape and len(shape) == len(given.shape) and shape[1:] == given.shape[1:])
    if not (is_same and fits):
        wanted = "" if type_.type in ("bytes", "utf8") else f"; convert it, such as by x.astype(np.{type_.spec.stored_dtype})"
        raise SchemaMismatchError(f"Field '{name}' is {given} in what is written, but {type_} in the table or the schema{wanted}")


def _as_numbers(name: str, type_: ColumnType, array: Array) -> tuple[Array, Array | None]:
    """Returns times and dates as the numbers that are stored, and which are present: NaT is absent."""
    absent = np.isnat(array)
    unit = "D" if type_.type == "date" else "us"
    converted = array.astype(f"M8[{unit}]")
    lost = (converted.astype(array.dtype) != array) & ~absent
    numbers = converted.astype(np.int64)
    if unit == "D":
        lost |= ~absent & ((numbers < DAYS[0]) | (numbers > DAYS[1]))
    if lost.any():
        value = array[lost].flat[0]
        words = "days" if unit == "D" else "microseconds"
        raise ValueError(
            f"Field '{name}' has the time {value}, which {type_} cannot have: its unit is {words};"
            f" round it first, by x.astype('M8[{unit}]'), or leave it out"
        )
    if array.ndim > 1:
        if absent.any():
            raise ValueError(f"Field '{name}' has NaT in a value of several elements; a value is absent as a whole")
        present = None
    else:
        present = ~absent if absent.any() else None
        numbers[absent] = 0
    return numbers.astype(type_.spec.stored_dtype), present


def _and(left: Array | None, right: Array | None) -> Array | None:
    if left is None or right is None:
        return right if left is None else left
    both: Array = left & right
    return both


def _strings(name: str, type_: ColumnType, array: Array, present: Array | None) -> Column:
    # As NumPy shows them: without the NULs at the end.
    pieces = array.tolist()
    return PiecesColumn(pieces if type_.type == "bytes" else encoded(name, pieces), present)


def encoded(name: str, texts: list[str]) -> list[bytes]:
    """Returns texts as UTF-8. Half a surrogate pair is no text."""
    try:
        return [text.encode() for text in texts]
    except UnicodeEncodeError as e:
        raise ValueError(
            f"Field '{name}' has the text {e.object!r:.60} with half of a surrogate pair at {e.start}, which is no text;"
            " correct it, or write it as bytes"
        ) from e


def packed(array: Array, stored: np.dtype[Any]) -> Array:
    """Returns the bytes of an array as they are stored, one after the other."""
    view = array.view(stored) if array.dtype.kind == "b" or array.dtype.name == "bfloat16" else array
    return np.ascontiguousarray(view, stored).reshape(-1).view(np.uint8)


def column_of_ragged(name: str, type_: ColumnType, ragged: Ragged) -> Column:
    """Returns ragged values, such as those of a feed, as a column."""
    given = type_of_ragged(ragged)
    if not type_.is_variable or given.type != type_.type or given.shape[1:] != type_.shape[1:]:
        raise SchemaMismatchError(f"Field '{name}' is {given} in what is written, but {type_} in the table or the schema")
    offsets = np.asarray(ragged.offsets, np.int64)
    if not len(offsets) or (np.diff(offsets) < 0).any() or offsets[0] < 0 or offsets[-1] > len(ragged.values):
        raise ValueError(f"Field '{name}' has offsets that do not rise from 0 to {len(ragged.values)}")
    values = ragged.values
    if values.dtype.kind == "M":
        values, _ = _as_numbers(name, ColumnType(type_.type), values.reshape(-1, 1))
        values = values.reshape(ragged.values.shape)
    step = int(np.prod(values.shape[1:], dtype=np.int64)) * type_.spec.stored_dtype.itemsize
    return PackedColumn(packed(values, type_.spec.stored_dtype), offsets * step)


def type_of_ragged(ragged: Ragged) -> ColumnType:
    """Returns the type that ragged values have. Raises ``ValueError`` if they cannot be written."""
    if ragged.values.dtype == object:
        raise ValueError(f"Ragged values of {ragged.dtype} are objects; Python writes single decimals, as a list")
    shape = () if ragged.dtype in ("bytes", "utf8") else (-1, *ragged.values.shape[1:])
    return ColumnType(ragged.dtype, shape)
