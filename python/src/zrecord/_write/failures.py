"""Exceptions of Python for those of the engine."""

from __future__ import annotations

from typing import Any

from zrecord.errors import (
    CommitConflictError,
    CommitOutcomeUnknown,
    CorruptDataError,
    DatasetExistsError,
    FormatError,
    NotADatasetError,
    SchemaMismatchError,
    StorageError,
    StoreBusyError,
    WriteError,
    ZrecordError,
)

_CLASSES: dict[str, type[ZrecordError]] = {
    "CommitConflictException": CommitConflictError,
    "DatasetExistsException": DatasetExistsError,
    "NotADatasetException": NotADatasetError,
    "VersionNotFoundException": NotADatasetError,
    "SchemaMismatchException": SchemaMismatchError,
    "ValueTooLargeException": SchemaMismatchError,
    "UnsupportedFormatException": FormatError,
    "CorruptDataException": CorruptDataError,
    "MissingFileException": CorruptDataError,
    "TruncatedFileException": CorruptDataError,
    "StorageException": StorageError,
    "DiskFullException": StorageError,
    "FileUnavailableException": StorageError,
    "StoreLockedException": StoreBusyError,
}
_MISTAKES: dict[str, type[Exception]] = {
    "IllegalArgumentException": ValueError,
    "IndexOutOfBoundsException": IndexError,
}


def exception_of(failure: dict[str, Any], transaction: str | None = None) -> Exception:
    """Returns the exception for what an engine says of a failure."""
    name, message = failure["class"], failure["message"]
    if name == "CommitOutcomeUnknownException":
        return CommitOutcomeUnknown(_with_transaction(message, transaction), failure.get("resource"), transaction)
    if name in _MISTAKES:
        return _MISTAKES[name](message)
    if name in _CLASSES:
        return _CLASSES[name](message, failure.get("resource"))
    return WriteError(f"The engine failed with {name}: {message}", failure.get("resource"))


def lost_commit(path: str, why: str, transaction: str | None) -> CommitOutcomeUnknown:
    """Returns the exception for a commit whose answer did not come."""
    message = f"The commit to {path} may or may not have taken effect: {why}"
    return CommitOutcomeUnknown(_with_transaction(message, transaction), path, transaction)


def _with_transaction(message: str, transaction: str | None) -> str:
    if transaction is None:
        return f"{message}; look at the newest version before you repeat the call"
    return f"{message}; repeat the same write with transaction={transaction!r}, which takes effect once"
