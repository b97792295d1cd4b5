"""Keys of NumPy's indexing, taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_ALL = slice(None)


def is_index(key: Any) -> bool:
    """Tells whether a key means one record: a whole number of Python, NumPy or another library, but no bool."""
    if isinstance(key, np.ndarray):
        return key.ndim == 0 and key.dtype.kind in "iu"
    if isinstance(key, (int, np.integer)):
        return not isinstance(key, bool)
    return hasattr(key, "__index__") and not isinstance(key, np.bool_) and getattr(key, "ndim", 0) == 0


def indices_of(key: Any, length: int, what: Callable[[], str]) -> Array:
    """Returns indices within ``[0, length)`` for a mask, or for a list or an array of indices, which may be negative.

    Raises ``IndexError`` for what is neither, with ``what()`` as the name of what is indexed.
    """
    if isinstance(key, tuple):
        raise IndexError(f"{what()} is indexed by record, not by a tuple of {len(key)}; index its fields, or give a list")
    indices = np.asarray(key)
    if indices.dtype == np.int64 and indices.size and np.maximum.reduce(indices.reshape(-1).view(np.uint64)) < length:
        return indices
    if indices.dtype == bool:
        if indices.shape != (length,):
            raise IndexError(
                f"A mask for {what()} has the shape ({length},), one flag for each record, not {indices.shape}; "
                "to choose elements of values, read the array first and index that"
            )
        return np.flatnonzero(indices)
    if indices.dtype.kind not in "iu":
        if indices.size or isinstance(key, np.ndarray):
            raise IndexError(f"{what()} is indexed by integers, slices, or arrays of integers or bool, not {key!r:.60}")
        return np.zeros(indices.shape, np.int64)
    if not indices.size:
        return indices.astype(np.int64)
    low, high = indices.min(), indices.max()
    if low < -length or high >= length:
        wrong = low if low < -length else high
        raise IndexError(f"Index {wrong} is out of range for {what()}, which has {length} records")
    if indices.dtype != np.int64:
        indices = indices.astype(np.int64)
    return np.where(indices < 0, indices + length, indices) if low < 0 else indices


def split_key(key: Any, ndim: int, what: Callable[[], str]) -> tuple[Any, tuple[Any, ...]]:
    """Returns the part of a tuple or an ellipsis that is for the records, and the parts for the other dimensions.

    An ellipsis among the others stays, as NumPy puts the dimensions of arrays first that are on both sides of one.
    Raises ``IndexError`` if there are more parts than ``ndim``, or a new axis before the records.
    """
    parts = key if isinstance(key, tuple) else (key,)
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError(f"{what()} is indexed with {len(dots)} ellipses ('...'); give one at most")
    used = sum(map(_dimensions, parts))
    if used > ndim:
        raise IndexError(f"{what()} has {ndim} dimensions, but {used} are indexed; give {ndim} at most")
    if not parts or (parts[0] is Ellipsis and used < ndim):
        first, rest = _ALL, parts
    else:
        at = int(parts[0] is Ellipsis)
        first, rest = parts[at], parts[at + 1 :]
    if first is None:
        raise IndexError(f"{what()} takes no new axis before its records; index what comes out: field[records][None]")
    return first, rest


def is_basic(part: Any) -> bool:
    """Tells whether a part of a key leaves the order of dimensions as it is, unlike an array."""
    return part is None or part is Ellipsis or isinstance(part, slice) or is_index(part)


def names_of(fields: Iterable[str], what: str = "fields") -> list[str]:
    """Returns names as a list. Raises ``ValueError`` for one text, whose letters would be taken for names."""
    if isinstance(fields, (str, bytes)):
        raise ValueError(f"{what} is the text {fields!r}, which is not a list; give [{fields!r}]")
    names = list(fields)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{what} has {name!r:.60}, which is not the name of a field; give texts")
    return names


def _dimensions(part: Any) -> int:
    """Returns how many dimensions a part of a key indexes."""
    if part is None or part is Ellipsis:
        return 0
    if is_basic(part):
        return 1
    found = np.asarray(part)
    return found.ndim if found.dtype == bool else 1
