"""Where a dataset is: a local directory, or a URL that fsspec opens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from zrecord._remote import RemotePath, scheme_of

Location = Path | RemotePath


def locate(path: str | os.PathLike[str], storage_options: Mapping[str, Any] | None) -> Location:
    """Returns the place of a dataset. A ``file:`` URI is a local path, which takes no options."""
    url = os.fspath(path)
    if isinstance(path, str) and is_remote(path):
        return RemotePath.root(path, storage_options or {})
    if storage_options:
        raise ValueError(f"{url} is a local path, which takes no storage_options")
    return local_path(path)


def is_remote(path: str) -> bool:
    """Tells whether a string is a URL of anything except a local file."""
    return scheme_of(path) not in (None, "file")


def local_path(path: str | os.PathLike[str]) -> Path:
    """Returns the path of a local file or directory, which may be a ``file:`` URI."""
    if not isinstance(path, str) or not path.lower().startswith("file:/"):
        return Path(path)
    parts = urlsplit(path)
    if parts.netloc not in ("", "localhost") or parts.query or parts.fragment:
        raise ValueError(f"{path} is not the URI of a local file; write file:///directory/name")
    return Path(url2pathname(parts.path))
