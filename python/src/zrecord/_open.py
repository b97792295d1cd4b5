"""Opens datasets of both shapes (FORMAT.md section 1)."""

from __future__ import annotations

import os
from pathlib import Path

from zrecord._columns import VERIFY
from zrecord._dataset import Dataset
from zrecord._shard import META_FILE
from zrecord._store import read_store
from zrecord._table import has_versions, read_index_map, read_table
from zrecord.errors import NotADatasetError


def open(path: str | os.PathLike[str], version: int | None = None, verify: str = "first") -> Dataset:
    """Opens a dataset for reading.

    ``version`` is a version of a table, the newest if ``None``. ``verify`` says when the checksums of values are compared:
    when this dataset touches a value ``first``, ``always``, or ``never``. Checksums of metadata are always compared.

    Raises ``NotADatasetError``, ``FormatError``, ``CorruptDataError``, and for stores ``StoreBusyError``.
    """
    root = Path(path)
    if verify not in VERIFY:
        raise ValueError(f"verify is {verify!r}; expected one of {', '.join(VERIFY)}")
    if not root.is_dir():
        raise NotADatasetError(f"Cannot open dataset {root}: there is no such directory; check the path", root)
    has_meta = (root / META_FILE).is_file()
    if has_versions(root):
        found = read_table(root, version)
        index_map = None if found.index_map is None else read_index_map(root, found.index_map, verify)
        reopen = (open, (path, found.version, verify))
        return Dataset(root, found.version, found.fields, found.unreadable, found.shards, verify, reopen, index_map)
    if not has_meta:
        raise NotADatasetError(
            f"Cannot open dataset {root}: it has neither the manifest of a version nor a file '{META_FILE}'; check the path",
            root,
        )
    if version is not None:
        raise NotADatasetError(f"Cannot open version {version} of {root}: only tables have versions", root)
    source, fields = read_store(root)
    return Dataset(root, None, fields, [], [source], verify, (open, (path, None, verify)))
