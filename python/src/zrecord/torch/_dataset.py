"""A dataset for ``DataLoader`` that reads a batch at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np

import zrecord
from zrecord._field import Field
from zrecord._indexing import is_index, names_of
from zrecord._location import is_remote, local_path
from zrecord._open import Verify
from zrecord._shown import line
from zrecord._versions import Time
from zrecord.errors import NotADatasetError
from zrecord.samplers._mixing import Indices
from zrecord.torch._batch import Batch, BatchIndices


class Dataset:
    """The records of a dataset, for ``torch.utils.data.DataLoader``; give it ``collate_fn=zrecord.torch.collate``.

    A batch is read by one gather for each field. Threads may share it. Workers that are forked share the maps of the files.
    Workers that are spawned, and other processes that unpickle it, open the dataset again by its absolute path, at the same
    version; a store that has changed meanwhile is refused. The pickle has the storage options.

    :param data: a path, a URL, or a dataset that is open
    :param fields: the names of the fields to read, by default all
    :param version: as in ``zrecord.open``, and so are ``tag``, ``at``, ``verify`` and ``storage_options``; for a path only
    """

    def __init__(
        self,
        data: zrecord.Dataset | str | os.PathLike[str],
        fields: Iterable[str] | None = None,
        *,
        version: int | None = None,
        verify: Verify | None = None,
        storage_options: Mapping[str, Any] | None = None,
        tag: str | None = None,
        at: Time | None = None,
    ) -> None:
        names = None if fields is None else names_of(fields)
        if isinstance(data, zrecord.Dataset):
            if any(option is not None for option in (version, verify, storage_options, tag, at)):
                raise ValueError("version, tag, at, verify and storage_options are for a path; give them to zrecord.open")
            self._data = data
        else:
            path = data if isinstance(data, str) and is_remote(data) else local_path(data).absolute()
            self._data = zrecord.open(path, version, "first" if verify is None else verify, storage_options, tag=tag, at=at)
        self._fields: dict[str, Field] = {name: self._data[name] for name in (self._data.fields if names is None else names)}
        self._bfloat16 = frozenset(name for name, field in self._fields.items() if field.spec.dtype == "bf16")

    @property
    def data(self) -> zrecord.Dataset:
        """Returns the dataset of NumPy arrays."""
        return self._data

    @property
    def records_version(self) -> int | None:
        """Returns the newest version that changed records; ``None`` for a store."""
        return self._data.records_version

    @property
    def records_commit(self) -> UUID | None:
        """Returns the commit of that version; ``None`` for a store."""
        return self._data.records_commit

    @property
    def records_digest(self) -> str | None:
        """Returns the digest of the records of a store, or of a part of a dataset; ``None`` for a whole table."""
        return self._data.records_digest

    def keeps_records_of(self, version: int, commit: UUID) -> bool:
        """Tells whether an earlier version had the same records at the same indices; see ``zrecord.Dataset``."""
        return self._data.keeps_records_of(version, commit)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, index: Any) -> dict[str, Any]:
        """Returns a record, a dict of values; or a batch, for a list of indices as ``__getitems__`` takes it."""
        if is_index(index):
            return {name: field[index] for name, field in self._fields.items()}
        return self.__getitems__(index)

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        """Returns the records at indices in ``[0, len)``, in this order, as a batch of arrays; ``DataLoader`` calls this.

        Raises ``IndexError`` for other indices.
        """
        index = self._checked(indices.array if isinstance(indices, BatchIndices) else np.asarray(indices))
        batch = Batch(self._data._of_each(self._fields.values(), lambda field: field._at(index)), index)
        for name, field in self._fields.items():
            if field.spec.is_array:
                absent = field.absent(index)
                if absent is not None:
                    batch.marks[name] = absent
        if isinstance(indices, BatchIndices):
            batch.epoch, batch.state = indices.epoch, indices.state
        batch.bfloat16 = self._bfloat16
        return batch

    def _checked(self, indices: np.ndarray[Any, Any]) -> Indices:
        if indices.ndim != 1 or (indices.dtype.kind not in "iu" and indices.size):
            raise IndexError(
                f"{self!r} is indexed by a number or a list of whole numbers, not by {indices.dtype} of {indices.shape}"
            )
        if indices.size and not 0 <= indices.min() <= indices.max() < len(self):
            wrong = indices.min() if indices.min() < 0 else indices.max()
            raise IndexError(f"Index {wrong} is out of range for {self!r}; indices are in [0, {len(self)})")
        return indices.astype(np.int64)  # a copy, which may be changed as BatchIndices.array may not

    def __repr__(self) -> str:
        return f"<zrecord.torch.Dataset of {self._data!r}: {', '.join(map(line, self._fields))}>"

    def __reduce__(self) -> tuple[Callable[..., Dataset], tuple[Any, ...]]:
        expected = _records_of(self._data)
        return _reopened, (self._data, list(self._fields), expected)


def _records_of(data: zrecord.Dataset) -> tuple[Any, ...]:
    """Returns what tells the records of a dataset from others."""
    return len(data), data.records_version, data.records_commit, data.records_digest


def _named(length: int, version: int | None, commit: UUID | None, digest: str | None) -> str:
    return f"{length} records of " + (
        f"version {version} and commit {commit}" if digest is None else f"a store with digest {digest}"
    )


def _reopened(data: zrecord.Dataset, fields: list[str], expected: tuple[Any, ...]) -> Dataset:
    found = _records_of(data)
    if found != expected:
        raise NotADatasetError(
            f"Cannot open {data.path} again: it has {_named(*found)} instead of {_named(*expected)}; make a table of a store "
            "that is written while it is read, and do not replace a table that is read",
            data.path,
        )
    return Dataset(data, fields)
