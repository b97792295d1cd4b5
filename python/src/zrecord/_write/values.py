"""Columns of lists of Python values, in which ``None`` is absent."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any

import numpy as np

from zrecord._write.arrays import DAYS, column_of_array, encoded, type_of_array
from zrecord._write.columns import Column, FixedColumn, JoinedColumn, PiecesColumn
from zrecord._write.types import ColumnType
from zrecord.errors import SchemaMismatchError

Array = np.ndarray[Any, Any]
_EXACT = Context(prec=100)
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_OF_ZONES = _EPOCH.replace(tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)
_WHOLE = (int, np.integer)
_REAL = (int, float, np.integer, np.floating)
_BYTES = (bytes, bytearray, memoryview)


def type_of_values(name: str, values: Sequence[Any]) -> ColumnType:
    """Returns the type that the values of a list have. Raises ``ValueError`` if they do not tell it."""
    there = [value for value in values if value is not None and not _is_no_time(value)]
    if not there:
        raise ValueError(f"Field '{name}' has no value that would tell its type; give schema={{'{name}': 'utf8'}} or another type")
    for kinds, type_ in _TYPES:
        if all(isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds) for value in there):
            return _of_times(type_, there)
    first = there[0]
    if isinstance(first, Decimal):
        raise ValueError(f"Field '{name}' has decimals; give their digits: schema={{'{name}': 'decimal(10,2)'}}")
    if isinstance(first, (np.ndarray, np.generic)):
        types = {type_of_array(name, np.asarray(value)[None]) for value in there}
        if len(types) == 1:
            return types.pop()
        if len({(one.type, one.shape[1:], len(one.shape)) for one in types}) == 1 and first.ndim:
            return ColumnType(types.pop().type, (-1, *first.shape[1:]))
    if isinstance(first, (list, tuple)):
        longest = max(there, key=len)
        element = type_of_array(name, _listed_array(name, longest)[None])
        return ColumnType("i64" if not len(longest) else element.type, (-1, *element.shape[1:]))
    raise ValueError(
        f"Field '{name}' has values of {', '.join(sorted({type(v).__name__ for v in there}))}, whose type is not known;"
        " write numbers, bool, str, bytes, dates, datetimes or arrays, or give a schema"
    )


_TYPES: list[tuple[tuple[type, ...], str]] = [
    ((bool, np.bool_), "bool"),
    ((str,), "utf8"),
    (_BYTES, "bytes"),
    ((int,), "i64"),
    ((int, float), "f64"),
    ((datetime.datetime,), "timestamp_ntz"),
    ((datetime.date,), "date"),
]


def _of_times(type_: str, there: Sequence[Any]) -> ColumnType:
    is_aware = type_ == "timestamp_ntz" and there[0].tzinfo is not None
    return ColumnType("timestamp" if is_aware else type_)


def column_of_values(name: str, type_: ColumnType, values: Sequence[Any]) -> Column:
    """Returns a list of values as a column. Raises ``ValueError`` that names the field and the record of a wrong value."""
    if type_.type == "date" or type_.is_time:
        values = [None if _is_no_time(value) else value for value in values]
    present = np.fromiter((value is not None for value in values), bool, len(values))
    marks = None if present.all() else present
    if type_.type == "utf8":
        _require(name, type_, values, lambda value: isinstance(value, str), "a str")
        return PiecesColumn(encoded(name, ["" if value is None else value for value in values]), marks)
    if type_.type == "bytes":
        _require(name, type_, values, lambda value: isinstance(value, (*_BYTES, np.ndarray)), "bytes")
        return PiecesColumn([b"" if value is None else _bytes(name, value) for value in values], marks)
    if type_.type.startswith("decimal("):
        return _decimals(name, type_, values, marks)
    if type_.shape:
        return _tensors(name, type_, values, marks)
    return FixedColumn(_scalars(name, type_, values), type_.spec.stored_dtype, marks)


def _require(name: str, type_: ColumnType, values: Sequence[Any], fits: Callable[[Any], bool], wanted: str) -> None:
    for record, value in enumerate(values):
        if value is not None and not fits(value):
            raise SchemaMismatchError(
                f"Field '{name}' is {type_}, and value {record} of the batch is {value!r:.60}, a {type(value).__name__};"
                f" give {wanted}"
            )


def _bytes(name: str, value: Any) -> bytes | bytearray | memoryview:
    if isinstance(value, np.ndarray):
        if value.dtype != np.uint8 or value.ndim != 1:
            raise SchemaMismatchError(f"Field '{name}' is bytes, and a value is an array of {value.dtype}; give x.tobytes()")
        return value.tobytes()
    if isinstance(value, (bytes, bytearray)):
        return value
    view = memoryview(value)
    return view.cast("B") if view.c_contiguous else view.tobytes()


def _scalars(name: str, type_: ColumnType, values: Sequence[Any]) -> Array:
    stored = type_.spec.stored_dtype
    if type_.type == "bool":
        _require(name, type_, values, lambda value: isinstance(value, (bool, np.bool_)), "True or False")
        return np.array([bool(value) for value in values], bool).view(stored)
    if type_.type == "date" or type_.is_time:
        return _times(name, type_, values)
    if type_.type == "bf16" and any(value is not None for value in values):
        raise SchemaMismatchError(f"Field '{name}' is bf16; give an array of ml_dtypes.bfloat16, or of its bits as uint16")
    if stored.kind == "f":
        _require(name, type_, values, _is_real, "a number that it can have")
        with np.errstate(over="ignore"):
            numbers = np.array([0.0 if value is None else value for value in values], np.float64).astype(stored)
        for record in np.flatnonzero(np.isinf(numbers)).tolist():
            if math.isfinite(values[record]):
                raise SchemaMismatchError(f"Field '{name}' is {type_}, which does not reach {values[record]!r} of value {record}")
        return numbers
    low, high = np.iinfo(stored).min, np.iinfo(stored).max
    _require(
        name,
        type_,
        values,
        lambda value: isinstance(value, _WHOLE) and not isinstance(value, bool) and low <= int(value) <= high,
        f"a whole number from {low} to {high}",
    )
    return np.array([0 if value is None else int(value) for value in values], stored)


def _is_real(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, _REAL):
        return False
    if isinstance(value, _WHOLE) and abs(int(value)) > 1 << 53:
        return int(value).bit_length() <= 1 << 10 and int(float(value)) == int(value)
    return True


def _is_no_time(value: Any) -> bool:
    """Tells whether this is NaT, of NumPy or of pandas."""
    return isinstance(value, (np.datetime64, datetime.date)) and bool(value != value)


def _times(name: str, type_: ColumnType, values: Sequence[Any]) -> Array:
    if type_.type == "date":
        kinds: tuple[type, ...] = (datetime.date, np.datetime64)
        _require(name, type_, values, lambda v: isinstance(v, kinds) and not isinstance(v, datetime.datetime), "a date")
        days = np.array([0 if v is None else _days(name, v) for v in values], np.int64)
        return days.astype(type_.spec.stored_dtype)
    is_aware = type_.type == "timestamp"
    wanted = "a datetime with a time zone" if is_aware else "a datetime without a time zone"
    _require(
        name,
        type_,
        values,
        lambda v: isinstance(v, np.datetime64) or (isinstance(v, datetime.datetime) and (v.utcoffset() is not None) == is_aware),
        wanted,
    )
    return np.array([0 if v is None else _micros(name, v) for v in values], np.int64)


def _days(name: str, value: Any) -> int:
    days = _exactly(name, np.datetime64(value), "D")
    if not DAYS[0] <= days <= DAYS[1]:
        raise ValueError(f"Field '{name}' has the date {value}, which is {days} days from 1970; a date is within 32 bits")
    return days


def _micros(name: str, value: Any) -> int:
    if isinstance(value, np.datetime64):
        return _exactly(name, value, "us")
    since = value - (_EPOCH if value.tzinfo is None else _EPOCH_OF_ZONES)
    micros, rest = divmod(since, _MICROSECOND)
    if rest:
        raise ValueError(f"Field '{name}' has the time {value}, which is between microseconds; round it first")
    return int(micros)


def _exactly(name: str, value: Any, unit: str) -> int:
    converted = value.astype(f"M8[{unit}]")
    if converted.astype(value.dtype) != value:
        words = "days" if unit == "D" else "microseconds"
        raise ValueError(
            f"Field '{name}' has the time {value}, which it cannot have: its unit is {words};"
            f" round it first, by x.astype('M8[{unit}]'), or leave it out"
        )
    return int(converted.astype(np.int64))


def _decimals(name: str, type_: ColumnType, values: Sequence[Any], marks: Array | None) -> Column:
    _require(name, type_, values, lambda v: isinstance(v, (Decimal, int)) and not isinstance(v, bool), "a Decimal or an int")
    width, scale = type_.spec.element_bytes or 1, type_.spec.scale or 0
    if type_.shape:
        raise SchemaMismatchError(f"Field '{name}' is {type_}; Python writes single decimals only")
    digits = int(type_.type[len("decimal(") :].split(",")[0])
    out = bytearray()
    for record, value in enumerate(values):
        exact = Decimal(value or 0)
        unscaled = int(_EXACT.scaleb(exact, scale)) if exact.is_finite() else 10**digits
        if abs(unscaled) >= 10**digits or _EXACT.scaleb(Decimal(unscaled), -scale) != exact:
            raise SchemaMismatchError(f"Field '{name}' is {type_}, which cannot have {value} of value {record}; round it first")
        out += unscaled.to_bytes(width, "little", signed=True)
    return FixedColumn(np.frombuffer(bytes(out), np.uint8).reshape(len(values), width), np.dtype(np.uint8), marks)


def _tensors(name: str, type_: ColumnType, values: Sequence[Any], marks: Array | None) -> Column:
    columns = [None if value is None else _tensor(name, type_, value, record) for record, value in enumerate(values)]
    return JoinedColumn(columns, type_.spec.width or 0, marks)


def _tensor(name: str, type_: ColumnType, value: Any, record: int) -> Column:
    """Returns one value as a column of its own. Raises ``SchemaMismatchError`` if it has another type or shape."""
    if isinstance(value, (list, tuple)):
        array = _listed_array(name, value)
        if array.dtype == object or (array.size and array.dtype.kind not in "biuf"):
            raise SchemaMismatchError(f"Field '{name}' is {type_}, and value {record} of the batch is {value!r:.60}; give numbers")
        array = _scalars(name, ColumnType(type_.type), array.reshape(-1).tolist()).reshape(array.shape)
        array = array.view(bool) if type_.type == "bool" else array
    elif hasattr(value, "__array__"):
        array = np.asarray(value)
    else:
        raise SchemaMismatchError(
            f"Field '{name}' is {type_}, and value {record} of the batch is {value!r:.60}, a {type(value).__name__}; give an array"
        )
    return column_of_array(name, type_, array[None])


def _listed_array(name: str, value: Any) -> Array:
    try:
        return np.asarray(value)
    except ValueError as e:
        raise SchemaMismatchError(
            f"Field '{name}' has {value!r:.60}, in which lists have different lengths; only the first dimension may vary"
        ) from e
