"""Goes through records in steps that hold a bounded number of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from zrecord._nested import Nested, NestedArray
from zrecord._schema import FieldSpec

_Read = TypeVar("_Read")
#: What is counted for a value of Python whose bytes are not known.
_OBJECT_BYTES = 64
#: How many records are read at once before it is known how long their values are.
_MOST_UNKNOWN = 4096


def in_steps(
    length: int,
    specs: Iterable[FieldSpec],
    read: Callable[[range], _Read],
    size: Callable[[_Read], int],
    step_bytes: int,
    most_records: int,
) -> Iterator[tuple[range, _Read]]:
    """Yields what ``read`` returns for consecutive records, from 0 to ``length``, with the records.

    A step has as many records as ``step_bytes`` hold, one at least and ``most_records`` at most. Where values have no common
    width, the next step goes by the bytes that ``size`` tells of the last one, and has at most four times as many records. So
    the first step has one record. Longer values may follow short ones, so that no such step has more than 4,096 records.
    """
    widths = [None if spec.scale is not None else spec.width for spec in specs]
    is_known = None not in widths
    most_records = most_records if is_known else min(most_records, _MOST_UNKNOWN)
    step = min(most_records, max(1, step_bytes // max(1, sum(width or 0 for width in widths)))) if is_known else 1
    begin = 0
    while begin < length:
        records = range(begin, min(length, begin + step))
        found = read(records)
        if not is_known:
            each = max(1, size(found) // len(records))
            step = min(most_records, 4 * step, max(1, step_bytes // each))
        yield records, found
        begin = records.stop


def bytes_of(value: Any) -> int:
    """Returns about how many bytes an array, a list or a value of a field holds."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.nbytes if value.dtype != object else sum(map(bytes_of, value.reshape(-1)))
    if isinstance(value, list):
        return sum(map(bytes_of, value))
    if isinstance(value, (bytes, str)):
        return len(value) + _OBJECT_BYTES
    return _nested_bytes(value.root) if isinstance(value, Nested) else _OBJECT_BYTES


def _nested_bytes(array: NestedArray) -> int:
    own = sum(part.nbytes for part in (array.validity, array.offsets, array.values) if part is not None)
    return own + sum(map(_nested_bytes, array.children)) + _OBJECT_BYTES
