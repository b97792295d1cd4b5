"""Files that are missing because their table was dropped (FORMAT.md section 19)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zrecord.errors import CorruptDataError

if TYPE_CHECKING:
    from zrecord._location import Location

#: Directories of a table whose files a drop deletes, and how far the files are below them.
_DIRECTORIES = {"shard": 2, "list": 1}


def missing(path: Location) -> CorruptDataError:
    """Returns the error for a file that is missing. Reads whether there is a table, if the file may be one of a table."""
    # A module below those that read manifests: imported when it is needed.
    from zrecord._table import why_gone

    for name, depth in _DIRECTORIES.items():
        directory = path
        for _ in range(depth):
            directory = directory.parent
        if _name(directory) == name:
            reason = why_gone(directory.parent)
            if reason is not None:
                return CorruptDataError(f"Cannot read {path}: it is gone, and {reason}", path)
    return CorruptDataError(f"Cannot read {path}: the file is missing; restore it from a copy", path)


def _name(path: Location) -> str:
    return path.name if isinstance(path, Path) else path.path.rpartition("/")[2]
