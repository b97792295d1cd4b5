"""A lock for what a forked process shares with its parent."""

from __future__ import annotations

import os
import threading
from types import TracebackType


class ForkLock:
    """A lock of each process. A forked process finds it free, whichever thread of its parent held it.

    What it guards is right at any moment for a process that was forked then.
    """

    def __init__(self) -> None:
        self._locks: dict[int, threading.Lock] = {}

    def __enter__(self) -> None:
        process = os.getpid()
        lock = self._locks.get(process)
        if lock is None:
            lock = self._locks.setdefault(process, threading.Lock())
        lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._locks[os.getpid()].release()
