"""Batches of what is written: mappings of columns, lists of records, structured arrays, Arrow data, and streams of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from zrecord._batch import Batch as FeedBatch
from zrecord._field import Field
from zrecord._ragged import Ragged
from zrecord._write.arrays import column_of_array, column_of_ragged, type_of_array, type_of_ragged
from zrecord._write.arrow import ArrowColumn, arrow_batches, arrow_column, is_arrow
from zrecord._write.columns import Column
from zrecord._write.layout import Part
from zrecord._write.types import ColumnType
from zrecord._write.values import column_of_values, type_of_values
from zrecord.errors import SchemaMismatchError

#: The values of each field, for the same records.
Batch = Mapping[str, Any]


class Records(dict[str, list[Any]]):
    """The columns of records that may lack a field each."""


# Lists are made columns in such parts, so that a long list has no second copy.
_RECORDS_AT_ONCE = 1 << 14
_ACCEPTED = (
    "write a mapping of fields to arrays or lists, a list of records (dicts), a structured array, an Arrow table or a"
    " data frame, or an iterable of batches of these"
)


def batches_of(data: Any) -> Iterator[Batch]:
    """Returns what is written, batch by batch. A generator is asked for one batch at a time."""
    single = _single(data)
    if single is not None:
        yield from single
    elif isinstance(data, Iterable) and not isinstance(data, (str, bytes, np.ndarray, Ragged, Field)):
        for part in data:
            found = _single(part)
            if found is None:
                raise TypeError(f"A batch is a {type(part).__name__}; {_ACCEPTED}")
            yield from found
    else:
        raise TypeError(f"What is written is a {type(data).__name__}; {_ACCEPTED}")


def _single(data: Any) -> Iterator[Batch] | None:
    """Returns the batches of what is no iterable of batches; otherwise ``None``."""
    if isinstance(data, Mapping):
        return _mapping(_of_feed(data) if isinstance(data, FeedBatch) else data)
    if is_arrow(data):
        return arrow_batches(data)
    if isinstance(data, np.ndarray) and data.dtype.names:
        if data.ndim != 1:
            raise ValueError(f"A structured array has {data.ndim} dimensions; its records are one dimension")
        return iter([{name: data[name] for name in data.dtype.names}])
    if isinstance(data, (list, tuple)) and all(isinstance(record, Mapping) for record in data):
        return _records(data)
    return None


def _of_feed(batch: FeedBatch) -> Batch:
    """Returns the values of a batch of a feed, in which absent values are zeros or empty, with those masked."""
    columns = dict(batch)
    for name, absent in batch.marks.items():
        values = columns[name]
        if isinstance(values, np.ndarray) and values.dtype != object:
            mask = np.broadcast_to(absent.reshape(-1, *[1] * (values.ndim - 1)), values.shape)
            columns[name] = np.ma.masked_array(values, mask)
        else:
            columns[name] = [None if gone else value for value, gone in zip(values, absent)]
    return columns


def _mapping(data: Mapping[str, Any]) -> Iterator[Batch]:
    for name in data:
        if not isinstance(name, str) or not name:
            raise ValueError(f"A field is named {name!r}; the name of a field is a str that is not empty")
    lengths = {name: length_of(name, values) for name, values in data.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"The fields have different numbers of records: {lengths}; give each as many values")
    yield data


def length_of(name: str, values: Any) -> int:
    """Returns the number of values of a field. Raises ``ValueError`` for what has no values in an order."""
    if isinstance(values, (Set, Mapping)):
        raise ValueError(f"Field '{name}' is a {type(values).__name__}, whose values have no order; give an array or a list")
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or getattr(values, "shape", (0,)) == ():
        raise ValueError(
            f"Field '{name}' has {values!r:.60} instead of a value for each record; give an array or a list, or records as a"
            " list of dicts"
        )
    return len(values)


def _records(records: Sequence[Mapping[str, Any]]) -> Iterator[Batch]:
    for first in range(0, len(records), _RECORDS_AT_ONCE):
        part = records[first : first + _RECORDS_AT_ONCE]
        names = dict.fromkeys(name for record in part for name in record)
        if not all(isinstance(name, str) and name for name in names):
            raise ValueError(f"Records have the fields {list(names)}; the name of a field is a str that is not empty")
        yield Records({name: [record.get(name) for record in part] for name in names})


def type_of(name: str, values: Any) -> ColumnType:
    """Returns the type that values of a field have. Raises ``ValueError`` if they do not tell it, or have none."""
    if isinstance(values, Ragged):
        return type_of_ragged(values)
    if isinstance(values, Field):
        return ColumnType(values.spec.dtype, values.spec.shape, nested=values.spec.nested is not None)
    values = _plain(name, values)
    if isinstance(values, ArrowColumn):
        return values.type
    return type_of_array(name, values) if isinstance(values, np.ndarray) else type_of_values(name, values)


def parts_of(types: Mapping[str, ColumnType], batch: Batch) -> Iterator[tuple[list[Part], int, int]]:
    """Returns the columns of a batch in the order of the types, for all records or for some thousands after the others."""
    count = len(next(iter(batch.values()))) if batch else 0
    values = {name: _plain(name, batch[name]) for name in types}
    whole = {name: column for name in types if (column := _whole(name, types[name], values[name])) is not None}
    step = count if len(whole) == len(types) else _RECORDS_AT_ONCE
    for start in range(0, count, max(1, step)):
        stop = min(count, start + step)
        parts = []
        for name, type_ in types.items():
            column, first = whole.get(name), 0
            if column is None:
                column, first = column_of_values(name, type_, _listed(values[name], start, stop)), start
            if not type_.nullable and column.present is not None and not column.present.all():
                record = first + int(np.flatnonzero(~column.present)[0])
                raise SchemaMismatchError(f"Field '{name}' is never absent in the table; give value {record} of the batch")
            parts.append(Part(column, first, type_.is_variable))
        yield parts, start, stop


def _whole(name: str, type_: ColumnType, values: Any) -> Column | None:
    """Returns a column of what has arrays; ``None`` of a list."""
    if type_.nested:
        raise ValueError(f"Field '{name}' is nested ({type_}), which Python does not write; write it with Spark or Java")
    if isinstance(values, ArrowColumn):
        return values.column(name, type_)
    if isinstance(values, Ragged):
        return column_of_ragged(name, type_, values)
    return column_of_array(name, type_, values) if isinstance(values, np.ndarray) else None


def _listed(values: Any, start: int, stop: int) -> Sequence[Any]:
    found: Sequence[Any] = values[start:stop]
    if isinstance(values, Field) and values.spec.is_array:
        present = values.validity(slice(start, stop))
        return [value if there else None for value, there in zip(found, present)]
    return found


def _plain(name: str, values: Any) -> Any:
    """Returns an array, a column of Arrow, or a sequence of values."""
    # An Arrow array as one of NumPy would have NaN for what is absent. A series of pandas may be an array of NumPy.
    if is_arrow(values) and not isinstance(getattr(values, "dtype", None), np.dtype):
        return arrow_column(name, values)
    if not isinstance(values, (np.ndarray, list, tuple, Ragged, ArrowColumn, Field)):
        values = np.asarray(values) if hasattr(values, "__array__") else list(values)
    if isinstance(values, np.ndarray) and values.dtype == object:
        if values.ndim != 1:
            raise ValueError(f"An array of objects has {values.ndim} dimensions; give a list of arrays")
        return values.tolist()
    return values
