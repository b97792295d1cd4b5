"""Evaluates conditions on the records of a dataset, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zrecord._condition import Condition, Read
from zrecord._field import Field
from zrecord._steps import bytes_of, in_steps

Array = np.ndarray[Any, Any]
#: Reads some fields at records, side by side where they are remote.
Reading = Callable[[Mapping[str, Field], Callable[[Field], Any]], dict[str, Any]]
_STEP_BYTES = 16 << 20
_MAX_STEP = 1 << 20


def holds(length: int, fields: Mapping[str, Field], condition: Condition, reading: Reading) -> Array:
    """Returns the indices of the records that a condition is true of, in rising order."""

    def read(records: range) -> dict[str, Read]:
        indices = np.arange(records.start, records.stop)
        return reading(fields, lambda field: Read(field.spec, field[records.start : records.stop], _present(field, indices)))

    found = []
    for records, reads in _steps(length, fields, read, lambda reads: sum(bytes_of(read.values) for read in reads.values())):
        is_true, _ = condition._judge(reads.__getitem__)
        found.append(np.flatnonzero(is_true) + records.start)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def chosen(length: int, fields: Mapping[str, Field], choose: Callable[[dict[str, Any]], Any], reading: Reading) -> Array:
    """Returns the indices of the records that a function chooses by a mask, in rising order.

    Raises ``ValueError`` if the function returns anything but a flag for each of the records that it was given.
    """

    def read(records: range) -> dict[str, Any]:
        return reading(fields, lambda field: field[records.start : records.stop])

    found = []
    for records, values in _steps(length, fields, read, lambda values: sum(map(bytes_of, values.values()))):
        mask = np.asarray(choose(values))
        if mask.dtype != bool or mask.shape != (len(records),):
            raise ValueError(
                f"The function of where() was given {len(records)} records, and returned {mask.dtype} of the shape {mask.shape}; "
                f"return an array of bool of the shape ({len(records)},)"
            )
        found.append(np.flatnonzero(mask) + records.start)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _present(field: Field, indices: Array) -> Array:
    absent = field.absent(indices)
    present: Array = np.ones(indices.size, bool) if absent is None else ~absent
    return present


def _steps(length: int, fields: Mapping[str, Field], read: Callable[[range], Any], size: Callable[[Any], int]) -> Any:
    return in_steps(length, [field.spec for field in fields.values()], read, size, _STEP_BYTES, _MAX_STEP)
