"""A field of a dataset, indexed as a NumPy array is."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from zrecord._columns import Column
from zrecord._condition import Comparison, Condition, IsAbsent, IsIn
from zrecord._crc32c import Bytes
from zrecord._dense import Dense
from zrecord._fork_lock import ForkLock
from zrecord._indexing import indices_of, is_basic, is_index, split_key
from zrecord._runs import MappedRuns
from zrecord._schema import FieldSpec
from zrecord._source import Source
from zrecord._values import shown, to_array, to_value
from zrecord.errors import CorruptDataError

Array = np.ndarray[Any, Any]
_ALL = slice(None)
#: The sign of a comparison whose sides are exchanged.
_MIRRORED: dict[np.ufunc, str] = {
    np.equal: "==",
    np.not_equal: "!=",
    np.less: ">",
    np.less_equal: ">=",
    np.greater: "<",
    np.greater_equal: "<=",
}


class Field:
    """The values of a field. Threads may share it. A pickled field opens its dataset again, at the same version.

    ``field[i]`` is one value, ``None`` if it is absent. ``field[a:b]``, ``field[[5, 1, 5]]`` and ``field[mask]`` are many, in the
    requested order. If all values have one width, they are one array of the shape ``(k, *shape)``, with zeros for absent
    values (see ``validity``). Otherwise they are a list, with ``None`` for absent values. Tensors of variable length,
    bytes, text and decimals make lists.

    A field that makes arrays takes the tuples and ``...`` of NumPy: ``field[1:5, 2]``, ``field[..., 0]``,
    ``field[[3, 1], :, 0]``. The records that the first part names are read whole.

    ``field == 3``, ``<``, ``isin`` and the like read nothing. They make a condition for ``Dataset.where``.
    """

    def __init__(self, path: str, spec: FieldSpec, sources: Sequence[Source], starts: Array, verify: str) -> None:
        self.spec = spec
        self._path = path
        self._sources = sources
        self._starts = starts
        self._verify = verify
        self._length = int(starts[-1])
        self._columns: list[Column | None] = [None] * len(sources)
        self._width = spec.width or 0
        self._stored = spec.stored_dtype
        self._is_array = spec.is_array
        self._is_plain = spec.stored_dtype == spec.numpy_dtype
        self._dense: Dense | None = None
        self._lock = ForkLock()
        #: What ``pickle`` opens the dataset with, and the name of the field; ``None`` for the index map.
        self._pickled: tuple[Callable[..., Any], tuple[Any, ...], str | None] | None = None

    @property
    def name(self) -> str:
        """The name of the field."""
        return self.spec.name

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the arrays that are returned; ``object`` for bytes, text and decimals."""
        return self.spec.numpy_dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of records, then the shape of a value; -1 is a dimension that differs from value to value."""
        return (self._length, *self.spec.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"<zrecord.Field {self.spec.name!r} {self.spec.dtype} {self.shape} of {self._path}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Returns all values; NumPy calls this. A field that makes lists returns an array of objects.

        Raises ``ValueError`` with ``copy=False`` if the values have to be copied for another ``dtype``, or from a list.
        """
        values = self[:]
        if copy is False and (isinstance(values, list) or np.dtype(dtype or values.dtype) != values.dtype):
            raise ValueError(f"{self._what()} cannot be an array of {dtype} without a copy; leave copy=False out")
        if isinstance(values, list):
            array = np.empty(len(values), object)
            for i, value in enumerate(values):
                array[i] = value  # given all at once, NumPy would stack arrays of one shape
            values = array
        return np.array(values, dtype) if copy else np.asarray(values, dtype)

    def __reduce__(self) -> Any:
        if self._pickled is None:
            raise TypeError(f"{self!r} belongs to no dataset that could be opened again")
        return _opened_again, self._pickled

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._slice(*key.indices(self._length))
        if is_index(key):
            return self._value(operator.index(key))
        if key is Ellipsis or isinstance(key, tuple):
            return self._within(key)
        return self._at(indices_of(key, self._length, self._what))

    def gather(self, key: Any) -> Any:
        """Returns the values at a key, as ``field[key]`` does."""
        return self[key]

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return Comparison(self.spec, "==", value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return Comparison(self.spec, "!=", value)

    def __lt__(self, value: Any) -> Condition:
        return Comparison(self.spec, "<", value)

    def __le__(self, value: Any) -> Condition:
        return Comparison(self.spec, "<=", value)

    def __gt__(self, value: Any) -> Condition:
        return Comparison(self.spec, ">", value)

    def __ge__(self, value: Any) -> Condition:
        return Comparison(self.spec, ">=", value)

    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Makes a condition of ``number < field`` for a number of NumPy, as for one of Python; other functions get arrays."""
        if method == "__call__" and ufunc in _MIRRORED and not options and inputs[1] is self and np.ndim(inputs[0]) == 0:
            return Comparison(self.spec, _MIRRORED[ufunc], inputs[0])
        return getattr(ufunc, method)(*(np.asarray(each) if isinstance(each, Field) else each for each in inputs), **options)

    def isin(self, values: Iterable[Any]) -> Condition:
        """Returns the condition that the value is one of these."""
        return IsIn(self.spec, values)

    def is_absent(self) -> Condition:
        """Returns the condition that there is no value. ``~field.is_absent()`` is the opposite."""
        return IsAbsent(self.spec)

    def to_arrow(self) -> Any:
        """Returns all values as a ``pyarrow.ChunkedArray``; see ``Dataset.to_arrow``."""
        # A module above this one: imported when it is needed.
        from zrecord._arrow import chunked

        return chunked(self)

    def validity(self, key: Any = _ALL) -> Array:
        """Tells which of the values at an index are present, as an array of bool."""
        if key is Ellipsis:
            key = _ALL
        if isinstance(key, slice):
            indices = np.arange(*key.indices(self._length), dtype=np.int64)
        else:
            indices = np.atleast_1d(indices_of(key, self._length, self._what))
        return self._present(indices.reshape(-1)).reshape(indices.shape)

    def _present(self, indices: Array) -> Array:
        """Tells which of the values at indices of one dimension, each from 0 on, are present."""
        result = np.zeros(indices.size, bool)
        self._in_shards(indices, lambda column, at, local: result.__setitem__(at, column.present(local)))
        return result

    def absent(self, indices: Array) -> Array | None:
        """Tells which of the values at indices of one dimension, each from 0 on, are absent; ``None`` if all are present."""
        dense = self._dense
        if not self.spec.nullable or not indices.size or (dense is not None and dense.is_complete and dense.is_full):
            return None
        absent = ~self._present(indices)
        return absent if absent.any() else None

    def _close(self) -> None:
        """Gives up the files. Values that are read afterwards raise ``ValueError``."""
        closed = _Closed(f"Cannot read {self._what()}: the dataset is closed; open it again")
        with self._lock.of_process():
            self._columns = self._sources = closed
            self._dense = None

    def _what(self) -> str:
        return f"field '{self.spec.name}' of {self._path}"

    def _at(self, indices: Array) -> Any:
        """Returns the values at indices from ``indices_of``, in their order, with duplicates."""
        flat = indices.reshape(-1)
        if not self._is_array:
            if indices.ndim != 1:
                raise IndexError(f"{self._what()} makes lists, which need indices of one dimension, not {indices.ndim}")
            return self._list(flat)
        array = self._gather(flat)
        return array if indices.ndim == 1 else array.reshape(*indices.shape, *self.spec.shape)

    def _within(self, key: Any) -> Any:
        """Returns what a tuple or an ellipsis means to an array of all values."""
        if not self._is_array:
            records, rest = split_key(key, 1, lambda: f"{self._what()} makes lists: it")
            if any(part is not Ellipsis for part in rest):
                raise IndexError(f"{self._what()} makes lists, which take no new axis; index it by record")
            return self[records]
        records, rest = split_key(key, self.ndim, self._what)
        if isinstance(records, slice):
            return self[records][(_ALL, *rest)]
        if is_index(records):
            value = self[records]
            return value[None][(0, *rest)] if rest and value is not None else value
        indices = indices_of(records, self._length, self._what)
        rows = self._at(indices.reshape(-1))
        if indices.ndim == 1 and all(map(is_basic, rest)):
            return rows[(_ALL, *rest)]
        return rows[(np.arange(indices.size).reshape(indices.shape), *rest)]

    def _value(self, index: int) -> Any:
        if not -self._length <= index < self._length:
            raise IndexError(f"Index {index} is out of range for {self._what()}, which has {self._length} records")
        index %= self._length
        shard = int(self._starts.searchsorted(index, "right")) - 1
        column, local = self._column(shard), index - int(self._starts[shard])
        if isinstance(column, MappedRuns) and column.is_full:
            value: bytes | Bytes | None = column.view(local, local + 1)
        else:
            value = column.values(np.array([local]))[0]
        return None if value is None else self._projected(index, value)

    def _slice(self, start: int, stop: int, step: int) -> Any:
        if self._is_array and self._width and step > 0 and start < stop:
            shard = int(self._starts.searchsorted(start, "right")) - 1
            first = int(self._starts[shard])
            column = self._column(shard)
            if stop <= self._starts[shard + 1] and isinstance(column, MappedRuns):
                raw = column.view(start - first, stop - first)
                if raw is not None:
                    stored = raw.view(self._stored).reshape(stop - start, *self.spec.shape)
                    return shown(self.spec, stored[::step])
        return self._at(np.arange(start, stop, step, dtype=np.int64))

    def _gather(self, indices: Array) -> Array:
        if not self._width or not indices.size:
            return np.zeros((indices.size, *self.spec.shape), self.dtype)
        dense = self._dense or self._lay(indices)
        runs = dense.runs(indices)
        if not (dense.is_complete or dense.is_direct[runs].all()):
            dense = self._lay(indices)
            runs = dense.runs(indices)
            if not dense.is_direct[runs].all():
                return self._gather_by_shard(indices)
        if dense.unsettled:
            self._check(dense, indices)
        rows = dense.gather(indices, runs)
        if self._is_plain:
            return np.ndarray((indices.size, *self.spec.shape), self._stored, rows)
        return to_array(self.spec, rows.view(np.uint8).reshape(-1), indices.size)

    def _gather_by_shard(self, indices: Array) -> Array:
        raw = np.zeros((indices.size, self._width), np.uint8)

        def copy(column: Column, at: Array, local: Array) -> None:
            raw[at] = column.fixed(local).reshape(-1, self._width)

        self._in_shards_of_values(indices, copy)
        return to_array(self.spec, raw.reshape(-1), indices.size)

    def _lay(self, indices: Array) -> Dense:
        """Opens the shards of these records, and lays the runs of all open shards end to end."""
        with self._lock.of_process():
            shards = np.unique(self._starts.searchsorted(indices, "right") - 1).tolist()
            if self._dense is None or any(self._columns[shard] is None for shard in shards):
                for shard in shards:
                    self._column(shard)
                self._dense = self._laid()
            return self._dense

    def _laid(self) -> Dense:
        columns = [column if isinstance(column, MappedRuns) else None for column in self._columns]
        return Dense(columns, self._starts, self._width)

    def _check(self, dense: Dense, indices: Array) -> None:
        for shard, column in dense.unsettled:
            start, stop = int(self._starts[shard]), int(self._starts[shard + 1])
            local = indices[(indices >= start) & (indices < stop)] - start
            if local.size:
                column.check(local)
        if all(column.is_settled for _, column in dense.unsettled):
            dense.unsettled.clear()

    def _list(self, indices: Array) -> list[Any]:
        values: list[Any] = [None] * indices.size

        def fill(column: Column, at: Array, local: Array) -> None:
            for i, value in zip(at.tolist(), column.values(local)):
                values[i] = None if value is None else self._projected(int(indices[i]), value)

        self._in_shards_of_values(indices, fill)
        return values

    def _in_shards_of_values(self, indices: Array, use: Callable[[Column, Array, Array], None]) -> None:
        """Does what ``_in_shards`` does, for a use that reads values."""
        self._in_shards(indices, use)

    def _in_shards(self, indices: Array, use: Callable[[Column, Array, Array], None]) -> None:
        """Calls ``use`` for each shard with its column, its records' places in ``indices``, and their indices in it."""
        shards = self._starts.searchsorted(indices, "right") - 1
        for shard in np.unique(shards).tolist():
            at = np.flatnonzero(shards == shard)
            use(self._column(shard), at, indices[at] - int(self._starts[shard]))

    def _column(self, shard: int) -> Column:
        column = self._columns[shard]
        if column is None:
            column = self._columns[shard] = self._sources[shard].column(self.spec, self._verify)
        return column

    def _projected(self, index: int, value: bytes | Bytes) -> Any:
        try:
            return to_value(self.spec, value)
        except ValueError as e:
            raise CorruptDataError(f"Cannot read record {index} of {self._what()}: {e}", self._path) from e


def _opened_again(function: Callable[..., Any], arguments: tuple[Any, ...], name: str | None) -> Any:
    data = function(*arguments)
    return data.index_map if name is None else data[name]


class _Closed(list[Any]):
    """Stands where the shards of a field were."""

    def __init__(self, message: str) -> None:
        super().__init__()
        self._message = message

    def __getitem__(self, key: Any) -> Any:
        raise ValueError(self._message)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise ValueError(self._message)
