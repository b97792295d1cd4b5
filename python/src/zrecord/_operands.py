"""What the values of a field can be compared with."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np

from zrecord._schema import FieldSpec

Array = np.ndarray[Any, Any]
_FLOATS = ("f16", "bf16", "f32", "f64")
_MOST = 2**1000
_TIMES = ("date", "timestamp", "timestamp_ntz")
_SECOND = 10**18
_ATTOSECONDS = {"W": 604_800 * _SECOND, "D": 86_400 * _SECOND, "h": 3600 * _SECOND, "m": 60 * _SECOND}
_ATTOSECONDS |= {unit: 10 ** (18 - 3 * i) for i, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs", "as"))}


def operand(spec: FieldSpec, value: Any, sign: str) -> Any:
    """Returns a value in the form that values of a field are compared in.

    Raises ``TypeError`` if a record has no single value in this field, or a value of another kind, and ``ValueError`` for a text
    that is no time.
    """
    if spec.shape or spec.nested is not None:
        raise TypeError(
            f"Field {spec.name!r} has values of {spec.dtype}{list(spec.shape)}, which are not compared: only numbers, flags, "
            "texts, bytes, decimals, dates and times are; give where() a function of arrays"
        )
    if value is None:
        raise TypeError(f"Cannot compare field {spec.name!r} with None; write field.is_absent(), or ~field.is_absent()")
    found = _operand(spec, value)
    if found is None:
        raise TypeError(f"Cannot compare field {spec.name!r} of {spec.dtype} {sign} {value!r:.60}; give {_wanted(spec)}")
    return found


def operands(spec: FieldSpec, values: Iterable[Any]) -> list[Any]:
    """Returns the values of ``isin`` in the form that values of a field are compared in."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"isin takes a list of values, not the text {values!r}; give [{values!r}]")
    return [operand(spec, value, "isin") for value in values]


def time_in(dtype: np.dtype[Any], time: np.datetime64) -> tuple[int, bool]:
    """Returns a time in the unit of a dtype, rounded down, and whether it is exact.

    NumPy compares times of two units in the finer one, and in nanoseconds the year 9999 is before 2021.
    """
    unit, count = np.datetime_data(time.dtype)
    if unit in ("Y", "M"):
        time, unit, count = time.astype("datetime64[D]"), "D", 1
    floor, rest = divmod(int(time.astype(np.int64)) * count * _ATTOSECONDS[unit], _ATTOSECONDS[np.datetime_data(dtype)[0]])
    return floor, rest == 0


def comparable(spec: FieldSpec, values: Any) -> Any:
    """Returns the values of a field in the form that ``operand`` has."""
    if spec.dtype == "bf16":
        return (values.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    return values


def _wanted(spec: FieldSpec) -> str:
    if spec.scale is not None:
        return "a Decimal, or a number"
    named = {"utf8": "a text", "bytes": "bytes", "bool": "True or False", "date": "a date, or datetime64"}
    named |= {"timestamp": "a datetime with a time zone, or datetime64 in UTC", "timestamp_ntz": "a datetime without a time zone"}
    return named.get(spec.dtype, "a number")


def _operand(spec: FieldSpec, value: Any) -> Any:
    """Returns the value in the form for comparisons; ``None`` if it is of another kind."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if spec.dtype == "utf8":
        return str(value) if isinstance(value, str) else None
    if spec.dtype == "bytes":
        return bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else None
    if spec.dtype == "bool":
        return bool(value) if isinstance(value, (bool, np.bool_)) else None
    if spec.dtype in _TIMES:
        return _time(spec, value)
    if isinstance(value, (bool, np.bool_)):
        return None
    if spec.scale is not None and isinstance(value, (float, np.floating, Decimal)) and value != value:
        raise ValueError(f"Cannot compare field {spec.name!r} of {spec.dtype} with {value!r}, which no decimal is; leave it out")
    if isinstance(value, (int, np.integer)):
        if spec.dtype in _FLOATS and abs(int(value)) > _MOST:
            raise ValueError(f"Cannot compare field {spec.name!r} of {spec.dtype} with {value!r:.60}; give at most 2**1000")
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    return value if spec.scale is not None and isinstance(value, Decimal) else None


def _time(spec: FieldSpec, value: Any) -> np.datetime64 | None:
    if isinstance(value, datetime.datetime):
        if (value.tzinfo is not None) != (spec.dtype == "timestamp"):
            return None
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    elif not isinstance(value, (np.datetime64, datetime.date, str)):
        return None
    if isinstance(value, str) and spec.dtype == "timestamp":
        raise ValueError(
            f"Cannot compare field {spec.name!r} of timestamp with the text {value!r:.60}, which has no time zone; give a datetime "
            "with one, or np.datetime64 in UTC"
        )
    try:
        found = np.datetime64(value)
    except ValueError as e:
        raise ValueError(f"Cannot compare field {spec.name!r} of {spec.dtype} with {value!r:.60}: {e}; give an ISO date") from None
    if np.isnat(found):
        raise ValueError(f"Cannot compare field {spec.name!r} with NaT; write field.is_absent(), or give where() a function")
    return found
