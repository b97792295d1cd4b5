"""zrecord datasets as NumPy arrays: ``zrecord.open(path)["image"][[5, 1, 5]]``.

The files are specified in ``docs/spec/FORMAT.md``.
"""

from zrecord import samplers
from zrecord._batch import BadRecord, Batch
from zrecord._converter import converter
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
from zrecord.errors import (
    AccessDeniedError,
    CorruptDataError,
    FeedError,
    FeedTimeoutError,
    FormatError,
    LauncherError,
    MissingExtraError,
    NotADatasetError,
    StorageError,
    StoreBusyError,
    ZrecordError,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "AccessDeniedError",
    "BadRecord",
    "Batch",
    "Constraint",
    "CorruptDataError",
    "Dataset",
    "Declarations",
    "EpochIterator",
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
    "StorageError",
    "StoreBusyError",
    "ZrecordError",
    "converter",
    "feed",
    "open",
    "samplers",
]
