"""Who owns the memory of batches: this process, until the last array is gone."""

from __future__ import annotations

import functools
import io
import itertools
import operator
import os
import struct
import weakref
from collections import deque
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_RELEASE = struct.Struct(">i")
# As many releases as a pipe takes whole.
_MOST_AT_ONCE = 1024
# Of so many batches, the engine can do without two for a moment.
_DEEP = 8


class _Lease(weakref.ref[Array]):
    """Knows when nothing refers to the memory of a batch any more, and how to give the batch back."""

    __slots__ = ("give_back",)
    give_back: functools.partial[Any]


# Python runs handlers of signals only between its own instructions, and swallows what they raise in callbacks. This one, the
# function that it calls, and the write to the pipe or the list have none: an interrupt is never lost in them, and never keeps a
# batch back.
_give_back = operator.methodcaller("give_back")


class Leases:
    """The batches that this process owns. A batch is given back when its arrays are gone, on whatever thread that is.

    Each message to the engine wakes it. So in a deep feed, batches go back two or more at a time, in ``give_back``.
    """

    def __init__(self, depth: int) -> None:
        read, write = os.pipe()
        #: The end of the pipe that the engine reads. It stays open here, so that giving back to an engine that died is no error.
        self.read = io.FileIO(read, "r")
        # Closed when nothing refers to it any more: another thread may be about to write.
        self._pipe = io.FileIO(write, "w", closefd=False)
        weakref.finalize(self._pipe, os.close, write)
        self._dropped: deque[bytes] = deque()
        self._taken = iter(self._dropped.popleft, None)
        self._drop = self._pipe.write if depth < _DEEP else self._dropped.append
        self._leases: dict[int, _Lease] = {}

    def __len__(self) -> int:
        return sum(lease() is not None for lease in list(self._leases.values()))

    def add(self, number: int, memory: Array) -> None:
        """Begins a lease, or goes on with it. An interrupt leaves the lease begun or not: call again before dropping the memory."""
        lease = self._leases.get(number)
        if lease is None or lease() is not memory:
            lease = _Lease(memory, _give_back)
            # At most 4 KiB are under way, so it never blocks.
            lease.give_back = functools.partial(self._drop, _RELEASE.pack(number))
            self._leases[number] = lease

    def give_back(self, at_least: int) -> None:
        """Gives back what was dropped, if there are so many batches. One thread at a time calls this."""
        count = min(len(self._dropped), _MOST_AT_ONCE)
        if count >= at_least:
            # One call of C takes the numbers and writes them: an interrupt comes before or after. A number that is written twice
            # would give back the next batch of that number, and one that is not written would keep its batch back.
            messages = map(b"".join, (itertools.islice(self._taken, count),))
            deque(map(self._pipe.write, messages), 0)

    def end(self, instead: int) -> None:
        """Gives nothing back any more, and ends the pipe. What another thread is about to write goes to the given file."""
        self._leases = {}
        os.dup2(instead, self._pipe.fileno(), inheritable=False)
