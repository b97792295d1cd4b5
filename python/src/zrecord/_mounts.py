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


def keeps_file_numbers(path: Path) -> bool:
    """Tells whether files below a path keep their numbers for life. True if the system does not say what is mounted."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return True
    return file_system(os.path.realpath(path), mounts) in _KEEPING


def file_system(path: str, mounts: str) -> str:
    """Returns the type of the file system of an absolute path, by a text like that of /proc/self/mountinfo."""
    found, longest = "", -1
    for line in mounts.splitlines():
        point, _, source = line.partition(" - ")
        fields = point.split(" ")
        if len(fields) < 5 or not source:
            continue
        directory = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4])
        # Of two mounts on one directory the later hides the other.
        if len(directory) >= longest and (path == directory or path.startswith(directory.rstrip("/") + "/")):
            found, longest = source.split(" ")[0], len(directory)
    return found
