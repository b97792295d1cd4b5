"""A process of the command line that shares a file in memory with this one.

Frames go to its standard input, answers come by a pipe of their own: to its standard output a virtual
machine may write anything, and that is kept for the messages of errors.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Sequence
from typing import IO

from zrecord import _launcher
from zrecord.errors import LauncherError

_END_SECONDS = 10.0
_FIRST_FREE = 3  # the standard descriptors, which a daemon may have closed
# How the command line begins the line that says why it ended.
_REASON = re.compile("^zrecord: ", re.MULTILINE)


class EngineProcess:
    """A running command. ``memory`` is the descriptor of the shared file, which ``end`` closes. Threads may share it.

    The command ends when its frames end, and so when this process does, however that happens.
    """

    def __init__(self, arguments: Sequence[str], purpose: str) -> None:
        if os.name != "posix":
            raise LauncherError(
                f"{purpose} needs a POSIX system to share memory with Java, and this is {sys.platform}; use Linux or macOS"
            )
        words = [*_launcher.command(), *arguments]
        with contextlib.ExitStack() as on_failure:
            self.memory = _kept(on_failure, _anonymous_file())
            answers, answers_of_command = os.pipe()
            self._answers = _kept(on_failure, answers)
            self._said: IO[bytes] = on_failure.enter_context(tempfile.TemporaryFile())
            with contextlib.ExitStack() as after_start:
                answers_of_command = _kept(after_start, answers_of_command)
                try:
                    self._process = subprocess.Popen(
                        [*words, f"--share=/dev/fd/{self.memory}", f"--messages=/dev/fd/{answers_of_command}"],
                        bufsize=0,
                        stdin=subprocess.PIPE,
                        stdout=self._said,
                        stderr=self._said,
                        env=_launcher.environment(),
                        pass_fds=(self.memory, answers_of_command),
                        # An interrupt at the terminal is for this process, which aborts what it concerns.
                        start_new_session=True,
                    )
                except OSError as e:
                    raise LauncherError(
                        f"Cannot run {words[0]}: {e}; see JAVA_HOME, ZRECORD_HOME and ZRECORD_COMMAND", words[0]
                    ) from e
            on_failure.pop_all()
        self._pid = os.getpid()
        self._is_ended = False
        self._ending = threading.Lock()
        # Open for as long as a thread may ask why the command ended.
        weakref.finalize(self, self._said.close)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def write(self, frame: bytes) -> None:
        """Sends a frame. Raises ``OSError`` or ``ValueError`` if the command has ended."""
        assert self._process.stdin
        self._process.stdin.write(frame)

    def read(self) -> bytes:
        """Waits for answers, and returns them as they come; nothing at their end. One thread reads."""
        if self._answers < 0:
            return b""
        try:
            received = os.read(self._answers, 1 << 16)
        except OSError:
            received = b""
        if not received:
            ended, self._answers = self._answers, -1
            os.close(ended)
        return received

    def end(self, timeout: float = _END_SECONDS) -> None:
        """Ends the command by the end of its frames, and kills it if it has not ended in time. Closes the descriptors."""
        if os.getpid() != self._pid:
            return
        with self._ending:
            if self._is_ended:
                return
            self._is_ended = True
        self._close_frames()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._kill()
        os.close(self.memory)

    def kill(self) -> None:
        """Kills the command, so that it does nothing more, and closes the descriptors."""
        if not self._is_ended and os.getpid() == self._pid:
            self._kill()
            self.end()

    def _kill(self) -> None:
        # The whole process group, including the build that a first use may run.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def forget(self) -> None:
        """Closes, in a fork, what belongs to the parent, so that the command sees the end of the parent."""
        if self._is_ended:
            return
        self._close_frames()
        # Nobody here waits for it.
        self._process.returncode = 0
        for descriptor in (self.memory, self._answers):
            if descriptor >= 0:
                os.close(descriptor)

    def _close_frames(self) -> None:
        assert self._process.stdin
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def why_it_ended(self) -> str:
        """Waits for the end, and returns the code and what the command said of it, also after ``end`` and ``kill``."""
        try:
            code: object = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            code = "none yet"
        # By position: the command writes at the one that both share.
        descriptor = self._said.fileno()
        written = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        said = _launcher.without_options(written.decode("utf-8", "replace"))
        *_, reason = _REASON.split(said)
        return f"exit code {code}: {reason or 'it said nothing'}"


def _kept(stack: contextlib.ExitStack, descriptor: int) -> int:
    """Returns a descriptor that is none of the standard ones, and that the stack closes."""
    if descriptor < _FIRST_FREE:
        import fcntl

        low = descriptor
        try:
            descriptor = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
        finally:
            os.close(low)
    stack.callback(os.close, descriptor)
    return descriptor


def _anonymous_file() -> int:
    """Makes a file in memory without a name, which is gone when the last process with it ends."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("zrecord")
    descriptor, path = tempfile.mkstemp(prefix="zrecord-")
    os.unlink(path)  # noqa: PTH108
    return descriptor
