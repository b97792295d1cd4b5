"""A dataset: a number of records with named fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

import numpy as np

from zrecord._declarations import NOTHING, Declarations
from zrecord._field import Field, indices_of, is_index
from zrecord._location import Location
from zrecord._remote import FIELDS, RemotePath
from zrecord._remote_field import field_at
from zrecord._schema import FieldSpec, UnreadableField
from zrecord._source import Source


class Dataset:
    """One version of a table, or the state of a store that was committed when it was opened.

    ``dataset["image"]`` is a field. ``dataset[5]`` is a record, a dict of values; ``dataset[[5, 1, 5]]``, ``dataset[a:b]`` and
    ``dataset[mask]`` are dicts of the fields' values. Nothing needs to be closed: maps live as long as the values
    that are read from them. Threads may share a dataset. A pickled dataset is opened again; the pickle has the storage options.
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

    @property
    def fields(self) -> Mapping[str, FieldSpec]:
        """Returns the fields by name, in order."""
        return MappingProxyType({name: field.spec for name, field in self._fields.items()})

    @property
    def declarations(self) -> Declarations:
        """Returns what the table says of itself: comment, properties, write order and constraints. A store says nothing."""
        return self._declarations

    @cached_property
    def records_digest(self) -> str | None:
        """Returns the digest of the records of a store, of 16 hexadecimal digits; ``None`` for a table, which has a commit."""
        return None if self._digest is None else self._digest()

    @property
    def index_map(self) -> Field | None:
        """Returns the index that each record of the version before has in this one; ``None`` unless this version reorders it."""
        return self._index_map

    def __len__(self) -> int:
        return self._length

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __repr__(self) -> str:
        of_version = "" if self.version is None else f" version {self.version}"
        return f"<zrecord.Dataset {self.path}{of_version}: {len(self)} records of {', '.join(self._fields)}>"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._field(key)
        if is_index(key):
            return self._of_each(self._fields.values(), lambda field: field[key])
        return self.gather(key)

    def gather(self, key: Any, fields: Iterable[str] | None = None) -> dict[str, Any]:
        """Returns the values of the named fields, or of all, at a slice, a list or array of indices, or a mask."""
        wanted = [self._field(name) for name in (self._fields if fields is None else fields)]
        if isinstance(key, slice):
            return self._of_each(wanted, lambda field: field[key])
        indices = indices_of(key, self._length, lambda: f"dataset {self.path}")
        return self._of_each(wanted, lambda field: field.gather(indices))

    def __reduce__(self) -> tuple[Callable[..., Dataset], tuple[Any, ...]]:
        return self._reopen

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
