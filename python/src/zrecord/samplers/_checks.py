"""Checks of the arguments of samplers. Messages name the argument, its value, the range and a remedy."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from zrecord._field import Field
from zrecord.samplers._mixing import Indices

Floats = np.ndarray[Any, np.dtype[np.float64]]
MAX_LENGTH = 2**62


def in_range(name: str, value: SupportsIndex, least: int, most: int, remedy: str) -> int:
    """Returns the value as an ``int``; raises ``ValueError`` if it is not in ``[least, most]``."""
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"Cannot sample: {name} is {number}, which is not in [{least}, {most}]; {remedy}")
    return number


def length_of(name: str, value: SupportsIndex) -> int:
    """Returns the length of an index space, from 0 to 2⁶²."""
    return in_range(name, value, 0, MAX_LENGTH, "give the number of records")


def seed_of(value: SupportsIndex) -> int:
    """Returns a seed, a signed number of 64 bits."""
    return in_range("seed", value, -(2**63), 2**63 - 1, "give a signed number of 64 bits")


def whole_numbers(name: str, values: ArrayLike) -> Indices:
    """Returns a copy as one dimension of int64; raises ``ValueError`` for masks, floats and more dimensions."""
    found = np.asarray(values)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise ValueError(
            f"Cannot sample: {name} are an array of {found.ndim} dimensions of {found.dtype}; give a list of whole numbers"
        )
    if found.dtype == np.uint64 and found.size and found.max() > 2**63 - 1:
        raise ValueError(f"Cannot sample: one of the {name} is {found.max()}, which is above {2**63 - 1}; give less")
    return found.astype(np.int64)


def numbers_of(values: ArrayLike | Field) -> ArrayLike:
    """Returns the values of a field of one number or bool a record; raises ``ValueError`` if one is absent. Else the argument."""
    if not isinstance(values, Field):
        return values
    spec = values.spec
    numbers = values[:]
    if spec.shape or not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "biuf":
        raise ValueError(
            f"Cannot sample by {values!r}: choose a field with one number or bool for each record, or give an array of numbers"
        )
    absent = values.absent(np.arange(len(values)))
    if absent is not None:
        raise ValueError(
            f"Cannot sample by field {spec.name!r}: record {np.flatnonzero(absent)[0]} has no value; choose another field, or give "
            "an array with a value for each record, or leave such records out"
        )
    if spec.dtype == "bf16":
        return (numbers.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    return numbers.astype(np.int8) if spec.dtype == "bool" else numbers


def checked_weights(weights: ArrayLike | Field, use_of_zero: str) -> Floats:
    """Returns a copy of weights; raises ``ValueError`` unless all are at least 0 and their sum is above 0 and finite."""
    found = np.array(numbers_of(weights), np.float64)
    if found.ndim != 1:
        raise ValueError(f"Cannot sample: weights are an array of {found.ndim} dimensions; give a list of numbers")
    wrong = np.flatnonzero(~((found >= 0) & (found < np.inf)))
    if wrong.size:
        raise ValueError(
            f"Cannot sample: weight {wrong[0]} is {found[wrong[0]]}, which is not in [0, infinity); give 0 to {use_of_zero}"
        )
    total = float(np.cumsum(found)[-1]) if found.size else 0.0
    if not 0 < total < np.inf:
        raise ValueError(
            f"Cannot sample: the sum of the {found.size} weights is {total}; it must be above 0 and finite: scale them"
        )
    return found
