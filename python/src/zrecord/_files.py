"""Opens files of a dataset, whose contents are not trusted: no links, no pipes, and never fewer bytes than were promised."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from zrecord._crc32c import Bytes
from zrecord._dropped import missing
from zrecord._location import Location
from zrecord._remote import RemotePath
from zrecord.errors import CorruptDataError, ZrecordError

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_regular(path: Path) -> int:
    """Returns a descriptor of a regular file, which the caller closes. Raises ``FileNotFoundError`` unchanged."""
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as e:
        raise ZrecordError(f"Cannot open {path}: {e.strerror}", path) from e
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CorruptDataError(f"Cannot open {path}: it is not a regular file", path)
    return descriptor


def read_bytes(path: Location, max_bytes: int) -> bytes:
    """Returns the whole file, with its present length."""
    if isinstance(path, RemotePath):
        return path.remote.read(path, max_bytes)
    with os.fdopen(_present(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise CorruptDataError(
                f"Cannot read {path}: it has {size} bytes, but at most {max_bytes} are accepted; restore it from a copy", path
            )
        return file.read(size)


def map_bytes(path: Path, length: int) -> Bytes:
    """Returns a read-only view of the first bytes of a file. The map lives as long as any view of it."""
    descriptor = _present(path)
    try:
        found = os.fstat(descriptor).st_size
        if found < length:
            raise CorruptDataError(f"Cannot read {path}: it has {found} of {length} bytes; restore it from a copy", path)
        if length == 0:
            return np.zeros(0, np.uint8)
        mapped = mmap.mmap(descriptor, length, access=mmap.ACCESS_READ)
    except OSError as e:
        raise ZrecordError(
            f"Cannot map {length} bytes of {path}: {e.strerror}; if there are very many files, raise vm.max_map_count",
            path,
        ) from e
    finally:
        os.close(descriptor)
    return np.frombuffer(mapped, np.uint8)


def map_carried(path: Path, length: int, carried: Sequence[tuple[int, bytes]]) -> Bytes:
    """Returns a read-only view of the first bytes of a file, or a copy with the bytes that belong at some positions."""
    if not carried:
        return map_bytes(path, length)
    descriptor = _present(path)
    try:
        size = os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    mapped = map_bytes(path, min(length, size) if _reach(path, size, carried) >= length else length)
    if all(mapped[at : at + len(part)].tobytes() == part for at, part in carried):
        return mapped
    copy = np.zeros(length, np.uint8)
    copy[: mapped.size] = mapped
    for at, part in carried:
        copy[at : at + len(part)] = np.frombuffer(part[: max(0, length - at)], np.uint8)
    copy.flags.writeable = False
    return copy


def _reach(path: Path, length: int, carried: Sequence[tuple[int, bytes]]) -> int:
    """Returns up to where bytes are known: in a file of this length, or carried after it without a gap."""
    for at, part in carried:
        if at > length:
            raise CorruptDataError(
                f"Cannot read {path}: the journal carries bytes from {at} on, but all bytes before end at {length}; "
                "restore the store from a copy",
                path,
            )
        length = max(length, at + len(part))
    return length


def _present(path: Path) -> int:
    try:
        return open_regular(path)
    except FileNotFoundError as e:
        raise missing(path) from e
