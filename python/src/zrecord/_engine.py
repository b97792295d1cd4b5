"""The engine's command ``feed`` as a process, and the memory that it shares with this one.

The protocol is that of ``io.zrecord.sharing.SharedBatches``.
"""

from __future__ import annotations

import contextlib
import gc
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
from zrecord.errors import CorruptDataError, FeedError, FeedTimeoutError, LauncherError

Array = np.ndarray[Any, Any]
HEADER, BATCH, END = 1, 2, 3
_PROTOCOL = 1
_FRAME = struct.Struct("<ii")
_RELEASE = struct.Struct(">i")
_CLOSE_SECONDS = 10
# How long others, such as the queue of an accelerator, may take to release a batch when all are owned.
_OWNED_SECONDS = 10.0
# How the command line begins the line that says why it ended.
_REASON = re.compile("^zrecord: ", re.MULTILINE)


class _Lease(weakref.ref[Array]):
    """Knows when nothing refers to the memory of a batch any more."""

    __slots__ = ("number",)
    number: int


class _Leases:
    """The batches that this process owns. Gives a batch back when its arrays are gone, on any thread."""

    def __init__(self, pipe: int, at_once: int) -> None:
        self._pipe: int | None = pipe
        # Each message wakes the engine, so a few are given back together.
        self._at_once = at_once
        self._owned: dict[int, _Lease] = {}
        self._dropped: deque[bytes] = deque()

    def __len__(self) -> int:
        return len(self._owned)

    def add(self, number: int, memory: Array) -> None:
        lease = _Lease(memory, self._release)
        lease.number = number
        self._owned[number] = lease

    def _release(self, lease: _Lease) -> None:
        self._dropped.append(_RELEASE.pack(lease.number))
        del self._owned[lease.number]
        if len(self._dropped) >= self._at_once:
            self.give_back()

    def give_back(self) -> None:
        """Returns all dropped batches to the engine."""
        numbers = b""
        # Another thread may give back at the same time.
        with contextlib.suppress(IndexError):
            while True:
                numbers += self._dropped.popleft()
        # If the engine has ended, reading says why. At most 4 KiB are under way, so it never blocks.
        with contextlib.suppress(OSError):
            if numbers and self._pipe is not None:
                os.write(self._pipe, numbers)

    def end(self) -> None:
        self._pipe = None


class Engine:
    """A running engine. One thread takes messages; any thread may drop arrays."""

    def __init__(self, arguments: Sequence[str], depth: int, writable: bool) -> None:
        if os.name != "posix":
            raise LauncherError(
                f"A feed needs a POSIX system to share memory with Java, and this is {sys.platform}; use Linux or macOS"
            )
        command = _launcher.command()
        self._depth = depth
        self._protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self._memory = _anonymous_file()
        self._map: mmap.mmap | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        # Not the standard output, to which a virtual machine may write anything.
        self._out, messages = os.pipe()
        words = [*command, *arguments]
        words += [f"--share=/dev/fd/{self._memory}", f"--messages=/dev/fd/{messages}"]
        try:
            self._process = subprocess.Popen(
                words,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=self._errors,
                stderr=self._errors,
                env=_launcher.environment(),
                pass_fds=(self._memory, messages),
                # An interrupt at the terminal is for this process, which ends the engine.
                start_new_session=True,
            )
        except BaseException as e:
            os.close(self._memory)
            os.close(self._out)
            if not isinstance(e, OSError):
                raise
            raise LauncherError(f"Cannot run {words[0]}: {e}; see JAVA_HOME, ZRECORD_HOME and ZRECORD_COMMAND", words[0]) from e
        finally:
            os.close(messages)
        assert self._process.stdin
        self._messages: deque[tuple[int, memoryview]] = deque()
        self._rest = b""
        self._ended: Exception | None = None
        self._has_begun = False
        os.set_blocking(self._out, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._leases = _Leases(self._process.stdin.fileno(), depth // 4)
        self._pid = os.getpid()
        self._finalizer = weakref.finalize(
            self, _end, self._process, self._leases, (self._memory, self._out), self._errors, self._pid
        )
        _running.add(self)

    def header(self, timeout: float) -> dict[str, Any]:
        """Returns the first message of the engine."""
        kind, payload = self.message(timeout)
        header: dict[str, Any] = json.loads(bytes(payload)) if kind == HEADER else {}
        if header.get("protocol") != _PROTOCOL:
            raise LauncherError(f"The engine does not speak protocol {_PROTOCOL}; install versions that belong together")
        return header

    def message(self, timeout: float) -> tuple[int, memoryview]:
        """Returns the next message: its kind and its content."""
        if os.getpid() != self._pid:
            raise FeedError("A feed belongs to the process that began it; begin one after the fork")
        while not self._messages:
            self._receive(timeout)
        return self._messages.popleft()

    def _receive(self, timeout: float) -> None:
        try:
            received = os.read(self._out, 1 << 16)
        except BlockingIOError:
            self._leases.give_back()
            self._wait(timeout)
            received = os.read(self._out, 1 << 16)
        if not received:
            self._ended = self._ended or self._failure()
            raise self._ended
        frames = memoryview(self._rest + received)
        at = 0
        while at + _FRAME.size <= len(frames):
            length, kind = _FRAME.unpack_from(frames, at)
            if kind not in (HEADER, BATCH, END):
                raise LauncherError(f"The command does not speak the protocol of feeds, but says {received[:80]!r}")
            end = at + _FRAME.size + length
            if end > len(frames):
                break
            self._messages.append((kind, frames[at + _FRAME.size : end]))
            self._has_begun = True
            at = end
        self._rest = bytes(frames[at:])

    def _wait(self, timeout: float) -> None:
        """Waits for a message. If all batches are owned here, the next message follows only when a batch is given back."""
        deadline = time.monotonic() + min(timeout, _OWNED_SECONDS)
        pause = 0.001
        while len(self._leases) >= self._depth:
            # Frees cycles, and makes JAX release what it has used.
            gc.collect()
            self._leases.give_back()
            if self._poll.poll(pause * 1000):
                return
            if len(self._leases) >= self._depth and time.monotonic() > deadline:
                raise FeedError(
                    f"All {self._depth} batches of the feed are still referenced, so no other can be loaded; drop them,"
                    " copy what must outlive them, or raise depth"
                )
            pause = min(2 * pause, 0.5)
        self._leases.give_back()
        if not self._poll.poll(timeout * 1000):
            raise FeedTimeoutError(f"No batch came within {timeout:g} s; the engine is {self._state()}; raise timeout or threads")

    def lease(self, number: int, length: int) -> Array:
        """Returns the shared memory, with at least the given bytes. The batch goes back when its last array is gone."""
        if self._map is None or len(self._map) < length:
            self._map = mmap.mmap(self._memory, length, mmap.MAP_SHARED, self._protection)
        memory = np.frombuffer(self._map, np.uint8)
        self._leases.add(number, memory)
        return memory

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
        self._leases.end()
        if self._process.stdin:
            self._process.stdin.close()


def _anonymous_file() -> int:
    """Makes a file in memory without a name. The file is gone when the last process with it ends."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("zrecord-feed")
    descriptor, path = tempfile.mkstemp(prefix="zrecord-feed-")
    os.unlink(path)  # noqa: PTH108
    return descriptor


def _end(process: subprocess.Popen[bytes], leases: _Leases, files: Sequence[int], errors: IO[bytes], pid: int) -> None:
    if os.getpid() != pid:
        return
    leases.end()
    assert process.stdin
    process.stdin.close()
    try:
        process.wait(_CLOSE_SECONDS)
    except subprocess.TimeoutExpired:
        # The whole process group, including the build that a first use may run.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for file in files:
        os.close(file)
    errors.close()


_running: weakref.WeakSet[Engine] = weakref.WeakSet()


def _forget_all() -> None:
    for engine in list(_running):
        engine.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
