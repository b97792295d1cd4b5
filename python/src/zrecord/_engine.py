"""The engine's command ``feed`` as a process, and the memory that it shares with this one.

The protocol is that of ``io.zrecord.sharing.SharedBatches``.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import itertools
import json
import mmap
import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from zrecord import _launcher
from zrecord._leases import Leases
from zrecord.errors import CorruptDataError, FeedError, FeedTimeoutError, LauncherError

Array = np.ndarray[Any, Any]
HEADER, BATCH, END = 1, 2, 3
_PROTOCOL = 2
_FRAME = struct.Struct("<ii")
_READ_BYTES = 1 << 16
_CLOSE_SECONDS = 10
# How long others, such as the queue of an accelerator, may take to release a batch when all are owned.
_OWNED_SECONDS = 10.0
# How often a call that waits gives back what other threads have dropped.
_DROPPED_SECONDS = 0.02
# How the command line begins the line that says why it ended.
_REASON = re.compile("^zrecord: ", re.MULTILINE)


class Engine:
    """A running engine. One thread at a time takes messages; any thread may drop arrays.

    An interrupt (``KeyboardInterrupt``) may come between any two instructions. Nothing is lost then, for what changes the state is
    either one call of a function of C, or assignments to attributes without a call between them.
    """

    def __init__(self, arguments: Sequence[str], depth: int, writable: bool) -> None:
        if os.name != "posix":
            raise LauncherError(
                f"A feed needs a POSIX system to share memory with Java, and this is {sys.platform}; use Linux or macOS"
            )
        command = _launcher.command()
        self._depth = depth
        self._protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self._map: mmap.mmap | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._memory = io.FileIO(_anonymous_file(), "r+")
        # Not the standard output, to which a virtual machine may write anything.
        self._out, messages = _pipe()
        self._leases = Leases(depth)
        words = [*command, *arguments]
        words += [f"--share=/dev/fd/{self._memory.fileno()}", f"--messages=/dev/fd/{messages.fileno()}"]
        try:
            self._process = subprocess.Popen(
                words,
                bufsize=0,
                stdin=self._leases.read,
                stdout=self._errors,
                stderr=self._errors,
                env=_launcher.environment(),
                pass_fds=(self._memory.fileno(), messages.fileno()),
                # An interrupt at the terminal is for this process, which ends the engine.
                start_new_session=True,
            )
        except BaseException as e:
            self._leases.end(self._errors.fileno())
            for file in (self._leases.read, self._memory, self._out):
                file.close()
            if not isinstance(e, OSError):
                raise
            raise LauncherError(f"Cannot run {words[0]}: {e}; see JAVA_HOME, ZRECORD_HOME and ZRECORD_COMMAND", words[0]) from e
        finally:
            messages.close()
        os.set_blocking(self._out.fileno(), False)
        # Of the file, not of its number, which another file has after a close. Gives None if nothing is there yet.
        self._reads = iter(functools.partial(self._out.read, _READ_BYTES), b"")
        self._chunks: deque[bytes | None] = deque()
        self._data = b""
        #: Where the next message begins. Moved by ``take_until``, or assigned by who has taken what is before.
        self.at = 0
        #: Seconds waited for messages so far.
        self.waited = 0.0
        self._ended: Exception | None = None
        self._has_begun = False
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._pid = os.getpid()
        files = (self._errors, self._leases.read, self._memory, self._out)
        self._finalizer = weakref.finalize(self, _end, self._process, self._leases, files, self._pid)
        _running.add(self)

    def header(self, timeout: float) -> tuple[dict[str, Any], int]:
        """Returns the first message of the engine, and where it ends."""
        kind, payload, end = self.peek(timeout)
        header: dict[str, Any] = json.loads(bytes(payload)) if kind == HEADER else {}
        if header.get("protocol") != _PROTOCOL:
            raise LauncherError(f"The engine does not speak protocol {_PROTOCOL}; install versions that belong together")
        return header, end

    def peek(self, timeout: float) -> tuple[int, memoryview, int]:
        """Returns the next message: its kind, its content, and where it ends. The same again until ``at`` is assigned that end."""
        if os.getpid() != self._pid:
            raise FeedError("A feed belongs to the process that began it; begin one after the fork")
        self._leases.give_back(2)
        while True:
            data, at = self._data, self.at
            content = at + _FRAME.size
            if content <= len(data):
                length, kind = _FRAME.unpack_from(data, at)
                if kind not in (HEADER, BATCH, END):
                    raise LauncherError(f"The command does not speak the protocol of feeds, but says {data[at : at + 80]!r}")
                if content + length <= len(data):
                    self._has_begun = True
                    return kind, memoryview(data)[content : content + length], content + length
            if not self._chunks:
                self._receive(timeout)
            joined = b"".join((data[at:], *filter(None, self._chunks)))
            self._data, self.at, self._chunks = joined, 0, deque()

    def _receive(self, timeout: float) -> None:
        """Reads once. What is read is in ``_chunks`` within one call, before a handler of a signal can run."""
        self._leases.give_back(1)
        try:
            self._chunks.extend(itertools.islice(self._reads, 1))
            if self._chunks and self._chunks[-1] is None:
                start = time.monotonic()
                try:
                    self._wait(timeout)
                finally:
                    self.waited += time.monotonic() - start
                self._chunks.extend(itertools.islice(self._reads, 1))
        except ValueError:
            if self._finalizer.alive:
                raise
        if not self._finalizer.alive:
            raise FeedError("The feed was closed while it was asked for a batch")
        if not self._chunks:
            self._ended = self._ended or self._failure()
            raise self._ended

    def _wait(self, timeout: float) -> None:
        """Waits for a message. If all batches are owned here, the next message follows only when a batch is given back."""
        deadline = time.monotonic() + min(timeout, _OWNED_SECONDS)
        pause = 0.001
        while len(self._leases) >= self._depth:
            # Frees cycles, and makes JAX release what it has used.
            gc.collect()
            self._leases.give_back(1)
            if self._poll.poll(pause * 1000):
                return
            if len(self._leases) >= self._depth and time.monotonic() > deadline:
                raise FeedError(
                    f"All {self._depth} batches of the feed are still referenced, so no other can be loaded; drop them,"
                    " copy what must outlive them, or raise depth"
                )
            pause = min(2 * pause, 0.5)
        self._leases.give_back(1)
        deadline = time.monotonic() + timeout
        while not self._poll.poll(max(0.0, min(deadline - time.monotonic(), _DROPPED_SECONDS)) * 1000):
            # Other threads may drop batches meanwhile, which the engine may need for the next one if max_bytes is given.
            self._leases.give_back(1)
            if time.monotonic() >= deadline:
                raise FeedTimeoutError(
                    f"No batch came within {timeout:g} s; the engine is {self._state()}; raise timeout or threads"
                )

    def memory(self, length: int) -> Array:
        """Returns the shared memory, with at least the given bytes. Nothing is given back before a ``lease``."""
        if self._map is None or len(self._map) < length:
            self._map = mmap.mmap(self._memory.fileno(), length, mmap.MAP_SHARED, self._protection)
        return np.frombuffer(self._map, np.uint8)

    def lease(self, number: int, memory: Array) -> None:
        """Gives a batch back when the last array of its memory is gone. The caller has a reference until this returns."""
        self._leases.add(number, memory)

    def _state(self) -> str:
        code = self._process.poll()
        return "running" if code is None else f"ended with exit code {code}"

    def _failure(self) -> Exception:
        """Returns the reason why the messages ended too early."""
        try:
            code: int | None = self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        self._errors.seek(0)
        said = _launcher.without_options(self._errors.read().decode("utf-8", "replace"))
        *_, message = _REASON.split(said)
        # Otherwise Java itself speaks, which ends with the code that stands for damage.
        is_reason = message != said
        if not is_reason and not self._has_begun:
            return LauncherError(
                f"The engine did not start, but ended with exit code {code}: {said or 'it said nothing'};"
                " see ZRECORD_JAVA_OPTIONS, JAVA_HOME and ZRECORD_COMMAND"
            )
        if code == 1 and is_reason:
            return CorruptDataError(message)
        if code == 2:
            return ValueError(message)
        return FeedError(f"The engine ended with exit code {code}: {message or 'it said nothing'}")

    def close(self) -> None:
        """Ends the process. Arrays stay readable."""
        self._finalizer()

    def forget(self) -> None:
        """Releases, in a fork, what belongs to the parent process, so that the engine sees the end of the parent."""
        # An engine that has ended has nothing open, and must not keep the others from being released.
        if self._finalizer.alive:
            self._leases.end(self._errors.fileno())


def _pipe() -> tuple[io.FileIO, io.FileIO]:
    """Makes a pipe whose ends are closed when nothing refers to them: the end to read from, and that to write to."""
    read, write = os.pipe()
    return io.FileIO(read, "r"), io.FileIO(write, "w")


def _anonymous_file() -> int:
    """Makes a file in memory without a name. The file is gone when the last process with it ends."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("zrecord-feed")
    descriptor, path = tempfile.mkstemp(prefix="zrecord-feed-")
    os.unlink(path)  # noqa: PTH108
    return descriptor


def _end(process: subprocess.Popen[bytes], leases: Leases, files: Sequence[IO[bytes] | io.FileIO], pid: int) -> None:
    if os.getpid() != pid:
        return
    try:
        # The engine waits for the end of the pipe.
        leases.end(files[0].fileno())
        process.wait(_CLOSE_SECONDS)
    except BaseException as e:
        # The whole process group, including the build that a first use may run. After an interrupt nobody else ends it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if not isinstance(e, subprocess.TimeoutExpired):
            raise
    finally:
        for file in files:
            file.close()


_running: weakref.WeakSet[Engine] = weakref.WeakSet()


def _forget_all() -> None:
    for engine in list(_running):
        engine.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
