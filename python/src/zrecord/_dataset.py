"""A dataset: a number of records with named fields."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from functools import cached_property
from pathlib import Path
from types import EllipsisType, MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, SupportsIndex, overload
from uuid import UUID

import numpy as np
from numpy.typing import ArrayLike

from zrecord import _shown, _where
from zrecord._condition import Condition
from zrecord._declarations import NOTHING, Declarations
from zrecord._field import Field
from zrecord._indexing import indices_of, is_index, names_of
from zrecord._location import Location
from zrecord._remote import FIELDS, RemotePath
from zrecord._remote_field import field_at
from zrecord._schema import FieldSpec, UnreadableField
from zrecord._source import Source
from zrecord._steps import bytes_of, in_steps
from zrecord._versions import Tag, Version, keeps_records, list_tags, list_versions
from zrecord._view import FieldView, Rows, as_key, digest_of, is_all, joined, rows_of
from zrecord.errors import NotADatasetError

if TYPE_CHECKING:
    import zrecord.torch

Array = np.ndarray[Any, Any]
#: Values by the names of fields: of one record, or of several.
Record = dict[str, Any]
#: What several records are named by: a slice, indices, or a mask.
Records = slice | EllipsisType | Sequence[SupportsIndex] | Array
#: The number of records, and the version and commit that made them, ``None`` for a store.
_Known = tuple[int, int | None, UUID | None]
_ITERATED_BYTES = 4 << 20
_ITERATED_RECORDS = 256


class Dataset:
    """One version of a table, or the state of a store that was committed when it was opened; or a part of either.

    It is a sequence of records that is also indexed by the names of its fields:

    - ``len(data)``, ``for record in data``, ``reversed(data)``, ``list(data)`` and ``data[5]`` are about records. A record is a
      dict of values. ``data[[5, 1, 5]]``, ``data[a:b]``, ``data[mask]`` and ``data[...]`` are dicts of the fields' values.
    - ``data["image"]`` is a field. ``"image" in data``, ``keys``, ``values``, ``items``, ``fields`` and ``dict(data)`` are about
      fields.

    ``take``, ``select`` and ``where`` give parts, which are datasets that read from this one.

    Nothing needs to be closed: maps live as long as the values that are read from them. Threads may share a dataset. A pickled
    dataset is opened again, by its absolute path and at the same version; the pickle has the storage options.
    """

    def __init__(
        self,
        path: Location,
        version: int | None,
        specs: Iterable[FieldSpec],
        unreadable: Iterable[UnreadableField],
        sources: list[Source],
        verify: str,
        reopen: tuple[Callable[..., Dataset], tuple[Any, ...]],
        index_map: Field | None = None,
        declarations: Declarations = NOTHING,
        records: tuple[int | None, UUID | None] = (None, None),
        digest: Callable[[], str] | None = None,
    ) -> None:
        self._location = path
        self._remote = path.remote if isinstance(path, RemotePath) else None
        self.path: Path | str = str(path) if isinstance(path, RemotePath) else path
        self.version = version
        #: Number and commit of the newest version that changed records; ``None`` for a store. Tags and expiries leave them.
        self.records_version, self.records_commit = records
        starts = np.zeros(len(sources) + 1, np.int64)
        np.cumsum([source.length for source in sources], out=starts[1:])
        self._length = int(starts[-1])
        self._fields = {spec.name: field_at(path, spec, sources, starts, verify) for spec in specs}
        self._unreadable = {field.name: field for field in unreadable}
        self._reopen = reopen
        self._index_map = index_map
        self._declarations = declarations
        self._digest = digest
        #: The dataset that this one is a part of, and which of its records are here.
        self._whole: Dataset | None = None
        self._rows: Rows = range(self._length)
        self._name_pickles()

    @property
    def fields(self) -> Mapping[str, FieldSpec]:
        """Returns the fields by name, in order."""
        return MappingProxyType({name: field.spec for name, field in self._fields.items()})

    def keys(self) -> KeysView[str]:
        """Returns the names of the fields, in order."""
        return self._fields.keys()

    def values(self) -> ValuesView[Field]:
        """Returns the fields, in order."""
        return self._fields.values()

    def items(self) -> ItemsView[str, Field]:
        """Returns pairs of a name and its field, in order."""
        return self._fields.items()

    @property
    def declarations(self) -> Declarations:
        """Returns what the table says of itself: comment, properties, write order and constraints. A store says nothing."""
        return self._declarations

    @cached_property
    def records_digest(self) -> str | None:
        """Returns the digest of the records of a store, of 16 hexadecimal digits; ``None`` for a table, which has a commit.

        That of a part of a dataset tells which records it has.
        """
        own = None if self._digest is None else self._digest()
        if self._whole is None or is_all(self._rows, len(self._whole)):
            return own
        return digest_of(self._rows) if own is None else f"{own}/{digest_of(self._rows)}"

    @property
    def index_map(self) -> Field | None:
        """Returns the index that each record of the version before has in this one; ``None`` unless this version reorders it.

        A part of a dataset has none.
        """
        return self._index_map

    @property
    def indices(self) -> Array:
        """Returns the index of each record in the version of the table, or in the store, as an array of int64."""
        return np.arange(self._rows.start, self._rows.stop, self._rows.step) if isinstance(self._rows, range) else self._rows.copy()

    def versions(self) -> list[Version]:
        """Reads the versions of the table that can be read now, from the oldest to the newest. Reads each manifest.

        Raises ``NotADatasetError`` for a store, or if the table was dropped.
        """
        return list_versions(self._table_of("versions"))

    def tags(self) -> list[Tag]:
        """Reads the tags that the table has now, by name. Raises ``NotADatasetError`` as ``versions`` does."""
        return list_tags(self._table_of("tags"))

    def __len__(self) -> int:
        return self._length

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __repr__(self) -> str:
        return f"<zrecord.Dataset {self._title()} of {', '.join(map(_shown.line, self._fields))}>"

    def __str__(self) -> str:
        return _shown.as_text(f"zrecord.Dataset {self._title()}", self.fields, self._features())

    def _repr_html_(self) -> str:
        return _shown.as_html(f"zrecord.Dataset {self._title()}", self._length, self.fields, self._features())

    @overload
    def __getitem__(self, key: str) -> Field: ...

    @overload
    def __getitem__(self, key: SupportsIndex | Records) -> Record: ...

    def __getitem__(self, key: Any) -> Any:
        return self._field(key) if isinstance(key, str) else self.gather(key)

    def __iter__(self) -> Iterator[Record]:
        """Yields the records, each a dict of values with ``None`` for absent ones. Reads some records ahead, of at most 4 MiB."""
        specs = [field.spec for field in self._fields.values()]

        def read(records: range) -> dict[str, list[Any]]:
            indices = np.arange(records.start, records.stop)
            return self._of_each(self._fields.values(), lambda field: field._list(indices))

        def size(found: dict[str, list[Any]]) -> int:
            return sum(map(bytes_of, found.values()))

        for records, found in in_steps(self._length, specs, read, size, _ITERATED_BYTES, _ITERATED_RECORDS):
            for i in range(len(records)):
                yield {name: values[i] for name, values in found.items()}

    def gather(self, key: SupportsIndex | Records, fields: Iterable[str] | None = None) -> Record:
        """Returns the values of the named fields, or of all, by name.

        A number gives the values of one record, ``None`` for an absent one. A slice, a list or array of indices, or a mask gives
        arrays and lists as ``field[key]`` does.
        """
        wanted: Iterable[Field] = self._fields.values() if fields is None else [self._field(name) for name in names_of(fields)]
        if key is Ellipsis:
            key = slice(None)
        if isinstance(key, slice) or is_index(key):
            return self._of_each(wanted, lambda field: field[key])
        indices = indices_of(key, self._length, lambda: f"dataset {self.path}")
        return self._of_each(wanted, lambda field: field._at(indices))

    def select(self, fields: Iterable[str]) -> Dataset:
        """Returns the same records with some fields, in this order. Reads nothing.

        Raises ``KeyError`` for a name that is no field, and ``ValueError`` for one text and for a name that is there twice.
        """
        names = names_of(fields)
        if len(set(names)) != len(names):
            raise ValueError(f"fields names a field twice: {names!r:.200}; give each name once")
        return self._part({name: self._field(name) for name in names}, self._rows, {})

    def take(self, key: Records) -> Dataset:
        """Returns the records at a slice, a list or array of indices, or a mask, as a dataset. Reads nothing.

        The part has 8 bytes of memory for each record, unless it is a slice. Its records count from 0; ``indices`` tells which
        records they are in the table. Raises ``IndexError`` for one number, and for what is out of range.
        """
        rows = rows_of(key, self._length, lambda: f"dataset {self.path}")
        whole = self._whole or self
        kept = joined(self._rows, rows)
        fields = {name: FieldView(whole._field(name), kept) for name in self._fields}
        for name, field in fields.items():
            field._pickled = (_part_again, (whole, [name], kept, whole._records()), name)
        return self._part({**fields}, kept, self._unreadable)

    def where(
        self,
        condition: Condition | Callable[[Record], ArrayLike],
        fields: Iterable[str] | None = None,
    ) -> Dataset:
        """Returns the records that a condition is true of, in their order, as a dataset.

        Reads the fields of the condition now, some 16 MiB at a time, and no others. A condition is made by comparing fields:
        ``data.where((data["label"] == 3) & (data["weight"] < 0.5))``. A comparison with an absent value is not true.

        A function gets a dict of the values of consecutive records, as ``data[a:b]`` does, and returns a mask: an array of bool
        with a flag for each record. It is called once for each step. ``fields`` names what it gets, by default all fields.
        """
        if isinstance(condition, Condition):
            if fields is not None:
                raise ValueError(f"fields is {fields!r:.60}, but a condition names its own fields; leave fields out")
            needed = {name: self._field(name) for name in condition.fields}
            return self.take(_where.holds(self._length, needed, condition, self._reading))
        if not callable(condition):
            raise TypeError(f"where takes a condition or a function, not {type(condition).__name__}; for a mask, use take(mask)")
        needed = {name: self._field(name) for name in (self._fields if fields is None else names_of(fields))}
        return self.take(_where.chosen(self._length, needed, condition, self._reading))

    def to_arrow(self, fields: Iterable[str] | None = None, indices: Records | None = None) -> Any:
        """Returns a ``pyarrow.Table`` of the named fields, or of all, at a slice, indices or a mask, or of all records.

        Absent values and NaT are null. Tensors are lists of fixed sizes, or lists where a dimension varies; ``bf16`` is float32.
        Numbers of a local table are not copied where a batch lies in one run. Raises ``MissingExtraError`` without pyarrow.
        """
        return self.to_batches(fields, indices).read_all()

    def to_batches(
        self,
        fields: Iterable[str] | None = None,
        indices: Records | None = None,
        max_records: SupportsIndex | None = None,
    ) -> Any:
        """Returns a ``pyarrow.RecordBatchReader`` of what ``to_arrow`` returns, which reads some 16 MiB of values at a time.

        A batch has ``max_records`` records at most. Belongs to one thread.
        """
        # Slow to import.
        from zrecord._arrow import batches

        most = None if max_records is None else max_records.__index__()
        if most is not None and most < 1:
            raise ValueError(f"max_records is {most}; it must be 1 or more, or None")
        data = self if indices is None else self.take(indices)
        wanted = data if fields is None else data.select(fields)
        return batches(len(wanted), wanted._fields, wanted._reading, most)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns the records as a stream of Arrow, for DuckDB, polars and others. Each call makes another stream."""
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def to_pandas(self, fields: Iterable[str] | None = None, indices: Records | None = None) -> Any:
        """Returns a ``pandas.DataFrame`` of what ``to_arrow`` returns. Raises ``MissingExtraError`` without pyarrow or pandas."""
        from zrecord._arrow import require

        require("pandas", "pip install pandas")
        return self.to_arrow(fields, indices).to_pandas()

    def to_torch(self, fields: Iterable[str] | None = None) -> zrecord.torch.Dataset:
        """Returns a ``zrecord.torch.Dataset`` of the named fields, or of all."""
        import zrecord.torch

        return zrecord.torch.Dataset(self, fields)

    def keeps_records_of(self, version: int, commit: UUID) -> bool:
        """Tells whether an earlier version had the same records at the same indices. Reads the manifests in between.

        That is so if only rebalances, added fields, tags and the like came since. If a manifest in between was expired, it is not
        known, and the answer is no. A part of a dataset has other records than the dataset.
        """
        if self.version is None or not 0 <= version <= self.version:
            return False
        return keeps_records(self._location, self.version, (self.records_version, self.records_commit), version, commit)

    def close(self) -> None:
        """Gives up the files of the dataset and of its parts; reading a value then raises ``ValueError``.

        Values that were read stay. Closing twice does nothing, and so does closing a part.
        """
        if self._whole is None:
            for field in [*self._fields.values(), *([] if self._index_map is None else [self._index_map])]:
                field._close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Dataset], tuple[Any, ...]]:
        if self._whole is None:
            return self._again()
        return _part_again, (self._whole, list(self._fields), self._rows, self._whole._records())

    def _title(self) -> str:
        of_version = "" if self.version is None else f" version {self.version}"
        of_whole = "" if self._whole is None else f" of {len(self._whole):,}"
        return f"{self.path}{of_version}: {self._length:,}{of_whole} records"

    def _features(self) -> dict[str, str]:
        """Returns the features that fields need which cannot be read, by their names."""
        return {name: field.feature for name, field in self._unreadable.items()}

    def _table_of(self, what: str) -> Location:
        if self.version is None:
            raise NotADatasetError(f"Cannot list the {what} of {self.path}: only tables have {what}", self.path)
        return self._location

    def _part(self, fields: dict[str, Field], rows: Rows, unreadable: dict[str, UnreadableField]) -> Dataset:
        part = object.__new__(Dataset)
        part.__dict__.update(self.__dict__)
        part.__dict__.pop("records_digest", None)
        part._fields = fields
        part._whole = self._whole or self
        part._rows = rows
        part._length = len(rows)
        if not is_all(rows, len(part._whole)):
            part._index_map = None
        part._unreadable = unreadable
        return part

    def _name_pickles(self) -> None:
        for name, field in self._fields.items():
            field._pickled = (*self._again(), name)
        if self._index_map is not None:
            self._index_map._pickled = (*self._again(), None)

    def _again(self) -> tuple[Callable[..., Dataset], tuple[Any, ...]]:
        """Returns what opens the dataset again: a table only if it has the same records, and a store as it is then."""
        return self._reopen if self.version is None else (_whole_again, (*self._reopen, self._records()))

    def _records(self) -> _Known:
        return self._length, self.records_version, self.records_commit

    def _reading(self, fields: Mapping[str, Field], read: Callable[[Field], Any]) -> dict[str, Any]:
        return self._of_each(fields.values(), read)

    def _of_each(self, fields: Iterable[Field], read: Callable[[Field], Any]) -> dict[str, Any]:
        """Reads fields, remote ones side by side."""
        if self._remote is None:
            return {field.spec.name: read(field) for field in fields}
        every = list(fields)
        return dict(zip([field.spec.name for field in every], self._remote.map(FIELDS, read, every)))

    def _field(self, name: str) -> Field:
        try:
            return self._fields[name]
        except KeyError:
            if name in self._unreadable:
                raise self._unreadable[name].error(self.path) from None
            raise KeyError(f"Dataset {self.path} has no field {name!r}; it has {', '.join(self._fields)}") from None


def _whole_again(reopen: Callable[..., Dataset], arguments: tuple[Any, ...], known: _Known) -> Dataset:
    return _with_records(reopen(*arguments), known)


def _part_again(whole: Dataset, fields: list[str], rows: Rows, known: _Known) -> Dataset:
    _with_records(whole, known)
    part = whole if is_all(rows, len(whole)) else whole.take(as_key(rows))
    return part.select(fields)


def _with_records(data: Dataset, known: _Known) -> Dataset:
    """Returns a dataset that was opened again, if it has the records that it had."""
    found = data._records()
    if found != known:
        was, now = (f"{length} records of version {version} and commit {commit}" for length, version, commit in (known, found))
        raise NotADatasetError(
            f"Cannot open {data.path} again: it has {now} instead of {was}; make a table of a store that is written while it is "
            "read, and do not replace a table that is read",
            data.path,
        )
    return data
