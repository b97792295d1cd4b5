"""Bytes of remote files, which are fetched when they are needed.

A file is memory of its length, which the operating system gives page by page when bytes are written. Bytes are read after
they were fetched only: each way to the memory fetches what is missing first. What was fetched stays as it is until the whole
object is given up, so checksums that were compared stay compared.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zrecord._crc32c import Bytes
from zrecord._remote import REQUESTS, RemotePath
from zrecord._span import Span
from zrecord.errors import ZrecordError

Array = np.ndarray[Any, Any]
_PAGE_BYTES = 4096
_GAP_BYTES = 256 << 10
REQUEST_BYTES = 8 << 20
_HEADER_BYTES = 64


class FetchedBytes:
    """A remote file of a known length. Slices are read-only views of what was fetched.

    ``check``, if any, is called with the first 64 bytes when bytes are first fetched, and raises an error for a wrong file.
    """

    def __init__(self, path: RemotePath, size: int, check: Callable[[bytes], None] | None = None) -> None:
        self.path = path
        self.size = size
        self.fetched_bytes = 0
        self._check = check
        self._lock = threading.Lock()
        try:
            self._memory = _reserved(size)
            self._has = np.zeros(-(-size // _PAGE_BYTES), bool)
        except (OSError, MemoryError, OverflowError, ValueError) as e:
            raise ZrecordError(f"Cannot reserve {size} bytes of memory for {path}: {e}", path) from e
        self._bytes = self._memory[:]
        self._bytes.flags.writeable = False

    def __getitem__(self, key: slice, /) -> Bytes:
        begin, end, _ = key.indices(self.size)
        if self._check is not None or not self._has[begin // _PAGE_BYTES : -(-end // _PAGE_BYTES)].all():
            fetch([(self, np.array([begin]), np.array([end]))])
        return self._bytes[begin:end]

    def array(self, begins: Array, ends: Array) -> Bytes:
        """Returns the file, of which these ranges may be read."""
        fetch([(self, begins, ends)])
        return self._bytes

    def gather(self, offsets: Array, width: int) -> Bytes:
        """Returns a copy of the values of one width at these offsets, one after the other."""
        rows: Bytes = Span([self.array(offsets, offsets + width)], width).gather(offsets).view(np.uint8).reshape(-1)
        return rows

    def missing(self, begins: Array, ends: Array) -> list[tuple[int, int]]:
        """Returns the ranges to ask for: whole pages, with small gaps closed, of a bounded length each; small files whole.

        A block of 8 MiB may end in a page more, for which there is no request of its own.
        """
        pages = _pages(begins, ends)
        if self._check is not None:
            pages = np.append(pages, 0)
        pages = np.unique(pages[~self._has[pages]])
        if not pages.size:
            return []
        if self.size <= _GAP_BYTES:
            return [(0, self.size)]
        cuts = np.flatnonzero(np.diff(pages) > _GAP_BYTES // _PAGE_BYTES + 1) + 1
        firsts = (pages[np.concatenate([[0], cuts])] * _PAGE_BYTES).tolist()
        lasts = ((pages[np.concatenate([cuts - 1, [pages.size - 1]])] + 1) * _PAGE_BYTES).tolist()
        return [
            (begin, min(last if last - begin <= REQUEST_BYTES + _GAP_BYTES else begin + REQUEST_BYTES, self.size))
            for first, last in zip(firsts, lasts)
            for begin in range(first, max(first + 1, last - _GAP_BYTES), REQUEST_BYTES)
        ]

    def fetch_range(self, begin: int, end: int) -> None:
        """Fetches whole pages. Pages that are there already are not replaced: their checksums may have been compared."""
        content = np.frombuffer(self.path.remote.read_range(self.path, begin, end), np.uint8)
        first, last = begin // _PAGE_BYTES, -(-end // _PAGE_BYTES)
        with self._lock:
            absent = np.flatnonzero(~self._has[first:last])
            if absent.size == last - first:
                self._memory[begin:end] = content
                self.fetched_bytes += end - begin
            else:
                for start in (begin + absent * _PAGE_BYTES).tolist():
                    stop = min(start + _PAGE_BYTES, end)
                    self._memory[start:stop] = content[start - begin : stop - begin]
                    self.fetched_bytes += stop - start
            self._has[first:last] = True

    def settle(self) -> None:
        """Checks the header once."""
        check = self._check  # another thread may settle the file meanwhile
        if check is not None:
            check(self._bytes[:_HEADER_BYTES].tobytes())
            self._check = None


# The content of a file: mapped, or fetched.
Content = Bytes | FetchedBytes
Wanted = tuple[FetchedBytes, Array, Array]


def fetch(wanted: Sequence[Wanted]) -> None:
    """Fetches ranges of files side by side, as far as they are missing."""
    requests = [(file, *part) for file, begins, ends in wanted for part in file.missing(begins, ends)]
    if requests:
        requests[0][0].path.remote.map(REQUESTS, lambda request: request[0].fetch_range(*request[1:]), requests)
    for file, _, _ in wanted:
        file.settle()


def in_chunks(chunk: Callable[[int], Content], numbers: Array, begins: Array, ends: Array) -> list[Wanted]:
    """Returns the ranges of each chunk, by the chunk of each range."""
    wanted = []
    for number in np.unique(numbers).tolist():
        file, of_chunk = chunk(number), numbers == number
        if isinstance(file, FetchedBytes):
            wanted.append((file, begins[of_chunk], ends[of_chunk]))
    return wanted


def gather_in_chunks(chunk: Callable[[int], Content], numbers: Array, offsets: Array, width: int) -> Bytes:
    """Returns a copy of values of one width in chunks that are fetched."""
    rows = np.empty((numbers.size, width), np.uint8)
    fetch(in_chunks(chunk, numbers, offsets, offsets + width))
    for number in np.unique(numbers).tolist():
        file, of_chunk = chunk(number), numbers == number
        if isinstance(file, FetchedBytes):
            rows[of_chunk] = file.gather(offsets[of_chunk], width).reshape(-1, width)
        else:
            raise TypeError(f"chunk {number} is mapped")
    return rows.reshape(-1)


def _pages(begins: Array, ends: Array) -> Array:
    """Returns the pages of ranges."""
    is_empty = begins >= ends
    if is_empty.any():
        begins, ends = begins[~is_empty], ends[~is_empty]
    # Values next to each other come with the same unit.
    is_other = np.ones(begins.size, bool)
    is_other[1:] = (begins[1:] != begins[:-1]) | (ends[1:] != ends[:-1])
    begins, ends = begins[is_other], ends[is_other]
    firsts = begins.astype(np.int64) // _PAGE_BYTES
    counts = (ends.astype(np.int64) - 1) // _PAGE_BYTES + 1 - firsts
    steps = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    pages: Array = np.repeat(firsts, counts) + steps
    return pages


def _reserved(size: int) -> Bytes:
    """Returns memory that costs what is written to only."""
    if size == 0:
        return np.zeros(0, np.uint8)
    if not hasattr(mmap, "MAP_PRIVATE"):
        return np.frombuffer(mmap.mmap(-1, size), np.uint8)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    reserved = mmap.mmap(-1, size, flags=flags)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        reserved.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(reserved, np.uint8)
