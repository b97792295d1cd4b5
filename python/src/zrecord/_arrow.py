"""Gives records to Arrow, in batches of bounded size. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from zrecord._field import Field
from zrecord._nested import NestedType, arrow_type
from zrecord._schema import FieldSpec
from zrecord._steps import bytes_of, in_steps
from zrecord.errors import MissingExtraError

Array = np.ndarray[Any, Any]
#: Reads some fields at records, side by side where they are remote.
Reading = Callable[[Mapping[str, Field], Callable[[Field], Any]], dict[str, Any]]
_BATCH_BYTES = 16 << 20
_MAX_RECORDS = 1 << 20
_TIMES = ("timestamp", "timestamp_ntz")


def require(module: str, remedy: str) -> Any:
    """Returns a module. Raises ``MissingExtraError`` if it is not installed."""
    try:
        return import_module(module)
    except ImportError as e:
        raise MissingExtraError(f"This needs {module}, which is not installed; {remedy}") from e


def pyarrow() -> Any:
    """Returns the module. Raises ``MissingExtraError`` if it is not installed."""
    return require("pyarrow", "pip install 'zrecord[arrow]'")


def type_of(spec: FieldSpec) -> Any:
    """Returns the ``pyarrow`` type of a field.

    A tensor is a list of a fixed size for each dimension, in the dimension that varies a list. ``bf16`` is ``float32``, which
    has each of its values.
    """
    pa = pyarrow()
    if spec.nested is not None:
        return arrow_type(spec.nested)
    found = _element_type(spec)
    for dimension in reversed(spec.shape):
        found = pa.list_(found) if dimension < 0 else pa.list_(found, dimension)
    return found


def schema_of(fields: Mapping[str, Field]) -> Any:
    """Returns the ``pyarrow.Schema`` of fields. Times may be null, as NaT is."""
    pa = pyarrow()
    specs = [(name, field.spec) for name, field in fields.items()]
    return pa.schema([pa.field(name, type_of(spec), spec.nullable or spec.dtype in _TIMES) for name, spec in specs])


def batches(length: int, fields: Mapping[str, Field], reading: Reading, most_records: int | None = None) -> Any:
    """Returns a ``pyarrow.RecordBatchReader`` that reads some 16 MiB of values at a time, or at most some records."""
    pa = pyarrow()
    schema = schema_of(fields)

    def read(records: range) -> dict[str, Any]:
        indices = np.arange(records.start, records.stop)
        return reading(fields, lambda field: (field[records.start : records.stop], field.absent(indices)))

    def made() -> Iterator[Any]:
        specs = [field.spec for field in fields.values()]
        most = _MAX_RECORDS if most_records is None else most_records
        for records, found in in_steps(length, specs, read, _size, _BATCH_BYTES, most):
            columns = [_column(fields[name].spec, *values) for name, values in found.items()]
            if not columns:
                yield pa.RecordBatch.from_struct_array(pa.array([{}] * len(records), pa.struct([])))
            else:
                yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, made())


def chunked(field: Field) -> Any:
    """Returns all values of a field as a ``pyarrow.ChunkedArray``."""
    found = batches(len(field), {field.name: field}, lambda fields, read: {field.name: read(field)})
    return found.read_all().column(0)


def ragged(values: Array, offsets: Array, dtype: str, absent: Array | None) -> Any:
    """Returns values of different lengths that follow each other. ``offsets`` tell where each begins, and where the last ends."""
    pa = pyarrow()
    count = len(offsets) - 1
    is_text = dtype in ("bytes", "utf8")
    spec = FieldSpec(1, "values", dtype, () if is_text else (-1, *values.shape[1:]))
    ends = pa.py_buffer(_int32(spec, offsets))
    nulls, absences = _nulls(absent)
    if is_text:
        data = pa.py_buffer(np.ascontiguousarray(values))
        return pa.Array.from_buffers(type_of(spec), count, [nulls, ends, data], absences)
    return pa.Array.from_buffers(
        type_of(spec), count, [nulls, ends], absences, children=[_rows(spec, values, spec.shape[1:], None)]
    )


def _size(found: dict[str, Any]) -> int:
    return sum(bytes_of(values) for values, _ in found.values())


def _element_type(spec: FieldSpec) -> Any:
    return arrow_type(NestedType("leaf", dtype="f32" if spec.dtype == "bf16" else spec.dtype, scale=spec.scale))


def _column(spec: FieldSpec, values: Any, absent: Array | None) -> Any:
    if not isinstance(values, list):
        return _rows(spec, values, spec.shape, absent)
    pa = pyarrow()
    if spec.nested is not None:
        kind = type_of(spec)
        parts = [pa.nulls(1, kind) if value is None else value.to_arrow() for value in values]
        return pa.concat_arrays(parts) if parts else pa.array([], kind)
    if spec.element_bytes is None or spec.scale is not None:
        plain = [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
        try:
            return pa.array(plain, type_of(spec))
        except pa.ArrowInvalid as e:
            raise ValueError(
                f"Cannot give field {spec.name!r} of {spec.dtype} to Arrow: {e}; leave the field out, or read its values by index"
            ) from e
    return _lists(spec, values)


def _lists(spec: FieldSpec, values: list[Any]) -> Any:
    """Returns tensors whose first dimension varies."""
    pa = pyarrow()
    lengths = [0 if value is None else len(value) for value in values]
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    present = [value for value in values if value is not None]
    every = np.concatenate(present) if present else np.zeros((0, *spec.shape[1:]), spec.numpy_dtype)
    absent = np.fromiter((value is None for value in values), bool, len(values))
    nulls, count = _nulls(absent if absent.any() else None)
    child = _rows(spec, every, spec.shape[1:], None)
    ends = pa.py_buffer(_int32(spec, offsets))
    return pa.Array.from_buffers(type_of(spec), len(values), [nulls, ends], count, children=[child])


def _int32(spec: FieldSpec, offsets: Array) -> Array:
    if offsets[-1] > 2**31 - 1:
        raise ValueError(f"{offsets[-1]} elements of {spec.name!r} are too many for one array of Arrow; ask for fewer records")
    return offsets.astype(np.int32)


def _rows(spec: FieldSpec, values: Array, shape: tuple[int, ...], absent: Array | None) -> Any:
    """Returns values of one shape; numbers are not copied if they are adjacent."""
    pa = pyarrow()
    kind = _element_type(spec)
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.dtype == object:
        return _wrapped(pa.array(flat.tolist(), kind), len(values), shape, absent)
    is_none = np.isnat(flat) if spec.dtype in _TIMES else None
    if is_none is not None and not is_none.any():
        is_none = None
    if not shape and absent is not None:
        is_none = absent if is_none is None else absent | is_none
    nulls, count = _nulls(is_none)
    found = pa.Array.from_buffers(kind, flat.size, [nulls, pa.py_buffer(_data(spec, flat))], count)
    return _wrapped(found, len(values), shape, absent)


def _wrapped(elements: Any, rows: int, shape: tuple[int, ...], absent: Array | None) -> Any:
    """Returns elements as lists of fixed sizes, one within the other."""
    pa = pyarrow()
    found = elements
    for at in reversed(range(len(shape))):
        nulls, count = _nulls(absent if at == 0 else None)
        kind = pa.list_(found.type, shape[at])
        found = pa.Array.from_buffers(kind, rows * prod(shape[:at]), [nulls], count, children=[found])
    return found


def _nulls(absent: Array | None) -> tuple[Any, int]:
    """Returns the bits of the values that are present, and how many are not."""
    if absent is None:
        return None, 0
    return pyarrow().py_buffer(np.packbits(~absent, bitorder="little")), int(absent.sum())


def _data(spec: FieldSpec, flat: Array) -> Array:
    """Returns the bytes that Arrow has for elements."""
    if spec.dtype == "bool":
        return np.packbits(flat, bitorder="little")
    if spec.dtype == "bf16":
        return (flat.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    if spec.dtype == "date":
        return flat.astype("<i8").astype("<i4")
    return flat.view("<i8") if spec.dtype in _TIMES else flat
