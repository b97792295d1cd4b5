"""Who owns the memory of batches: this process, until the last array is gone."""

from __future__ import annotations

import functools
import io
import operator
import os
import struct
import weakref
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_RELEASE = struct.Struct(">i")


class _Lease(weakref.ref[Array]):
    """Knows when nothing refers to the memory of a batch any more, and how to give the batch back."""

    __slots__ = ("give_back",)
    give_back: functools.partial[Any]


# Python runs handlers of signals only between its own instructions, and swallows what they raise in callbacks. This one, the
# function that it calls, and the write to the pipe have none: an interrupt is never lost in them, and never keeps a batch back.
_give_back = operator.methodcaller("give_back")


class Leases:
    """The batches that this process owns. A batch is given back when its arrays are gone, on whatever thread that is."""

    def __init__(self) -> None:
        read, write = os.pipe()
        #: The end of the pipe that the engine reads. It stays open here, so that giving back to an engine that died is no error.
        self.read = io.FileIO(read, "r")
        # Closed when nothing refers to it any more: another thread may be about to write.
        self._pipe = io.FileIO(write, "w", closefd=False)
        weakref.finalize(self._pipe, os.close, write)
        self._leases: dict[int, _Lease] = {}

    def __len__(self) -> int:
        return sum(lease() is not None for lease in list(self._leases.values()))

    def add(self, number: int, memory: Array) -> None:
        """Begins a lease, or goes on with it. An interrupt leaves the lease begun or not: call again before dropping the memory."""
        lease = self._leases.get(number)
        if lease is None or lease() is not memory:
            lease = _Lease(memory, _give_back)
            # At most 4 KiB are under way, so it never blocks.
            lease.give_back = functools.partial(self._pipe.write, _RELEASE.pack(number))
            self._leases[number] = lease

    def end(self, instead: int) -> None:
        """Gives nothing back any more, and ends the pipe. What another thread is about to write goes to the given file."""
        self._leases = {}
        os.dup2(instead, self._pipe.fileno(), inheritable=False)
