"""A batch of a feed, and how its arrays are made of shared memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from zrecord._ragged import Ragged
from zrecord._schema import STORED

Array = np.ndarray[Any, Any]
Values = Array | Ragged
FIELD_WORDS = 5
_DTYPES = {**STORED, "timestamp": "<M8[us]", "timestamp_ntz": "<M8[us]"}
_PLAIN = frozenset(_DTYPES) - {"date", "bool"} | {"bytes", "utf8"}


@dataclass(frozen=True)
class BadRecord:
    """A record that a feed could not deliver."""

    #: The index of the record in the dataset.
    index: int
    #: The field that could not be read.
    field: str
    #: What went wrong, in words, of at most 500 characters.
    reason: str


class Batch(dict[str, Any]):
    """Values by field: arrays whose first axis counts the records, or ``Ragged`` if lengths differ."""

    __slots__ = ("_lengths", "_state", "bad_record_count", "bad_records", "epoch", "index", "marks", "number")

    def __init__(self, epoch: int, number: int, index: Array, state: bytes = b"{}") -> None:
        super().__init__()
        #: Counted from 0.
        self.epoch = epoch
        #: Number of batches before this one, since the very beginning of the training.
        self.number = number
        #: The records' indices in the dataset.
        self.index = index
        #: Which values are absent, for fields with absent values.
        self.marks: dict[str, Array] = {}
        #: The records that were skipped in this batch, or that others took the place of: at most 100 of them.
        self.bad_records: tuple[BadRecord, ...] = ()
        #: How many there are.
        self.bad_record_count = 0
        self._state = state
        self._lengths: dict[str, Array] = {}

    @property
    def state(self) -> dict[str, Any]:
        """The state from which a feed continues after this batch, however far the feed itself has come. Fit for JSON.

        Give it to ``load_state_dict``. Each call makes a new dict.
        """
        state: dict[str, Any] = json.loads(self._state)
        return state

    def absent(self, field: str) -> Array:
        """Returns which records have no value of a field; such values are zeros, or empty."""
        self._require(field)
        marks = self.marks.get(field)
        return np.zeros(len(self.index), bool) if marks is None else marks

    def lengths(self, field: str) -> Array:
        """Returns the length of each value along its first axis, without padding: int64, one number for each record.

        Values of bytes count in bytes, text in bytes of UTF-8. An absent value has length 0.
        Raises ``ValueError`` for a field of single numbers, whose values have no axis.
        """
        values = self._require(field)
        if isinstance(values, Ragged):
            return np.diff(values.offsets)
        lengths = self._lengths.get(field)
        if lengths is not None:
            return lengths
        if values.ndim < 2:
            raise ValueError(f"Field '{field}' has single values, which have no length; take a field of arrays, bytes or text")
        return np.where(self.absent(field), 0, values.shape[1])

    def mask(self, field: str) -> Array:
        """Returns which steps of a padded field are values: bool of shape (records, steps), false where padding is.

        Raises ``ValueError`` for a field that is not one array with at least two axes.
        """
        if isinstance(self._require(field), Ragged):
            raise ValueError(f"Field '{field}' is not padded, so it has no mask; give pad={{'{field}': 'longest'}} to the feed")
        lengths = self.lengths(field)
        mask: Array = np.arange(self[field].shape[1]) < lengths[:, None]
        return mask

    def _require(self, field: str) -> Any:
        if field not in self:
            raise KeyError(f"Field '{field}' is not in the batch; its fields are {list(self)}")
        return self[field]


class FieldArrays:
    """Makes arrays of the values of a field."""

    def __init__(self, json: dict[str, Any]) -> None:
        self.name: str = json["name"]
        self._type: str = json["dtype"]
        self._shape: tuple[int, ...] = tuple(json["shape"])
        self._dtype = np.dtype(_DTYPES.get(self._type, "u1"))
        self._element_bytes = self._dtype.itemsize
        self._scale = 0
        self._is_decimal = self._type.startswith("decimal")
        if self._is_decimal:
            precision, self._scale = map(int, self._type[len("decimal(") : -1].split(","))
            self._element_bytes = 4 if precision <= 9 else 8 if precision <= 18 else 16
        self._step_bytes = self._element_bytes * int(np.prod(self._shape[1:], dtype=np.int64))

    def add(self, batch: Batch, memory: Array, words: tuple[int, ...]) -> None:
        """Adds the values to a batch. The words are those of the field in the message of the batch."""
        values_at, length, steps, ends_at, absent_at = words
        count = len(batch.index)
        ends = None if ends_at < 0 else np.ndarray((count,), "<i4", memory, ends_at)
        if ends is None:
            batch[self.name] = self._stacked(memory, (count, *self._shape), values_at, length)
        elif steps >= 0:
            batch[self.name] = self._stacked(memory, (count, steps, *self._shape[1:]), values_at, length)
            batch._lengths[self.name] = self._in_steps(ends)
        else:
            batch[self.name] = self._ragged(memory[values_at : values_at + length], ends)
        if absent_at >= 0:
            batch.marks[self.name] = np.ndarray((count,), bool, memory, absent_at)

    def _stacked(self, memory: Array, shape: tuple[int, ...], at: int, length: int) -> Array:
        if self._type in _PLAIN:
            return np.ndarray(shape, self._dtype, memory, at)
        return self._shown(memory[at : at + length]).reshape(shape)

    def _ragged(self, raw: Array, ends: Array) -> Ragged:
        offsets = np.zeros(len(ends) + 1, np.int64)
        offsets[1:] = self._in_steps(ends)
        rows = 0 if self._step_bytes == 0 else -1
        return Ragged(self._shown(raw).reshape(rows, *self._shape[1:]), offsets, self._type)

    def _in_steps(self, byte_counts: Array) -> Array:
        return byte_counts.astype(np.int64) // max(1, self._step_bytes)

    def _shown(self, raw: Array) -> Array:
        if self._is_decimal:
            decimals = np.empty(len(raw) // self._element_bytes, object)
            data = raw.tobytes()
            for i in range(len(decimals)):
                unscaled = data[i * self._element_bytes : (i + 1) * self._element_bytes]
                decimals[i] = Decimal(f"{int.from_bytes(unscaled, 'little', signed=True)}E-{self._scale}")
            return decimals
        if self._type == "bool":
            return raw != 0
        elements = raw.view(self._dtype)
        return elements.astype("M8[D]") if self._type == "date" else elements
