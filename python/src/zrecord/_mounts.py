"""The file systems that are mounted: where the number of a file tells the file from its copies."""

from __future__ import annotations

import os
import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")

# Elsewhere, as on networks and in user space, a file may have another number after each mount (FORMAT.md section 21.2).
_KEEPING = frozenset(
    ["apfs", "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "hfs", "jfs", "overlay", "tmpfs", "ufs", "xfs", "zfs"]
)

# The least number of fields of a line before the separator, behind which are type and source.
_MIN_FIELDS = 6


def keeps_file_numbers(path: Path) -> bool:
    """Tells whether files below a path keep their numbers for life. True on a system that never says what is mounted."""
    try:
        mounts = _MOUNTS.read_bytes()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return file_system(os.fsencode(os.path.realpath(path)), mounts) in _KEEPING


def file_system(path: bytes, mounts: bytes) -> str:
    """Returns the type of the file system of an absolute path without links, by a text like that of /proc/self/mountinfo."""
    found, longest = b"", -1
    for line in mounts.split(b"\n"):
        fields = line.split(b" ")
        try:
            separator = fields.index(b"-", _MIN_FIELDS)
        except ValueError:
            continue
        if separator + 2 >= len(fields):
            continue
        directory = _unescaped(fields[4])
        # Of two mounts on one directory the later hides the other.
        if len(directory) >= longest and (path == directory or path.startswith(directory.rstrip(b"/") + b"/")):
            found, longest = _unescaped(fields[separator + 1]), len(directory)
    return found.decode("ascii", "replace")


def _unescaped(field: bytes) -> bytes:
    return re.sub(rb"\\([0-3][0-7]{2})", lambda code: bytes([int(code[1], 8)]), field)
