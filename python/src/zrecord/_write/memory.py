"""The memory that is shared with the engine: regions, which are used again once the engine has read them."""

from __future__ import annotations

import mmap
import os
import queue
import threading
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from zrecord._process import _FIRST_FREE
from zrecord.errors import StorageError

Array = np.ndarray[Any, Any]
# One is filled while the engine reads another, and a third hides the jitter of both.
_REGIONS = 3
_LEAST_BYTES = 1 << 16
_LOOK_SECONDS = 1.0


class Region:
    """Bytes at a position of the shared file. ``token`` is another number for each use."""

    __slots__ = ("at", "bytes", "token")

    def __init__(self, at: int, mapped: Array) -> None:
        self.at = at
        self.bytes = mapped
        self.token = 0


class SharedMemory:
    """Gives regions to writers. Threads may share it.

    A region whose frame an interrupt may have kept from being sent is not used again unless the engine says that it has
    read it, so an interrupt costs memory, and never values.
    """

    def __init__(self, descriptor: int) -> None:
        import fcntl

        # Of its own: that of the engine is closed at its end, and its number may be another file's while a thread goes on.
        self._descriptor = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
        weakref.finalize(self, os.close, self._descriptor)
        self._length = 0
        self._lock = threading.Lock()
        self._free: queue.SimpleQueue[Region] = queue.SimpleQueue()
        self._lent: dict[int, Region] = {}
        self._made = 0
        self._tokens = count(1)

    def take(self, length: int, require_alive: Callable[[], None]) -> Region:
        """Returns a region of at least so many bytes, as soon as there is one.

        ``require_alive`` raises if the engine has ended. Raises ``StorageError`` if memory is full.
        """
        while True:
            try:
                region = self._free.get(block=self._made >= _REGIONS, timeout=_LOOK_SECONDS)
            except queue.Empty:
                require_alive()
                if self._made >= _REGIONS and self._lent:
                    continue
                region = self._make(length)
            if len(region.bytes) < length:
                region = self._make(length, replaces=True)
            region.token = next(self._tokens) & 0x7FFFFFFF
            self._lent[region.token] = region
            return region

    def given_back(self, token: int) -> None:
        """Frees a region that the engine has read."""
        region = self._lent.pop(token, None)
        if region is not None:
            self._free.put(region)

    def lost(self, token: int) -> None:
        """Makes up for a region whose frame may not have been sent."""
        if token in self._lent:
            self._made -= 1

    def _make(self, length: int, replaces: bool = False) -> Region:
        capacity = _LEAST_BYTES
        while capacity < length:
            capacity *= 2
        with self._lock:
            at = self._length
            try:
                # Reserved at once: a full memory is an error here, and not the death of the process at a first touch.
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(self._descriptor, at, capacity)
                else:
                    os.ftruncate(self._descriptor, at + capacity)
                mapped = mmap.mmap(self._descriptor, capacity, offset=at)
            except (OSError, ValueError) as e:
                self._made -= replaces
                raise StorageError(
                    f"Cannot share {capacity} bytes of memory with the engine: {e}; give smaller batches, or free memory"
                ) from e
            self._length += capacity
            self._made += not replaces
        return Region(at, np.frombuffer(mapped, np.uint8))
