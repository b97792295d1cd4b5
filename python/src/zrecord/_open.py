"""Opens datasets of both shapes (FORMAT.md section 1)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from zrecord._columns import VERIFY
from zrecord._dataset import Dataset
from zrecord._files import read_bytes
from zrecord._location import Location, locate
from zrecord._remote import RemotePath
from zrecord._sealed import MAX_BYTES
from zrecord._shard import META_FILE
from zrecord._store import read_store
from zrecord._table import has_versions, read_index_map, read_table
from zrecord.errors import NotADatasetError, ZrecordError


def open(
    path: str | os.PathLike[str],
    version: int | None = None,
    verify: str = "first",
    storage_options: Mapping[str, Any] | None = None,
) -> Dataset:
    """Opens a dataset for reading.

    ``path`` is a local path, a ``file:`` URI, or a URL that fsspec opens, such as ``s3://bucket/train``; ``storage_options``
    are given to fsspec then. ``version`` is a version of a table, the newest if ``None``. ``verify`` says when the checksums
    of values are compared: when this dataset touches a value ``first``, ``always``, or ``never``. Checksums of metadata are
    always compared.

    Raises ``NotADatasetError``, ``FormatError``, ``CorruptDataError``, for stores ``StoreBusyError``, and for URLs
    ``StorageError`` and ``MissingExtraError``.
    """
    if verify not in VERIFY:
        raise ValueError(f"verify is {verify!r}; expected one of {', '.join(VERIFY)}")
    root = locate(path, storage_options)
    if isinstance(root, RemotePath):
        return _open_remote(root, version, verify, (path, storage_options))
    if not root.is_dir():
        raise NotADatasetError(f"Cannot open dataset {root}: there is no such directory; check the path", root)
    has_meta = (root / META_FILE).is_file()
    if has_versions(root):
        return _open_table(root, version, verify, (root.absolute(), None))
    if not has_meta:
        raise NotADatasetError(
            f"Cannot open dataset {root}: it has neither the manifest of a version nor a file '{META_FILE}'; check the path",
            root,
        )
    if version is not None:
        raise NotADatasetError(f"Cannot open version {version} of {root}: only tables have versions", root)
    source, fields, digest = read_store(root)
    return Dataset(root, None, fields, [], [source], verify, (open, (root.absolute(), None, verify)), digest=digest)


def _open_table(root: Location, version: int | None, verify: str, named: tuple[Any, Any]) -> Dataset:
    found = read_table(root, version)
    index_map = None if found.index_map is None else read_index_map(root, found.index_map, verify)
    reopen = (open, (named[0], found.version, verify, named[1]))
    return Dataset(
        root,
        found.version,
        found.fields,
        found.unreadable,
        found.shards,
        verify,
        reopen,
        index_map,
        found.declarations,
        found.records,
    )


def _open_remote(root: RemotePath, version: int | None, verify: str, named: tuple[Any, Any]) -> Dataset:
    try:
        return _open_table(root, version, verify, named)
    except NotADatasetError:
        try:
            read_bytes(root / META_FILE, MAX_BYTES)
        except ZrecordError:
            pass
        else:
            raise NotADatasetError(f"Cannot open dataset {root}: a store is read where it is; make a table of it", root) from None
        raise
