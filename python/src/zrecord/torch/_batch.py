"""A batch, and the indices that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zrecord.samplers._mixing import Indices


class BatchIndices(tuple[int, ...]):
    """The indices of a batch, a tuple, as a batch that is changed has no state.

    ``array`` has them as int64, to read only; ``epoch`` counts from 0, and ``state`` goes on after this batch.
    """

    array: Indices
    epoch: int
    state: dict[str, Any]

    def __new__(cls, array: Indices, epoch: int, state: dict[str, Any]) -> BatchIndices:
        made = super().__new__(cls, array.tolist())
        made.array = array
        made.array.flags.writeable = False
        made.epoch = epoch
        made.state = state
        return made

    def __reduce__(self) -> tuple[Callable[..., BatchIndices], tuple[Any, ...]]:
        return _read_indices, (self.array.tobytes(), self.epoch, self.state)


def _read_indices(array: bytes, epoch: int, state: dict[str, Any]) -> BatchIndices:
    return BatchIndices(np.frombuffer(array, np.int64), epoch, state)


class Batch(dict[str, Any]):
    """Values by field: arrays, or tensors after ``collate``, whose first axis counts the records; a list if values differ in shape.

    A list has ``None`` for absent values. Arrays have zeros, and ``absent`` tells which.
    """

    __slots__ = ("bfloat16", "epoch", "index", "marks", "state")

    def __init__(self, values: Mapping[str, Any] | None = None, index: Indices | None = None) -> None:
        super().__init__(values or {})
        #: The records' indices in the dataset, as an array of int64.
        self.index: Indices = np.zeros(0, np.int64) if index is None else index
        #: The epoch, from 0; ``None`` if the indices are not those of a ``BatchSampler``.
        self.epoch: int | None = None
        #: The state from which ``BatchSampler.load_state_dict`` goes on after this batch, however many were loaded ahead.
        self.state: dict[str, Any] | None = None
        #: Which values are absent, for fields with absent values in this batch.
        self.marks: dict[str, Any] = {}
        #: The fields whose arrays have the bits of bfloat16, which NumPy lacks; ``collate`` makes such tensors of them.
        self.bfloat16: frozenset[str] = frozenset()

    def __reduce__(self) -> tuple[Callable[..., Batch], tuple[Any, ...]]:
        return _read_batch, (dict(self), self.index.tobytes(), self.epoch, self.state, self.marks, self.bfloat16)

    def absent(self, field: str) -> Any:
        """Returns which records have no value of a field; ``None`` if all have one."""
        if field not in self:
            raise KeyError(f"Field {field!r} is not in the batch; its fields are {', '.join(self)}")
        return self.marks.get(field)

    def __missing__(self, key: object) -> Any:
        if isinstance(key, int):
            raise KeyError(f"A batch has fields, not number {key}; give DataLoader collate_fn=zrecord.torch.collate")
        raise KeyError(f"Field {key!r} is not in the batch; its fields are {', '.join(self)}")


def _read_batch(values: dict[str, Any], index: bytes, *others: Any) -> Batch:
    batch = Batch(values, np.frombuffer(index, np.int64).copy())
    batch.epoch, batch.state, batch.marks, batch.bfloat16 = others
    return batch
