"""The engine that writes for this process: one, started at the first need, ended when idle or with this process.

The protocol is that of ``io.zrecord.serving.EngineServer``.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import struct
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

from zrecord._process import EngineProcess
from zrecord._write.memory import Region, SharedMemory
from zrecord.errors import LauncherError, WriteError

PING, OPEN, FIELDS, BATCH, COMMIT, ABORT, CALL = range(7)
HELLO, PONG, TAKEN, OPENED, DONE, ABORTED, FAILED = range(7)
_PROTOCOL = 1
_FRAME = struct.Struct("<iiqqii")
_ANSWER = struct.Struct("<iiii")
_IDLE_SECONDS = 300
# The engine may be about to end: it is asked whether it is there before it is used.
_FRESH_SECONDS = 60.0
# The command line may have to be built first.
_START_SECONDS = 600.0
_PONG_SECONDS = 10.0


class EngineLost(Exception):
    """The engine has ended. What it did of the last frames is not known from here."""


class Answer(NamedTuple):
    kind: int
    json: Any


class Session:
    """Frames and answers of one write or call. ``number`` belongs to the engine."""

    def __init__(self, engine: Engine, number: int) -> None:
        self.engine = engine
        self.number = number
        self.answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()

    def send(self, kind: int, length: int = 0, fill: Callable[[Region], int] | None = None) -> None:
        """Sends a frame. ``fill`` puts what it carries into a region of ``length`` bytes, and returns how many belong to the
        frame itself: they come first, and name the rest by positions."""
        self.engine.send(kind, self.number, length, fill)

    def send_json(self, kind: int, json_value: Any) -> None:
        """Sends a frame that carries JSON."""
        text = json.dumps(json_value).encode()

        def fill(region: Region) -> int:
            region.bytes[: len(text)] = memoryview(text)
            return len(text)

        self.send(kind, len(text), fill)

    def wait(self, timeout: float | None = None) -> Answer:
        """Returns the next answer. Raises ``EngineLost`` if there is none, and ``TimeoutError``."""
        try:
            answer = self.answers.get(timeout=timeout)
        except queue.Empty as e:
            raise TimeoutError from e
        if answer is None:
            raise EngineLost
        return answer

    def failure(self) -> Answer | None:
        """Returns the answer that says that the session has failed, if it is there."""
        try:
            answer = self.answers.get_nowait()
        except queue.Empty:
            return None
        if answer is None:
            raise EngineLost
        return answer


class Engine:
    """A running engine. Threads may share it. Frames have one short length, so an interrupt leaves none half sent."""

    def __init__(self) -> None:
        self.process = EngineProcess(["serve", f"--idle-seconds={_IDLE_SECONDS}"], "Writing")
        self.pid = os.getpid()
        self._memory = SharedMemory(self.process.memory)
        self._sessions: dict[int, Session] = {}
        self._numbers = count(1)
        self._hello = Session(self, 0)
        self._sessions[0] = self._hello
        self.is_lost = False
        self._used = time.monotonic()
        # Signals interrupt the main thread only, so no answer is lost half read.
        threading.Thread(target=self._read, name="zrecord-engine", daemon=True).start()
        try:
            hello = self._hello.wait(_START_SECONDS)
        except EngineLost as e:
            why = self.process.why_it_ended()
            self.close()
            raise LauncherError(
                f"The engine did not start, but ended with {why}; see ZRECORD_JAVA_OPTIONS, JAVA_HOME and ZRECORD_COMMAND"
            ) from e
        except BaseException:
            self.process.kill()
            raise
        if hello.kind != HELLO or hello.json.get("protocol") != _PROTOCOL:
            self.close()
            raise LauncherError(f"The engine does not speak protocol {_PROTOCOL}; install versions that belong together")

    @contextlib.contextmanager
    def session(self) -> Iterator[Session]:
        """A session, whose answers are kept as long as this lasts."""
        session = self.begin()
        try:
            yield session
        finally:
            self.forget(session)

    def begin(self) -> Session:
        """Begins a session, whose answers are kept until ``forget``."""
        session = Session(self, next(self._numbers))
        self._sessions[session.number] = session
        if self.is_lost:
            session.answers.put(None)
        return session

    def forget(self, session: Session) -> None:
        self._sessions.pop(session.number, None)

    def is_usable(self) -> bool:
        """Tells whether the engine is there, and not about to end because it was idle."""
        if self.is_lost or self.pid != os.getpid():
            return False
        if time.monotonic() - self._used < _FRESH_SECONDS or len(self._sessions) > 1:
            return True
        with self.session() as ping:
            try:
                ping.send(PING)
                return ping.wait(_PONG_SECONDS).kind == PONG
            except (EngineLost, TimeoutError):
                return False

    def send(self, kind: int, session: int, length: int, fill: Callable[[Region], int] | None) -> None:
        if self.pid != os.getpid():
            raise WriteError("A write belongs to the process that began it; begin one after the fork")
        self._used = time.monotonic()
        if fill is None:
            self._write(_FRAME.pack(kind, session, 0, 0, 0, 0))
            return
        region = self._memory.take(length, self._require_alive)
        try:
            frame = _FRAME.pack(kind, session, region.at, fill(region), region.token, 0)
        except BaseException:
            self._memory.given_back(region.token)
            raise
        try:
            self._write(frame)
        except BaseException:
            self._memory.lost(region.token)
            raise

    def _write(self, frame: bytes) -> None:
        try:
            self.process.write(frame)
        except (OSError, ValueError) as e:
            raise EngineLost from e

    def _require_alive(self) -> None:
        if self.is_lost:
            raise EngineLost

    def _read(self) -> None:
        try:
            self._dispatch()
        finally:
            self.is_lost = True
            for session in list(self._sessions.values()):
                session.answers.put(None)

    def _dispatch(self) -> None:
        """Takes answers to their sessions, until there are no more."""
        answers = bytearray()
        while received := self.process.read():
            answers += received
            at = 0
            while len(answers) - at >= _ANSWER.size:
                length, kind, number, token = _ANSWER.unpack_from(answers, at)
                end = at + _ANSWER.size + length
                if end > len(answers):
                    break
                text = bytes(answers[at + _ANSWER.size : end])
                session = self._sessions.get(number)
                if kind == TAKEN:
                    self._memory.given_back(token)
                elif session is not None:
                    session.answers.put(Answer(kind, json.loads(text) if text else None))
                at = end
            del answers[:at]

    def kill(self) -> None:
        """Kills the engine, so that no commit of it comes later."""
        self.is_lost = True
        self.process.kill()

    def close(self) -> None:
        """Ends the engine, which aborts what was not committed."""
        self.is_lost = True
        self.process.end()


_engine: Engine | None = None
_starting = threading.Lock()


def engine() -> Engine:
    """Returns the engine of this process, which is started if it is not there."""
    global _engine
    with _starting:
        if _engine is not None and not _engine.is_usable():
            _engine.close()
            _engine = None
        if _engine is None:
            _engine = Engine()
        return _engine


def _close() -> None:
    if _engine is not None:
        _engine.close()


def _forget() -> None:
    """Leaves the engine of the parent to the parent."""
    global _engine, _starting
    _starting = threading.Lock()
    if _engine is not None:
        _engine.process.forget()
        _engine = None


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
