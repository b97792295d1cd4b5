"""One committed state of a store that is written online, with or without a running writer (FORMAT.md section 9)."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from zrecord._columns import Column
from zrecord._crc32c import crc32c
from zrecord._entries import EntriesColumn
from zrecord._files import map_bytes, open_regular, read_bytes
from zrecord._journal import StoreState, replay
from zrecord._mounts import keeps_file_numbers
from zrecord._schema import FieldSpec
from zrecord._sealed import JsonObject, corrupt, require_plain, require_version
from zrecord._shard import META_FILE, StoreChunks, StoreMeta, read_meta
from zrecord._source import OpenSource
from zrecord._tables import ENTRY
from zrecord.errors import CorruptDataError, StoreBusyError

Array = np.ndarray[Any, Any]
_LIVE_BYTES = 8384
_LENGTH_AT = 64
_SEQUENCE_AT = 72
_STATE_AT = 136
_CLOSED = 2
_JOURNAL_HEADER_BYTES = 64
_ATTEMPTS = 20
_PAUSE_SECONDS = 0.02
_MAX_JOURNAL_BYTES = 1 << 40
_TOKEN = re.compile(r"writer-[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
# Bytes of the file `lock` that a writer locks: that there is one, and that it has recovered the store.
_MARKS = (range(2, 10), range(10, 18))
_MAX_TOKEN_BYTES = 64


def read_store(root: Path) -> tuple[OpenSource, list[FieldSpec], Callable[[], str]]:
    """Reads the state of the whole store, and what makes its digest. The tables are copied; chunks are mapped."""
    _require_original(root)
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        meta = _meta(root)
        try:
            state = _state(root, meta)
            # Mapped now, because the writer may turn the store into a table and remove these names.
            chunks = StoreChunks(root, meta.uuid, dict(sorted(state.chunks.items())))
            for number in chunks.ends:
                chunks.chunk(number, state.carried.get(number, ()))
        except CorruptDataError:
            # If there was a checkpoint or a new writer meanwhile, anything may have been read.
            if _meta(root).journal_sequence == meta.journal_sequence and attempt > _ATTEMPTS // 2:
                raise
            continue
        if _meta(root).journal_sequence == meta.journal_sequence:
            return _source(root, meta, chunks, state), [field.spec for field in meta.fields], partial(_digest, meta, state)
    raise StoreBusyError(
        f"Cannot read {root}: its writer made a checkpoint during each of {_ATTEMPTS} attempts; try again, or take a snapshot",
        root,
    )


def _require_original(root: Path) -> None:
    """Requires files that are no copies, made one after the other while a writer had the store open."""
    with os.scandir(root) as files:
        tokens = [root / file.name for file in files if _TOKEN.fullmatch(file.name)]
    for token in tokens:
        try:
            descriptor = open_regular(token)
        except FileNotFoundError:
            continue  # its writer has just closed the store
        with os.fdopen(descriptor, "rb") as file:
            written = file.read(_MAX_TOKEN_BYTES)
            number = os.fstat(file.fileno()).st_ino
        # A loss of power may have left nothing, or zeros.
        if written.strip(b"\0") and written != str(number).encode() and keeps_file_numbers(root):
            raise CorruptDataError(
                f"Cannot open {root}: its files were copied while a writer had the store open, one after the other, so they may be "
                "of different moments; copy the original by 'zrecord backup', or repair the copy if nobody wrote meanwhile",
                root,
            )


def _meta(root: Path) -> StoreMeta:
    return read_meta(JsonObject.read(root / META_FILE))


def _state(root: Path, meta: StoreMeta) -> StoreState:
    state = StoreState(
        meta.length,
        dict(meta.chunks),
        [_copy(root / f"{field.stem}.offset", ENTRY, meta.length) for field in meta.fields],
        [_copy(root / f"{field.stem}.crc32c", np.dtype("<u4"), meta.length) for field in meta.fields],
    )
    # After the copy: all later changes in the copy are in the journal by now.
    has_writer = _has_writer(root)
    # Before the journal: a writer that lost its lock may go on.
    live = _live(root, meta) if has_writer or (root / "live").exists() else None
    safe = meta.journal_sequence if live is None else _word(live, _SEQUENCE_AT)
    journal = root / "journal"
    content = read_bytes(journal, _MAX_JOURNAL_BYTES)
    if live is not None and not has_writer:
        _require_one_moment(root, meta, live, len(content))
    reached = replay(journal, content, meta.uuid, state, meta.journal_sequence, safe if has_writer else None)
    if not has_writer and safe > reached:
        raise corrupt(journal, f"it ends with record {reached}, but records up to {safe} were safe and had begun to change it")
    return state


def _source(root: Path, meta: StoreMeta, chunks: StoreChunks, state: StoreState) -> OpenSource:
    tables = zip(meta.fields, state.entries, state.checksums)
    columns = {field.spec.id: (field, entries, checksums) for field, entries, checksums in tables}

    def column(spec: FieldSpec, verify: str) -> Column:
        field, entries, checksums = columns[spec.id]
        path = root / f"{field.stem}.offset"
        return EntriesColumn(path, chunks, field.spec, verify, entries[: state.length], checksums[: state.length])

    return OpenSource(state.length, column)


def _digest(meta: StoreMeta, state: StoreState) -> str:
    """Returns the digest of the records of a store (SAMPLERS.md section 1), which does not depend on where values lie."""
    found = hashlib.sha256(meta.uuid.bytes + state.length.to_bytes(8, "big"))
    for field, checksums in sorted(zip(meta.fields, state.checksums), key=lambda pair: pair[0].spec.id):
        found.update(field.spec.id.to_bytes(8, "big"))
        found.update(checksums[: state.length].astype("<u4", copy=False).tobytes())
    return found.hexdigest()[:16]


def _copy(path: Path, dtype: np.dtype[Any], length: int) -> Array:
    """Returns the first entries of a table, as they happen to be."""
    try:
        descriptor = open_regular(path)
    except FileNotFoundError as e:
        raise corrupt(path, "the file is missing") from e
    with os.fdopen(descriptor, "rb") as file:
        # Before memory is taken for what the meta file says only.
        present = os.fstat(file.fileno()).st_size // dtype.itemsize
        table = np.fromfile(file, dtype, length) if length <= present else np.zeros(0, dtype)
    if table.size < length:
        raise corrupt(path, f"it has {present} of {length} entries")
    return table


def _require_one_moment(root: Path, meta: StoreMeta, live: Array, journal_bytes: int) -> None:
    """Requires that the other files are those of a closed store, if ``live`` says that the store was closed."""
    length, sequence = _word(live, _LENGTH_AT), _word(live, _SEQUENCE_AT)
    # A shorter one is damaged, whatever `live` says.
    if journal_bytes <= _JOURNAL_HEADER_BYTES and (length, sequence) == (meta.length, meta.journal_sequence):
        return
    # Last: a writer that comes takes the mark away before it changes anything.
    if _word(live, _STATE_AT) == _CLOSED:
        raise corrupt(
            root / "live",
            f"it says that the store was closed with {length} records after commit {sequence}, but the meta file says "
            f"{meta.length} records and commit {meta.journal_sequence}, and the journal has {journal_bytes} bytes: "
            "the files are of different moments",
        )


def _word(live: Array, at: int) -> int:
    """Loads a number of ``live`` at once; reading the file might tear it."""
    return int(live[at : at + 8].view("<u8")[0])


def _live(root: Path, meta: StoreMeta) -> Array:
    """Maps ``live``, which says what the writer has published, or that the last one closed the store."""
    path = root / "live"
    mapped = map_bytes(path, _LIVE_BYTES)
    if path.stat().st_size != _LIVE_BYTES:
        raise corrupt(path, f"it has {path.stat().st_size} bytes instead of {_LIVE_BYTES}")
    content = mapped[:64].tobytes()
    if (
        content[:8] != b"ZRECLIVE"
        or crc32c(content[:40]) != int.from_bytes(content[40:44], "little")
        or content[16:32] != meta.uuid.bytes
    ):
        raise corrupt(path, "it is damaged or of another store")
    require_version(path, int.from_bytes(content[8:12], "little"))
    require_plain(path, content, _LIVE_BYTES, (32, 40))
    return mapped


def _is_locked(fcntl: Any, descriptor: int, mark: int) -> bool:
    """Tells whether a writer has locked a byte, by locking it for a moment. A process that is stopped meanwhile blocks one byte."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, mark)
    except (BlockingIOError, PermissionError):
        return True
    fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, mark)
    return False


def _has_writer(root: Path) -> bool:
    """Tells whether a writer has recovered the store. A writer that is recovering changes only what the journal says."""
    try:
        import fcntl
    except ImportError as e:
        raise StoreBusyError(
            f"Cannot read {root}: whether a store is being written cannot be told on this system; read a snapshot of it",
            root,
        ) from e
    try:
        descriptor = open_regular(root / "lock")
    except FileNotFoundError:
        return False
    try:
        # In this order: a writer that becomes ready in between is found.
        return all(any(_is_locked(fcntl, descriptor, mark) for mark in marks) for marks in _MARKS)
    finally:
        os.close(descriptor)
