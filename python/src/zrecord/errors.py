"""Errors of datasets. Mistakes of the caller are ``IndexError``, ``KeyError`` and ``ValueError``."""

from __future__ import annotations


class ZrecordError(Exception):
    """Base of all errors of this package; ``resource`` is the path or URL concerned, or ``None``."""

    def __init__(self, message: str, resource: object = None) -> None:
        super().__init__(message)
        self.resource = None if resource is None else str(resource)


class NotADatasetError(ZrecordError):
    """The path or URL has nothing, something else than a dataset, or not the requested version."""


class FormatError(ZrecordError):
    """The files are of a later version of the format, or use what this package cannot read."""


class CorruptDataError(ZrecordError):
    """The files break a rule of the format or fail a checksum."""


class StorageError(ZrecordError):
    """A remote storage refused or failed. Nothing is known to be damaged; the message says what to do."""


class AccessDeniedError(StorageError):
    """A remote storage denies the credentials what was asked for. Some servers so answer for files that are missing."""


class StoreBusyError(ZrecordError):
    """A store that is being written or recovered could not be read in one state; the same call may succeed later."""


class MissingExtraError(ZrecordError, ImportError):
    """A value or a URL needs a library that is not installed; the message says how to install the library."""


class LauncherError(ZrecordError):
    """The command line of zrecord, which runs in Java, was not found or failed."""


class FeedError(ZrecordError):
    """A feed or a batch sampler ended, or cannot continue."""


class FeedTimeoutError(FeedError, TimeoutError):
    """No batch came in time; asking again waits again."""


class WriteError(ZrecordError):
    """A write ended without a commit: the table is as it was. The message says why."""


class SchemaMismatchError(WriteError, ValueError):
    """The fields or values that were offered do not fit the fields of the table; nothing was committed."""


class DatasetExistsError(WriteError):
    """A table was to be created where one is; append to it, overwrite it, or choose another path."""


class CommitConflictError(WriteError):
    """Another commit came first that this one cannot follow; nothing was committed. Read again and write again."""


class CommitOutcomeUnknown(ZrecordError):
    """The commit may or may not have taken effect. Nothing was deleted.

    ``transaction`` names the attempt: the same write with ``transaction=error.transaction`` takes effect once. It is
    ``None`` where the write cannot be repeated so; then look at the newest version first.
    """

    def __init__(self, message: str, resource: object = None, transaction: str | None = None) -> None:
        super().__init__(message, resource)
        self.transaction = transaction
