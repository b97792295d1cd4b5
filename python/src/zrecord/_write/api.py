"""Creating, appending to, overwriting and changing tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from zrecord._write.batches import batches_of, length_of, type_of
from zrecord._write.results import Committed
from zrecord._write.types import ColumnType, parse
from zrecord._write.writer import Attempt, Mode, Writer, checked_options, engine_path, indices_column
from zrecord.errors import SchemaMismatchError

_INDEX = ColumnType("i64")


def create(
    path: str | os.PathLike[str],
    data: Any,
    *,
    schema: Mapping[str, str] | None = None,
    align_bytes: int = 8,
    transaction: str | None = None,
    engine_options: Mapping[str, str] | None = None,
) -> Committed:
    """Makes a table of ``data``, and returns its version.

    ``data`` is one of

    - a mapping of fields to values of the same records: NumPy arrays, whose first axis counts the records, lists, ``Ragged``
      or fields of a dataset
    - a list of records: a ``dict`` each, in which a field that is ``None`` or not there is absent
    - a structured array, whose members are the fields
    - a table, frame, batch or stream with Arrow's PyCapsule interface: of PyArrow, Polars, pandas and others
    - an iterable, such as a generator, of these, batch by batch: one is in memory at a time

    :param path: a directory that is empty or does not exist, or the URL of one, such as ``s3://bucket/train``
    :param schema: types by field, such as ``{"image": "u8[28,28]", "text": "utf8:zstd"}``; by default those of the first
        batch. An array must have the type as it is, and a list's values must fit it
    :param align_bytes: values of this many bytes or more begin at a multiple of it: a power of two from 8 to 1 MiB
    :param transaction: that of an earlier attempt whose outcome is unknown: if that one took effect, this does nothing
    :param engine_options: options of the engine's storage of a URL, such as ``endpoint``; credentials are those of the
        environment

    Masked values, ``NaT`` and ``None`` are absent. Raises ``DatasetExistsError`` if there is a table, and ``ValueError``
    with the field for values that do not fit. Nothing is committed then, nor if the call is interrupted before its commit.
    Threads may call this at once.
    """
    return _write(path, data, "create", schema, align_bytes, transaction, engine_options)


def append(
    path: str | os.PathLike[str],
    data: Any,
    *,
    schema: Mapping[str, str] | None = None,
    align_bytes: int = 8,
    transaction: str | None = None,
    engine_options: Mapping[str, str] | None = None,
) -> Committed:
    """Adds records to the end of a table, which is made if there is none, and returns the new version.

    ``data`` and the parameters are those of ``create``. Fields must be those of the table. Lists take its types, and arrays
    must have them. Of several appends at once each takes effect. Raises ``SchemaMismatchError`` with the field that the
    table does not have, that is missing, or that has another type.
    """
    return _write(path, data, "append", schema, align_bytes, transaction, engine_options)


def overwrite(
    path: str | os.PathLike[str],
    data: Any,
    *,
    schema: Mapping[str, str] | None = None,
    align_bytes: int = 8,
    transaction: str | None = None,
    engine_options: Mapping[str, str] | None = None,
) -> Committed:
    """Replaces the records and fields of a table, which is made if there is none, and returns the new version.

    Versions before can still be read. ``data`` and the parameters are those of ``create``. Raises ``CommitConflictError`` if
    another commit has changed records meanwhile.
    """
    return _write(path, data, "overwrite", schema, align_bytes, transaction, engine_options)


def writer(
    path: str | os.PathLike[str],
    mode: Mode = "append",
    *,
    schema: Mapping[str, str] | None = None,
    align_bytes: int = 8,
    transaction: str | None = None,
    engine_options: Mapping[str, str] | None = None,
) -> Writer:
    """Begins a write of several batches: ``with zrecord.writer(path) as w: w.write(batch)`` commits at the end.

    :param mode: ``create``, ``append`` or ``overwrite``

    The other parameters are those of ``create``.
    """
    return Writer(path, mode, schema=schema, align_bytes=align_bytes, transaction=transaction, engine_options=engine_options)


def _write(
    path: str | os.PathLike[str],
    data: Any,
    mode: Mode,
    schema: Mapping[str, str] | None,
    align_bytes: int,
    transaction: str | None,
    engine_options: Mapping[str, str] | None,
) -> Committed:
    with writer(
        path, mode, schema=schema, align_bytes=align_bytes, transaction=transaction, engine_options=engine_options
    ) as records:
        records.write(data)
        done = records.commit()
    if done is None:
        raise ValueError(f"There is no record and no field to write to {path}; give data with fields, or a schema")
    return done


def update(
    path: str | os.PathLike[str],
    indices: Any,
    values: Mapping[str, Any],
    *,
    version: int,
    engine_options: Mapping[str, str] | None = None,
) -> Committed:
    """Gives records other values, and returns the new version.

    :param indices: whole numbers, each from 0 to the length minus 1
    :param values: values by field, for each of the indices; ``None`` makes a value absent. Other fields stay as they are
    :param version: the version that the indices are of, such as ``zrecord.open(path).version``

    New values are in memory until the commit. Raises ``CommitConflictError`` if another commit has changed one of the records
    since that version, and ``IndexError``. A repeated call after ``CommitOutcomeUnknown`` is a conflict if the first one took
    effect.
    """
    if not isinstance(values, Mapping) or not values:
        raise ValueError(f"values are {values!r:.60}; give a mapping of fields to a value for each of the indices")
    return _change(path, "update", indices, values, version, engine_options)


def delete(
    path: str | os.PathLike[str], indices: Any, *, version: int, engine_options: Mapping[str, str] | None = None
) -> Committed:
    """Deletes records, and returns the new version, in which later records have lower indices.

    The parameters and exceptions are those of ``update``.
    """
    return _change(path, "delete", indices, {}, version, engine_options)


def _change(
    path: str | os.PathLike[str],
    mode: str,
    indices: Any,
    values: Mapping[str, Any],
    version: int,
    engine_options: Mapping[str, str] | None,
) -> Committed:
    column = indices_column(indices)
    if not len(column):
        raise ValueError("There are no indices; give one or more")
    if len(np.unique(column)) != len(column):
        raise ValueError("indices name a record twice; give each once")
    arguments = {"version": version, "storageOptions": checked_options(engine_options)}
    attempt = Attempt(engine_path(path), mode, arguments, None)
    try:
        known = attempt.fields or {}
        for name in values:
            if name not in known:
                raise SchemaMismatchError(f"Field '{name}' is not in {attempt.path}, whose fields are {list(known)}", attempt.path)
            if (given := length_of(name, values[name])) != len(column):
                raise ValueError(f"Field '{name}' has {given} values for {len(column)} indices; give one for each")
        low, high = int(column.min()), int(column.max())
        if low < 0 or high >= attempt.length:
            raise IndexError(
                f"Index {low if low < 0 else high} is out of range for version {version} of {attempt.path}, which has"
                f" {attempt.length} records"
            )
        attempt.send_fields({name: known[name] for name in values})
        # The engine takes the first column for the indices, whatever its name is.
        types = {"": _INDEX, **{name: known[name] for name in values}}
        attempt.send(types, {"": column, **values})
        return attempt.commit()
    finally:
        attempt.abort()


def add_field(
    path: str | os.PathLike[str],
    name: str,
    values: Any,
    *,
    type: str | None = None,
    engine_options: Mapping[str, str] | None = None,
) -> Committed:
    """Adds a field with a value for each record of the newest version, and returns the new version.

    No file that is there changes. ``values`` are a column as ``create`` takes it, or an iterable of such columns, one after
    the other. Raises ``CommitConflictError`` if another commit has added or changed records or fields meanwhile.

    :param type: such as ``f32`` or ``u8[28,28]:zstd``; by default that of the values
    """
    if not isinstance(values, Iterable):
        length_of(name, values)
    attempt = Attempt(engine_path(path), "add_fields", {"storageOptions": checked_options(engine_options)}, None)
    try:
        known: dict[str, ColumnType] = {} if type is None else {name: parse(name, type)}
        is_begun = False
        whole = isinstance(values, (list, tuple)) or hasattr(values, "__len__")
        for batch in batches_of({name: values} if whole else ({name: part} for part in values)):
            known = known or {name: type_of(name, batch[name])}
            if not is_begun:
                attempt.send_fields(known)
                is_begun = True
            attempt.send(known, batch)
        if not is_begun:
            raise ValueError(f"There is no value of field '{name}'; give one for each of the {attempt.length} records")
        return attempt.commit()
    finally:
        attempt.abort()
