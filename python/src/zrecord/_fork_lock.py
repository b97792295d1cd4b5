"""A lock for what a forked process shares with its parent."""

from __future__ import annotations

import os
import threading


class ForkLock:
    """A lock of each process. A forked process finds it free, whichever thread of its parent held it.

    What it guards is right at any moment for a process that was forked then.
    """

    def __init__(self) -> None:
        self._locks: dict[int, threading.Lock] = {}

    def of_process(self) -> threading.Lock:
        """Returns the lock of this process: with it, no interrupt comes between taking the lock and the block that frees it."""
        process = os.getpid()
        lock = self._locks.get(process)
        return self._locks.setdefault(process, threading.Lock()) if lock is None else lock
