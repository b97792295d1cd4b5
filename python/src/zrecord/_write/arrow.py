"""Columns of Arrow data: of anything that has Arrow's PyCapsule interface, through PyArrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from zrecord._write.columns import Column, FixedColumn, PackedColumn
from zrecord._write.types import ColumnType, of_dtype
from zrecord.errors import MissingExtraError, SchemaMismatchError

Array = np.ndarray[Any, Any]


def is_arrow(data: Any) -> bool:
    """Tells whether this is a table, a frame, a stream or a batch with Arrow's PyCapsule interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def arrow_batches(data: Any) -> Iterator[Mapping[str, ArrowColumn]]:
    """Returns the record batches, as they come. Their memory is copied once, into what the engine reads."""
    pa = _pyarrow()
    if hasattr(data, "__arrow_c_stream__"):
        # A public name since PyArrow 15.
        is_new = hasattr(pa.RecordBatchReader, "from_stream")
        taken = pa.RecordBatchReader._import_from_c_capsule
        reader = pa.RecordBatchReader.from_stream(data) if is_new else taken(data.__arrow_c_stream__())
        empty = True
        for batch in reader:
            empty = False
            yield _columns(batch)
        if empty:
            yield _columns(pa.RecordBatch.from_pylist([], schema=reader.schema))
    else:
        yield _columns(pa.record_batch(data))


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as e:
        raise MissingExtraError("Writing Arrow data needs PyArrow: pip install 'zrecord[arrow]'") from e
    return pyarrow


def _columns(batch: Any) -> Mapping[str, ArrowColumn]:
    names = batch.schema.names
    if len(set(names)) != len(names):
        raise ValueError(f"The Arrow data have a column twice: {names}; give each column a name of its own")
    return {name: ArrowColumn(name, batch.column(i)) for i, name in enumerate(names)}


def arrow_column(name: str, values: Any) -> ArrowColumn:
    """Returns an array, a chunked array or a series with Arrow's PyCapsule interface as one column."""
    pa = _pyarrow()
    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        values = pa.array(values) if hasattr(values, "__arrow_c_array__") else pa.chunked_array(values)
    return ArrowColumn(name, values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values)


class ArrowColumn:
    """One column of a record batch."""

    def __init__(self, name: str, array: Any) -> None:
        pa = _pyarrow()
        while isinstance(array, pa.ExtensionArray):
            array = array.storage
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        self._array = array
        self.type = _type(name, array.type)

    def __len__(self) -> int:
        return len(self._array)

    def column(self, name: str, type_: ColumnType) -> Column:
        """Returns the values. Raises ``SchemaMismatchError`` if the field has another type."""
        pa = _pyarrow()
        if self.type.type != type_.type or not _fits(self.type.shape, type_.shape):
            raise SchemaMismatchError(
                f"Field '{name}' is {self.type} in the Arrow data ({self._array.type}), but {type_} in the table or the schema;"
                " cast the column"
            )
        array = self._array
        present = None if not array.null_count else np.asarray(array.is_valid().to_numpy(zero_copy_only=False), bool)
        if type_.type in ("utf8", "bytes"):
            large = array.cast(pa.large_string() if type_.type == "utf8" else pa.large_binary())
            _, offsets, values = large.buffers()
            ends = np.frombuffer(offsets, np.int64, len(large) + 1 + large.offset)[large.offset :]
            return PackedColumn(_bytes(values), ends, present)
        if pa.types.is_fixed_size_list(array.type):
            return self._fixed_lists(name, type_, array, present)
        if type_.shape:
            lists = array.cast(pa.large_list(array.type.value_type))
            elements = _elements(name, type_, lists.flatten())
            ends = np.zeros(len(lists) + 1, np.int64)
            np.cumsum(lists.value_lengths().fill_null(0).to_numpy(), out=ends[1:])
            return PackedColumn(elements.reshape(-1).view(np.uint8), ends * type_.spec.stored_dtype.itemsize, present)
        if type_.spec.scale is not None:
            return FixedColumn(_decimals(array)[:, : type_.spec.width], np.dtype(np.uint8), present)
        return FixedColumn(_numbers(name, type_, array), type_.spec.stored_dtype, present)

    def _fixed_lists(self, name: str, type_: ColumnType, array: Any, present: Array | None) -> Column:
        length = array.type.list_size
        elements = np.zeros((len(array), length), type_.spec.stored_dtype)
        there = slice(None) if present is None else present
        elements[there] = _elements(name, type_, array.flatten()).reshape(-1, length)
        if type_.is_variable:
            ends = np.arange(len(array) + 1, dtype=np.int64) * length * elements.itemsize
            return PackedColumn(elements.reshape(-1).view(np.uint8), ends, present)
        return FixedColumn(elements, type_.spec.stored_dtype, present)


def _fits(given: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return given == wanted or (len(given) == len(wanted) and -1 in wanted and given[1:] == wanted[1:])


def _type(name: str, arrow: Any) -> ColumnType:
    pa = _pyarrow()
    types = pa.types
    if types.is_fixed_size_list(arrow):
        return ColumnType(_scalar(name, arrow.value_type), (arrow.list_size,))
    if types.is_list(arrow) or types.is_large_list(arrow):
        return ColumnType(_scalar(name, arrow.value_type), (-1,))
    if types.is_string(arrow) or types.is_large_string(arrow) or str(arrow) == "string_view":
        return ColumnType("utf8")
    if types.is_binary(arrow) or types.is_large_binary(arrow) or types.is_fixed_size_binary(arrow) or str(arrow) == "binary_view":
        return ColumnType("bytes")
    return ColumnType(_scalar(name, arrow))


def _scalar(name: str, arrow: Any) -> str:
    types = _pyarrow().types
    if types.is_boolean(arrow):
        return "bool"
    if types.is_date32(arrow):
        return "date"
    if types.is_timestamp(arrow):
        return "timestamp_ntz" if arrow.tz is None else "timestamp"
    if types.is_decimal128(arrow) and 0 <= arrow.scale <= arrow.precision:
        return f"decimal({arrow.precision},{arrow.scale})"
    if types.is_integer(arrow) or types.is_floating(arrow):
        return of_dtype(name, np.dtype(arrow.to_pandas_dtype()))
    raise ValueError(
        f"Field '{name}' is an Arrow column of {arrow}, which Python does not write; cast it to numbers, text, bytes, dates,"
        " timestamps, decimals or lists of numbers, or write it with Spark"
    )


def _elements(name: str, type_: ColumnType, flat: Any) -> Array:
    if flat.null_count:
        raise ValueError(f"Field '{name}' has a list with a null element; a tensor has none: fill it, or drop the record")
    return np.ascontiguousarray(_numbers(name, ColumnType(type_.type), flat), type_.spec.stored_dtype)


def _numbers(name: str, type_: ColumnType, array: Any) -> Array:
    """Returns numbers as they are stored. Those of nulls are any."""
    pa = _pyarrow()
    if pa.types.is_boolean(array.type):
        return np.asarray(array.fill_null(False).to_numpy(zero_copy_only=False), np.uint8)
    if pa.types.is_timestamp(array.type):
        try:
            array = array.cast(pa.timestamp("us", array.type.tz))
        except pa.ArrowInvalid as e:
            raise ValueError(f"Field '{name}' has a time that microseconds cannot have: {e}; round or cast it first") from e
    numbers = np.frombuffer(_bytes(array.buffers()[1]), type_.spec.stored_dtype, array.offset + len(array))
    return numbers[array.offset :]


def _decimals(array: Any) -> Array:
    """Returns the 16 bytes of each decimal, the lowest first: the first ones are those of a narrower number."""
    whole = np.frombuffer(_bytes(array.buffers()[1]), np.uint8, 16 * (array.offset + len(array)))
    return whole.reshape(-1, 16)[array.offset :]


def _bytes(buffer: Any) -> Array:
    return np.zeros(0, np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)
