"""Converts bytes of values to objects of NumPy and Python."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from zrecord._crc32c import Bytes
from zrecord._nested import read_nested
from zrecord._schema import FieldSpec

Array = np.ndarray[Any, Any]


def to_array(spec: FieldSpec, raw: Bytes, count: int) -> Array:
    """Returns the array of adjacent values, for a field that makes arrays; a view if the bytes need no change."""
    return shown(spec, raw.view(spec.stored_dtype).reshape(count, *spec.shape))


def shown(spec: FieldSpec, stored: Array) -> Array:
    """Returns elements in the form for the caller."""
    if spec.dtype == "bool":
        return stored != 0
    if spec.dtype == "date":
        return stored.astype("<i8").view(spec.numpy_dtype)
    return stored.view(spec.numpy_dtype)


def to_value(spec: FieldSpec, value: bytes | Bytes) -> Any:
    """Returns one value. Raises ``ValueError`` if its length or content does not fit the field."""
    if spec.dtype == "bytes":
        return bytes(value)
    if spec.dtype == "utf8":
        return bytes(value).decode("utf-8")
    if spec.nested is not None:
        return read_nested(spec.nested, value)
    if spec.width is not None and len(value) != spec.width:
        raise ValueError(f"it has {len(value)} bytes instead of {spec.width}")
    if spec.scale is not None:
        return _decimals(spec, bytes(value))
    array = shown(spec, np.frombuffer(value, spec.stored_dtype).reshape(_shape(spec, len(value))))
    return array if spec.shape else array[()]


def _decimals(spec: FieldSpec, value: bytes) -> Any:
    """Returns exact decimals, whatever the context of ``decimal``."""
    step = spec.element_bytes or 1
    unscaled = (int.from_bytes(value[at : at + step], "little", signed=True) for at in range(0, len(value), step))
    decimals = [Decimal(f"{n}E-{spec.scale}") for n in unscaled]
    if not spec.shape:
        return decimals[0]
    array = np.empty(len(decimals), object)
    array[:] = decimals
    return array.reshape(_shape(spec, len(value)))


def _shape(spec: FieldSpec, length: int) -> tuple[int, ...]:
    """Returns the shape of a value with a number of bytes."""
    if -1 not in spec.shape:
        return spec.shape
    step = spec.element_bytes or 1
    for dimension in spec.shape[1:]:
        step *= dimension
    if length % step if step else length:
        raise ValueError(f"{length} bytes are no {spec.dtype}{list(spec.shape)}")
    return (length // step if step else 0, *spec.shape[1:])
