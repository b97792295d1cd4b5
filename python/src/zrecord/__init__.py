"""zrecord datasets as NumPy arrays: ``zrecord.open(path)["image"][[5, 1, 5]]``.

The files are specified in ``docs/spec/FORMAT.md``.
"""

from zrecord import samplers
from zrecord._batch import BadRecord, Batch
from zrecord._condition import Condition
from zrecord._dataset import Dataset
from zrecord._declarations import Constraint, Declarations, Identity, OrderField
from zrecord._epoch_iterator import EpochIterator
from zrecord._epochs import Feed
from zrecord._feed import feed
from zrecord._field import Field
from zrecord._nested import Nested, NestedArray
from zrecord._open import open
from zrecord._progress import FeedStatistics
from zrecord._ragged import Ragged
from zrecord._schema import FieldSpec
from zrecord._versions import Tag, Version
from zrecord._write.api import add_field, append, create, delete, overwrite, update, writer
from zrecord._write.care import expire, rebalance, sweep, tag, untag, verify
from zrecord._write.results import Committed, Expired, Rebalanced, Swept, Verified
from zrecord._write.writer import Writer
from zrecord.errors import (
    AccessDeniedError,
    CommitConflictError,
    CommitOutcomeUnknown,
    CorruptDataError,
    DatasetExistsError,
    FeedError,
    FeedTimeoutError,
    FormatError,
    LauncherError,
    MissingExtraError,
    NotADatasetError,
    SchemaMismatchError,
    StorageError,
    StoreBusyError,
    WriteError,
    ZrecordError,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "AccessDeniedError",
    "BadRecord",
    "Batch",
    "CommitConflictError",
    "CommitOutcomeUnknown",
    "Committed",
    "Condition",
    "Constraint",
    "CorruptDataError",
    "Dataset",
    "DatasetExistsError",
    "Declarations",
    "EpochIterator",
    "Expired",
    "Feed",
    "FeedError",
    "FeedStatistics",
    "FeedTimeoutError",
    "Field",
    "FieldSpec",
    "FormatError",
    "Identity",
    "LauncherError",
    "MissingExtraError",
    "Nested",
    "NestedArray",
    "NotADatasetError",
    "OrderField",
    "Ragged",
    "Rebalanced",
    "SchemaMismatchError",
    "StorageError",
    "StoreBusyError",
    "Swept",
    "Tag",
    "Verified",
    "Version",
    "WriteError",
    "Writer",
    "ZrecordError",
    "add_field",
    "append",
    "create",
    "delete",
    "expire",
    "feed",
    "open",
    "overwrite",
    "rebalance",
    "samplers",
    "sweep",
    "tag",
    "untag",
    "update",
    "verify",
    "writer",
]
