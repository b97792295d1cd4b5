"""Compares the rows that two formats give for one query."""

from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal

TOLERANCE = 1e-9
"""Relative and absolute, for floating-point numbers alone: sums depend on the order of rows."""


def is_same(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return (math.isnan(one) and math.isnan(other)) or math.isclose(
            one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE
        )
    return one == other


def are_same(one: tuple, other: tuple) -> bool:
    return len(one) == len(other) and all(map(is_same, one, other))


def unmatched(ones: list[tuple], others: list[tuple]) -> tuple[list[tuple], list[tuple]]:
    """The rows of either side that have no equal row on the other side, each row used once."""
    places: dict[tuple, list[tuple]] = defaultdict(list)
    for row in sorted(others, key=_numbers):
        places[_group(row)].append(row)
    left = []
    for row in sorted(ones, key=_numbers):
        group = places[_group(row)]
        for place, other in enumerate(group):
            if are_same(row, other):
                del group[place]
                break
        else:
            left.append(row)
    return left, [row for group in places.values() for row in group]


def _group(row: tuple) -> tuple:
    """All but floating-point numbers, which may differ by the tolerance."""
    return tuple(
        None if value is None else type(value).__name__ if isinstance(value, float) else repr(value)
        for value in row
    )


def _numbers(row: tuple) -> tuple:
    """Puts rows that are close to each other at about the same place of both sides."""
    numbers = (value for value in row if isinstance(value, float))
    return tuple((math.isnan(number), 0.0 if math.isnan(number) else number) for number in numbers)


def first_out_of_order(ones: list[tuple], others: list[tuple], keys: list[int]) -> int | None:
    """The first row whose sort keys differ between two sorted answers. Ties have equal keys."""
    for place, (one, other) in enumerate(zip(ones, others)):
        if not all(is_same(one[key], other[key]) for key in keys):
            return place
    return None


def difference(
    ones: list[tuple], others: list[tuple], keys: list[int], is_whole: bool = True
) -> str | None:
    """
    Says how the answers of Parquet and of zrecord differ, or None. `keys` are the columns that
    the query sorts by. Of answers that are not whole, rows with equal keys may differ.
    """
    if len(ones) != len(others):
        return f"{len(ones)} rows of Parquet, {len(others)} of zrecord"
    place = first_out_of_order(ones, others, keys)
    if place is not None:
        return f"order, row {place + 1}: Parquet {ones[place]}, zrecord {others[place]}"
    left, right = unmatched(ones, others)
    if not (left or right) or not is_whole:
        return None
    return f"{len(left)} rows, the first of Parquet {left[0]}, of zrecord {right[0]}"


def check() -> None:
    """Fails if the comparison takes different rows for equal ones, or equal ones for different."""
    row = (1, "a", Decimal("1.00"), 0.1 + 0.2, None)
    close = (1, "a", Decimal("1.00"), 0.3, None)
    other = (2, "b", Decimal("1.00"), 0.3, None)
    assert difference([row, other], [close, other], [0]) is None
    assert difference([row, other], [other, close], []) is None
    assert difference([row, other], [other, close], [0])
    assert difference([row], [row, row], [])
    assert difference([row, row, other], [row, other, other], [])
    for changed in [
        (None, "a", Decimal("1.00"), 0.3, None),
        (1, "a ", Decimal("1.00"), 0.3, None),
        (1, "a", Decimal("1.01"), 0.3, None),
        (1, "a", Decimal("1.0"), 0.3, None),
        (1, "a", Decimal("1.00"), 0.3000001, None),
        (1, "a", Decimal("1.00"), None, 0.3),
        (1, "a", Decimal("1.00"), float("nan"), None),
    ]:
        assert difference([row], [changed], []), changed
