"""Opens datasets of both shapes (FORMAT.md section 1)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, SupportsIndex

from zrecord._columns import VERIFY
from zrecord._dataset import Dataset
from zrecord._files import read_bytes
from zrecord._location import Location, locate
from zrecord._remote import RemotePath
from zrecord._sealed import MAX_BYTES
from zrecord._shard import META_FILE
from zrecord._store import read_store
from zrecord._table import has_versions, read_index_map, read_table
from zrecord._versions import Time, newest_at, tagged
from zrecord.errors import NotADatasetError, ZrecordError

#: When the checksums of values are compared.
Verify = Literal["first", "always", "never"]


def open(
    path: str | os.PathLike[str],
    version: SupportsIndex | None = None,
    verify: Verify = "first",
    storage_options: Mapping[str, Any] | None = None,
    *,
    tag: str | None = None,
    at: Time | None = None,
) -> Dataset:
    """Opens a dataset for reading.

    ``path`` is a local path, a ``file:`` URI, or a URL that fsspec opens, such as ``s3://bucket/train``; ``storage_options``
    are given to fsspec then. A relative path means the directory that is the current one now.

    One of ``version``, ``tag`` and ``at`` says which version of a table is read, or none for the newest. ``tag`` is the name of
    a version. ``at`` is a time, and the version that was the newest then is read: a ``datetime`` with a time zone, a text such
    as ``"2026-11-01T12:00:00Z"``, or ``np.datetime64``, which is in UTC.

    ``verify`` says when the checksums of values are compared: when this dataset touches a value ``first``, ``always``, or
    ``never``. Checksums of metadata are always compared.

    Raises ``NotADatasetError``, ``FormatError``, ``CorruptDataError``, for stores ``StoreBusyError``, and for URLs
    ``StorageError`` and ``MissingExtraError``.
    """
    if verify not in VERIFY:
        raise ValueError(f"verify is {verify!r}; expected one of {', '.join(VERIFY)}")
    number = _number(version, tag, at)
    root = locate(path, storage_options)
    if isinstance(root, RemotePath):
        return _open_remote(root, _chosen(root, number, tag, at), verify, (path, storage_options))
    root = root.absolute()
    if not root.is_dir():
        raise NotADatasetError(f"Cannot open dataset {root}: there is no such directory; check the path", root)
    has_meta = (root / META_FILE).is_file()
    if has_versions(root):
        return _open_table(root, _chosen(root, number, tag, at), verify, (root, None))
    if not has_meta:
        raise NotADatasetError(
            f"Cannot open dataset {root}: it has neither the manifest of a version nor a file '{META_FILE}'; check the path",
            root,
        )
    for what, given in (("version", version), ("tag", tag), ("time", at)):
        if given is not None:
            raise NotADatasetError(f"Cannot open {what} {given} of {root}: only tables have versions", root)
    source, fields, digest = read_store(root)
    return Dataset(root, None, fields, [], [source], verify, (open, (root, None, verify)), digest=digest)


def _number(version: SupportsIndex | None, tag: str | None, at: Time | None) -> int | None:
    """Returns the version as an ``int``, after a look at what names it."""
    given = [f"{name}={value!r}" for name, value in (("version", version), ("tag", tag), ("at", at)) if value is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} name a version each; give one of them")
    if version is None:
        return None
    if isinstance(version, bool) or not hasattr(version, "__index__"):
        remedy = f"; for a tag, give tag={version!r}" if isinstance(version, str) else ""
        raise TypeError(f"version is {version!r}, which is no whole number{remedy}")
    return version.__index__()


def _chosen(root: Location, version: int | None, tag: str | None, at: Time | None) -> int | None:
    """Returns the version that is named; ``None`` for the newest."""
    if tag is not None:
        return tagged(root, tag)
    return version if at is None else newest_at(root, at)


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
