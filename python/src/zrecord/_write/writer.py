"""A write: batches that become one version of a table when they are committed, and nothing before."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Literal

import numpy as np

from zrecord._location import is_remote, local_path
from zrecord._write import engine as engines
from zrecord._write.batches import Batch, Records, batches_of, parts_of, type_of
from zrecord._write.engine import BATCH, COMMIT, FAILED, FIELDS, OPEN, OPENED, EngineLost, Session
from zrecord._write.failures import exception_of, lost_commit
from zrecord._write.layout import layouts
from zrecord._write.results import Committed
from zrecord._write.types import ColumnType, of_json, parse_schema
from zrecord.errors import CommitOutcomeUnknown, SchemaMismatchError, WriteError

Mode = Literal["create", "append", "overwrite"]
MODES = ("create", "append", "overwrite")
Options = Mapping[str, str] | None
# How long an answer to an interrupted commit is waited for.
_INTERRUPTED_SECONDS = 5.0


def engine_path(path: str | os.PathLike[str]) -> str:
    """Returns a path as the engine takes it: a URL unchanged, and a local path absolute."""
    if isinstance(path, str) and is_remote(path):
        return path
    return str(local_path(path).absolute())


def checked_options(options: Options) -> dict[str, str]:
    """Returns options of the engine's storage. Raises ``TypeError`` that names the option, and not its value."""
    for name, value in (options or {}).items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"The engine option {name!r} is a {type(value).__name__}; options are a mapping of str to str")
    return dict(options or {})


def new_transaction(since: int | None = None) -> str:
    """Returns the name of a new attempt, planned on a version: -1 for no table."""
    return f"{uuid.uuid4()}@{-1 if since is None else since}"


def _read_transaction(text: str) -> tuple[str, int]:
    commit, _, since = text.partition("@") if isinstance(text, str) else ("", "", "")
    try:
        return str(uuid.UUID(commit)), int(since)
    except ValueError as e:
        raise ValueError(
            f"transaction is {text!r}; give the transaction of an earlier attempt, from its error or its writer"
        ) from e


class Attempt:
    """One session with the engine, up to its commit. ``transaction`` names it so that it can be repeated."""

    def __init__(self, path: str, mode: str, arguments: Mapping[str, Any], transaction: str | None) -> None:
        self.path = path
        self._mode = mode
        commit, since = (str(uuid.uuid4()), None) if transaction is None else _read_transaction(transaction)
        self.session: Session = engines.engine().begin()
        self.is_over = False
        try:
            request = {"path": path, "mode": mode, "commit": commit, "since": since, **arguments}
            self.session.send_json(OPEN, request)
            answer = self.session.wait()
            if answer.kind != OPENED:
                raise exception_of(answer.json)
        except EngineLost as e:
            self.is_over = True
            self.session.engine.forget(self.session)
            raise self._lost() from e
        except BaseException:
            self.abort()
            raise
        opened = answer.json
        base: int = opened["since"] if since is None else since
        self.transaction = f"{commit}@{base}"
        # Other changes are no attempt that can be repeated.
        self._repeatable = self.transaction if mode in MODES else None
        self.length: int = opened.get("length", 0)
        self.fields: dict[str, ColumnType] | None = of_json(opened["fields"]) if "fields" in opened else None
        self.is_numbered: bool = opened.get("numbered", False)
        done = opened.get("done")
        self.done = None if done is None else Committed(done["version"], done["length"], 0, self.transaction, True)

    def send_fields(self, types: Mapping[str, ColumnType]) -> None:
        self._send(lambda: self.session.send_json(FIELDS, [type_.json(name) for name, type_ in types.items()]))

    def send(self, types: Mapping[str, ColumnType], batch: Batch) -> int:
        """Sends a batch, and returns its number of records."""
        count = 0
        for parts, start, stop in parts_of(types, batch):
            for layout in layouts(parts, start, stop):
                self._send(lambda: self.session.send(BATCH, layout.length, layout.fill))  # noqa: B023
                count += layout.count
        return count

    def _send(self, send: Callable[[], None]) -> None:
        """Sends a frame, unless the session is known to have failed: then raises why."""
        self._require_process()
        try:
            failure = self.session.failure()
            if failure is None:
                send()
                return
        except EngineLost as e:
            raise self._lost() from e
        raise exception_of(failure.json)

    def _require_process(self) -> None:
        if self.session.engine.pid != os.getpid():
            raise WriteError(f"The write to {self.path} belongs to the process that began it; begin one after the fork", self.path)

    def _lost(self) -> WriteError:
        self.is_over = True
        why = self.session.engine.process.why_it_ended()
        return WriteError(f"The engine has ended, with {why}; nothing was committed to {self.path}", self.path)

    def commit(self) -> Committed:
        """Asks for the commit, and waits for what became of it."""
        self._send(lambda: None)
        engine, self.is_over = self.session.engine, True
        is_sent = False
        try:
            self.session.send(COMMIT)
            is_sent = True
            answer = self.session.wait()
        except EngineLost as e:
            if not is_sent:
                raise self._lost() from e
            # Nothing of it must come later, when the write is repeated.
            why = f"the engine has ended, with {engine.process.why_it_ended()}"
            engine.kill()
            raise lost_commit(self.path, why, self._repeatable) from e
        except BaseException as e:
            raise e from self._after_interrupt()
        finally:
            engine.forget(self.session)
        if answer.kind == FAILED:
            raise exception_of(answer.json, self._repeatable)
        done = answer.json
        return Committed(done["version"], done["length"], done["records"], self.transaction, done.get("repeated", False))

    def _after_interrupt(self) -> CommitOutcomeUnknown | None:
        """Waits a little for the answer to an interrupted commit. Returns what to say if none came, or if it took effect."""
        engine = self.session.engine
        try:
            answer = self.session.wait(_INTERRUPTED_SECONDS)
        except BaseException:
            # Also after another interrupt, nothing of it must come later.
            engine.kill()
            return lost_commit(self.path, "the call was interrupted", self._repeatable)
        if answer.kind == FAILED:
            return None
        return lost_commit(self.path, f"the call was interrupted, and it is version {answer.json['version']}", self._repeatable)

    def abort(self) -> None:
        """Ends the session without a commit, and waits until what it has written is deleted."""
        engine = self.session.engine
        was_over, self.is_over = self.is_over, True
        try:
            if not was_over and engine.pid == os.getpid():
                self.session.send(engines.ABORT)
                while self.session.wait().kind != engines.ABORTED:
                    pass
        except EngineLost:
            pass
        finally:
            engine.forget(self.session)

    def drop(self) -> None:
        """Ends the session without a commit, and does not wait: for a garbage collector, which may run anywhere."""
        engine = self.session.engine
        if not self.is_over and not engine.is_lost and engine.pid == os.getpid():
            self.is_over = True
            with contextlib.suppress(EngineLost):
                self.session.send(engines.ABORT)
            engine.forget(self.session)


class Writer:
    """Writes batches to a table, and commits them as one version. See ``writer``. Belongs to one thread and process.

    Nothing that was written is seen by anybody before it is committed. As a context manager it commits at the end, and
    aborts if the block ends by an exception. It also aborts when nothing refers to it any more. After a commit it goes on
    with the next version: further batches are appended.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: Mode = "append",
        *,
        schema: Mapping[str, str] | None = None,
        align_bytes: int = 8,
        transaction: str | None = None,
        engine_options: Mapping[str, str] | None = None,
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"mode is {mode!r}; it must be one of {', '.join(MODES)}")
        self._path = engine_path(path)
        self._mode: str = mode
        self._schema = parse_schema(schema)
        self._arguments = {"alignBytes": align_bytes, "storageOptions": checked_options(engine_options)}
        self._types: dict[str, ColumnType] = {}
        self._last: Committed | None = None
        self._is_closed = False
        self._attempt: Attempt | None = Attempt(self._path, mode, self._arguments, transaction)

    @property
    def transaction(self) -> str:
        """The name of the attempt. Keep it before the commit to repeat the write after this process has died."""
        return self._open().transaction

    def _open(self) -> Attempt:
        if self._is_closed:
            raise ValueError(f"The writer of {self._path} was closed; make another one")
        if self._attempt is None:
            self._attempt = Attempt(self._path, "append", self._arguments, None)
        return self._attempt

    def write(self, data: Any) -> None:
        """Adds records; ``create`` says what ``data`` may be. Returns when the engine has been given them.

        After an exception nothing of the whole write is committed.
        """
        attempt = self._open()
        if attempt.done is not None:
            return
        try:
            for batch in batches_of(data):
                self._write(attempt, batch)
        except BaseException:
            self.abort()
            raise

    def _write(self, attempt: Attempt, batch: Batch) -> None:
        if not self._types:
            types = self._types_of(attempt, batch)
            attempt.send_fields(types)
            self._types = types
        batch = self._complete(batch)
        attempt.send(self._types, batch)

    def _types_of(self, attempt: Attempt, batch: Batch) -> dict[str, ColumnType]:
        """Returns the types to write as: those of the table, else of the schema, else of the values."""
        of_table = attempt.fields if self._mode == "append" and attempt.fields is not None else None
        known = of_table if of_table is not None else self._schema
        for name, given in self._schema.items():
            if of_table is not None and (name not in of_table or not of_table[name].is_same(given)):
                there = of_table.get(name, "not there")
                raise SchemaMismatchError(
                    f"Field '{name}' is {given} in the schema, but {there} in the table {self._path}", self._path
                )
        unknown = [name for name in batch if name not in known]
        if unknown and of_table is not None:
            raise SchemaMismatchError(
                f"Field '{unknown[0]}' is not in {self._path}, whose fields are {list(of_table)}; leave it out, or add it by"
                " zrecord.add_field",
                self._path,
            )
        if of_table is not None and attempt.is_numbered:
            return {name: of_table[name] for name in batch}
        return {**known, **{name: type_of(name, batch[name]) for name in unknown}}

    def _complete(self, batch: Batch) -> Batch:
        """Requires the fields of the write. A field that some of the records lack is absent in these."""
        for name in batch:
            if name not in self._types:
                raise SchemaMismatchError(
                    f"Field '{name}' was not in the first batch, whose fields are {list(self._types)}", self._path
                )
        missing = [name for name in self._types if name not in batch]
        if not missing:
            return batch
        count = len(next(iter(batch.values()))) if batch else 0
        if isinstance(batch, Records) and batch:
            return {**batch, **{name: [None] * count for name in missing}}
        raise SchemaMismatchError(
            f"Field '{missing[0]}' of {self._path} is missing; give a value, or None, for each record", self._path
        )

    def commit(self) -> Committed | None:
        """Makes what was written since the last commit one version, and returns it; ``None`` if nothing was written.

        Raises ``CommitConflictError`` if another commit came first that this cannot follow, and ``CommitOutcomeUnknown`` if
        it is not known whether it took effect.
        """
        attempt = self._open()
        if attempt.done is not None:
            self._last = attempt.done
        elif self._types or (self._schema and self._mode != "append"):
            if not self._types:
                attempt.send_fields(self._schema)
            try:
                self._last = attempt.commit()
            except BaseException:
                self.abort()
                raise
        else:
            return None
        self._attempt, self._types, self._mode = None, {}, "append"
        attempt.abort()
        return self._last

    def abort(self) -> None:
        """Drops what was written since the last commit, deletes its files, and closes the writer."""
        self._is_closed = True
        if self._attempt is not None:
            self._attempt.abort()
            self._attempt = None

    @property
    def committed(self) -> Committed | None:
        """The last commit; ``None`` before the first."""
        return self._last

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None and not self._is_closed and self._attempt is not None:
                self.commit()
        finally:
            self.abort()

    def __del__(self) -> None:
        attempt = getattr(self, "_attempt", None)
        if attempt is not None:
            attempt.drop()

    def __repr__(self) -> str:
        return f"<zrecord.Writer of {self._path}{', closed' if self._is_closed else ''}>"


def indices_column(indices: Any) -> np.ndarray[Any, Any]:
    """Returns indices as a column of whole numbers."""
    found = np.asarray(indices)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and len(found)):
        raise ValueError(
            f"indices are an array of {found.ndim} dimensions of {found.dtype}; give a list of whole numbers,"
            " np.flatnonzero(mask) for a mask"
        )
    if found.dtype.kind == "u" and len(found) and int(found.max()) > 2**63 - 1:
        raise IndexError(f"Index {found.max()} is out of range")
    return found.astype(np.int64)
