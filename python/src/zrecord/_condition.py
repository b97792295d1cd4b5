"""Conditions on the values of fields, which ``Dataset.where`` evaluates.

As in SQL, a comparison with a value that is absent is neither true nor false. So each condition says of which records it is
true, and of which it is false.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zrecord._operands import comparable, operand, operands, time_in
from zrecord._schema import FieldSpec
from zrecord._shown import line

Array = np.ndarray[Any, Any]
#: Which records a condition is true of, and which it is false of.
Judged = tuple[Array, Array]
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Read:
    """The values of a field at some records, and which of them are present."""

    spec: FieldSpec
    values: Any  #: an array, with zeros for absent values, or a list with ``None``
    present: Array


class Condition(ABC):
    """Says of each record whether it is true, such as ``(data["label"] == 3) & ~data["weight"].is_absent()``.

    Immutable. A condition names fields, and is evaluated with the fields of these names of the dataset that ``where`` is called
    on. A comparison with an absent value is not true, and neither is its opposite.
    """

    @property
    @abstractmethod
    def fields(self) -> tuple[str, ...]:
        """The names of the fields that the condition needs."""

    @abstractmethod
    def _judge(self, read: Callable[[str], Read]) -> Judged:
        """Evaluates the condition with the values of the fields that ``read`` returns."""

    def __and__(self, other: Condition) -> Condition:
        return _Joined("&", self, _condition(other))

    def __or__(self, other: Condition) -> Condition:
        return _Joined("|", self, _condition(other))

    def __invert__(self) -> Condition:
        return _Opposite(self)

    def __bool__(self) -> bool:
        raise TypeError(f"The condition {self!r} is evaluated by where(); join conditions by & and |, and negate them by ~")


class Comparison(Condition):
    """Compares the value of a field with one value."""

    def __init__(self, spec: FieldSpec, sign: str, value: Any) -> None:
        self._name = spec.name
        self._type = (spec.dtype, spec.shape)
        self._sign = sign
        self._value = operand(spec, value, sign)

    @property
    def fields(self) -> tuple[str, ...]:
        return (self._name,)

    def _judge(self, read: Callable[[str], Read]) -> Judged:
        found = read(self._name)
        # The dataset that is searched may have another type in this field than the one that the condition was made with.
        is_same = (found.spec.dtype, found.spec.shape) == self._type
        value = self._value if is_same else operand(found.spec, self._value, self._sign)
        compare = _OPERATORS[self._sign]
        values = comparable(found.spec, found.values)
        if isinstance(values, list):
            is_true = np.fromiter((v is not None and compare(v, value) for v in values), bool, len(values))
        else:
            is_true = np.asarray(_compared(values, self._sign, value), bool)
        return is_true & found.present, ~is_true & found.present

    def __repr__(self) -> str:
        return f"({line(self._name)} {self._sign} {self._value!r})"


class IsIn(Condition):
    """Looks for the value of a field among several."""

    def __init__(self, spec: FieldSpec, values: Iterable[Any]) -> None:
        self._name = spec.name
        self._type = (spec.dtype, spec.shape)
        self._values = operands(spec, values)

    @property
    def fields(self) -> tuple[str, ...]:
        return (self._name,)

    def _judge(self, read: Callable[[str], Read]) -> Judged:
        found = read(self._name)
        is_same = (found.spec.dtype, found.spec.shape) == self._type
        operands_here = self._values if is_same else operands(found.spec, self._values)
        values = comparable(found.spec, found.values)
        if isinstance(values, list):
            wanted = set(operands_here)
            is_true = np.fromiter((v in wanted for v in values), bool, len(values))
        else:
            is_true = _is_in(values, operands_here)
        return is_true & found.present, ~is_true & found.present

    def __repr__(self) -> str:
        return f"{line(self._name)}.isin({self._values!r:.200})"


class IsAbsent(Condition):
    """Looks for records without a value."""

    def __init__(self, spec: FieldSpec) -> None:
        self._name = spec.name

    @property
    def fields(self) -> tuple[str, ...]:
        return (self._name,)

    def _judge(self, read: Callable[[str], Read]) -> Judged:
        present = read(self._name).present
        return ~present, present

    def __repr__(self) -> str:
        return f"{line(self._name)}.is_absent()"


class _Joined(Condition):
    def __init__(self, sign: str, left: Condition, right: Condition) -> None:
        self._sign = sign
        self._left = left
        self._right = right

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._left.fields, *self._right.fields)))

    def _judge(self, read: Callable[[str], Read]) -> Judged:
        (left, no_left), (right, no_right) = self._left._judge(read), self._right._judge(read)
        if self._sign == "&":
            return left & right, no_left | no_right
        return left | right, no_left & no_right

    def __repr__(self) -> str:
        return f"({self._left!r} {self._sign} {self._right!r})"


class _Opposite(Condition):
    def __init__(self, of: Condition) -> None:
        self._of = of

    @property
    def fields(self) -> tuple[str, ...]:
        return self._of.fields

    def _judge(self, read: Callable[[str], Read]) -> Judged:
        is_true, is_false = self._of._judge(read)
        return is_false, is_true

    def __repr__(self) -> str:
        return f"~{self._of!r}"


def _condition(other: object) -> Condition:
    if not isinstance(other, Condition):
        raise TypeError(
            f"A condition is joined with another one, not with {other!r:.60}; put comparisons in parentheses: "
            '(data["a"] == 1) & (data["b"] == 2)'
        )
    return other


def _fits(dtype: np.dtype[Any], value: Any) -> bool:
    """Tells whether a number is within the range of a dtype."""
    if dtype.kind in "iu":
        return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)
    if dtype.kind == "f":
        return value != value or value in (np.inf, -np.inf) or abs(value) <= float(np.finfo(dtype).max)
    return True


def _is_in(values: Array, wanted: list[Any]) -> Array:
    if values.dtype.kind == "M":
        whole = [floor for floor, is_whole in (time_in(values.dtype, value) for value in wanted) if is_whole]
        return _is_in(values.view(np.int64), whole) & ~np.isnat(values)
    if values.dtype.kind in "iu":
        wanted = [int(value) for value in wanted if not isinstance(value, float) or value.is_integer()]
    elif values.dtype == np.float64:
        wanted = [value for value in wanted if _is_float(value)]
    return np.isin(values, np.array([value for value in wanted if _fits(values.dtype, value)], values.dtype))


def _is_float(value: float) -> bool:
    """Tells whether a number is exactly a float, as 2**53 + 1 is not."""
    return isinstance(value, float) or int(float(value)) == value


def _compared(values: Array, sign: str, value: Any) -> Any:
    """Compares exactly: with what is between two values by the one below it, and with what no value can be by its side."""
    compare = _OPERATORS[sign]
    if values.dtype.kind == "M":
        found = _with_integer(values.view(np.int64), sign, *time_in(values.dtype, value))
        return found | np.isnat(values) if sign == "!=" else found & ~np.isnat(values)
    if values.dtype.kind == "f":
        if values.dtype == np.float64 and not _is_float(value):
            return _with_float_beside(values, sign, value)
        return compare(values if _fits(values.dtype, value) else values.astype(np.float64), float(value))
    if values.dtype.kind not in "iu":
        return compare(values, value)
    if not isinstance(value, float):
        return _with_integer(values, sign, value, True)
    if value != value or value in (np.inf, -np.inf):
        return np.full(values.shape, compare(0, value))
    return _with_integer(values, sign, math.floor(value), value.is_integer())


def _with_integer(values: Array, sign: str, floor: int, is_whole: bool) -> Any:
    """Compares integers with ``floor``, or with what is between it and the integer above it."""
    if not is_whole:
        if sign in ("==", "!="):
            return np.full(values.shape, sign == "!=")
        sign = "<=" if sign in ("<", "<=") else ">"
    compare = _OPERATORS[sign]
    if not _fits(values.dtype, floor):
        return np.full(values.shape, compare(0, 1 if floor > 0 else -1))
    return compare(values, values.dtype.type(floor))


def _with_float_beside(values: Array, sign: str, value: int) -> Any:
    """Compares floats with an integer that is between two floats."""
    if sign in ("==", "!="):
        return np.full(values.shape, sign == "!=")
    beside = float(value)
    if beside < value:
        return values <= beside if sign in ("<", "<=") else values > beside
    return values < beside if sign in ("<", "<=") else values >= beside
