"""What a feed is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zrecord._batch import Batch


@dataclass(frozen=True)
class FeedArguments:
    """What ``zrecord.feed`` was given, checked, with the words for the engine's command ``feed``."""

    #: The command, the dataset, and options.
    words: Sequence[str]
    indices: np.ndarray[Any, Any] | None
    epochs: int | None
    depth: int
    timeout: float
    writable: bool
    as_completed: bool
    bad_records: str
    #: Whether other processes have the other records.
    is_one_of_ranks: bool
    #: Makes of a batch, and of the first message of the engine, what iterators return.
    convert: Callable[[Batch, Mapping[str, Any]], Any] = lambda batch, header: batch

    @property
    def dataset(self) -> str:
        return self.words[1]
