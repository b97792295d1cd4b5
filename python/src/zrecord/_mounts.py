"""The file systems that are mounted: where the number of a file tells the file from its copies."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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


class _Mount(NamedTuple):
    number: bytes
    parent: bytes
    directory: bytes
    kind: bytes


def file_system(path: bytes, mounts: bytes) -> str:
    """Returns the type of the file system of an absolute path without links, by a text like that of /proc/self/mountinfo.

    The mounts are followed from the root, each on the one before. So a mount is not found that a later one hides.
    """
    left = list(_parsed(mounts))
    numbers = {mount.number for mount in left}
    found = None
    names = [name for name in path.split(b"/") if name]
    for count in range(len(names) + 1):
        directory = b"/" + b"/".join(names[:count])
        while upper := [mount for mount in left if mount.directory == directory and _is_on(mount, found, numbers)]:
            found = upper[-1]
            left.remove(found)  # each once, whatever the text says
    return found.kind.decode("ascii", "replace") if found else ""


def _is_on(mount: _Mount, below: _Mount | None, numbers: set[bytes]) -> bool:
    """Tells whether a mount is on another, or if there is none yet, on none that is listed."""
    if below is None:
        return mount.parent not in numbers or mount.parent == mount.number
    return mount.parent == below.number


def _parsed(mounts: bytes) -> Iterator[_Mount]:
    for line in mounts.split(b"\n"):
        fields = line.split(b" ")
        try:
            separator = fields.index(b"-", _MIN_FIELDS)
        except ValueError:
            continue
        if separator + 2 < len(fields):
            yield _Mount(fields[0], fields[1], _unescaped(fields[4]), _unescaped(fields[separator + 1]))


def _unescaped(field: bytes) -> bytes:
    return re.sub(rb"\\([0-3][0-7]{2})", lambda code: bytes([int(code[1], 8)]), field)
