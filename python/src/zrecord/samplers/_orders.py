"""Simple orders, draws and shuffles (SAMPLERS.md sections 3, 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from zrecord.samplers._checks import MAX_LENGTH, in_range, length_of, seed_of, whole_numbers
from zrecord.samplers._mixing import GLOBAL, RANDOM, SHUFFLE, Indices, draws, key_of
from zrecord.samplers._permutation import Permutation, permute_groups
from zrecord.samplers._sampler import ENDLESS, Sampler, array_text, places


class _Seeded(Sampler):
    """An order of ``[0, bound)`` that a seed chooses."""

    def __init__(self, length: SupportsIndex, seed: SupportsIndex) -> None:
        self._bound = length_of("length", length)
        self._seed = seed_of(seed)

    @property
    def bound(self) -> int:
        return self._bound

    @property
    def seed(self) -> int:
        return self._seed


class Sequential(Sampler):
    """Gives ``from_``, ``from_ + step``, … before ``to``, equal in every epoch; a negative step goes backwards.

    ``Sequential(length)`` gives every index once. Gives nothing if ``to`` is not after ``from_`` in the direction of the step.
    """

    def __init__(self, to: SupportsIndex, from_: SupportsIndex = 0, step: SupportsIndex = 1) -> None:
        self._step = in_range("step", step, 1 - 2**63, 2**63 - 1, "give 1 for every index, -1 to go backwards")
        if self._step == 0:
            raise ValueError("Cannot sample: step is 0; give 1 for every index, -1 to go backwards")
        least, most = (-1, MAX_LENGTH - 1) if self._step < 0 else (0, MAX_LENGTH)
        self._to = in_range("to", to, least, most, "give the number of records, or -1 to go backwards to the first")
        self._from = in_range("from_", from_, least, most, "give the first index")
        self._length = len(range(self._from, self._to, self._step))

    @property
    def length(self) -> int:
        return self._length

    @property
    def bound(self) -> int:
        return max(self._from, self._from + (self._length - 1) * self._step) + 1 if self._length else 0

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        return self._from + (start + np.arange(count, dtype=np.int64) * step) * self._step

    def _text(self) -> str:
        return f"sequential({self._from},{self._to},{self._step})"

    def __repr__(self) -> str:
        return f"Sequential({self._to}, from_={self._from}, step={self._step})"


class Sliding(Sampler):
    """Slides a window over the circle of all indices, without end and equal in every epoch.

    Window ``k`` begins at ``k·stride mod length``.
    """

    def __init__(self, length: SupportsIndex, window: SupportsIndex, stride: SupportsIndex) -> None:
        self._circle = length_of("length", length)
        most = max(1, self._circle)
        self._window = in_range("window", window, 1, most, "a window is at most the whole circle")
        self._stride = in_range("stride", stride, 1, most, "larger strides skip records in every pass")

    @property
    def length(self) -> int:
        return ENDLESS if self._circle else 0

    @property
    def bound(self) -> int:
        return self._circle

    def one_pass(self) -> Sampler:
        """Returns the windows that begin within one turn of the circle; they cover every index if ``stride <= window``."""
        return self.take(self._window * -(-self._circle // self._stride)) if self._circle else self

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        at = places(start, step, count).astype(np.int64)
        windows = at // self._window % self._circle
        # Python's integers where products of NumPy's would overflow.
        exact = np.int64 if self._circle * self._stride < 2**63 else object
        begins = (windows.astype(exact) * self._stride % self._circle).astype(np.int64)
        return (begins + at % self._window) % self._circle

    def _text(self) -> str:
        return f"sliding({self._circle},{self._window},{self._stride})"

    def __repr__(self) -> str:
        return f"Sliding({self._circle}, window={self._window}, stride={self._stride})"


class Random(_Seeded):
    """Draws with replacement, each draw independent of the others, without end."""

    @property
    def length(self) -> int:
        return ENDLESS if self._bound else 0

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        key = key_of(RANDOM, self._seed, epoch)
        return draws(key, places(start, step, count), self._bound).astype(np.int64)

    def _text(self) -> str:
        return f"random({self._bound},{self._seed})"

    def __repr__(self) -> str:
        return f"Random({self._bound}, seed={self._seed})"


class Global(_Seeded):
    """Draws sets of ``batch_size`` different indices from all, each set independent of the others, without end."""

    def __init__(self, length: SupportsIndex, batch_size: SupportsIndex, seed: SupportsIndex) -> None:
        super().__init__(length, seed)
        most = max(1, self._bound)
        self._drawn = in_range("batch_size", batch_size, 1, most, "a set without repeats has at most all records")

    @property
    def length(self) -> int:
        return ENDLESS if self._bound else 0

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        at = places(start, step, count)
        sets = at // np.uint64(self._drawn)
        return permute_groups(key_of(GLOBAL, self._seed, epoch), sets, self._bound, at - sets * np.uint64(self._drawn))

    def _text(self) -> str:
        return f"global({self._bound},{self._drawn},{self._seed})"

    def __repr__(self) -> str:
        return f"Global({self._bound}, batch_size={self._drawn}, seed={self._seed})"


class Shuffle(_Seeded):
    """Gives every index once in an epoch, in an order that no other epoch and no other seed has, in constant memory."""

    def __init__(self, length: SupportsIndex, seed: SupportsIndex) -> None:
        super().__init__(length, seed)
        self._last: tuple[int, Permutation] | None = None

    @property
    def length(self) -> int:
        return self._bound

    def position_of(self, epoch: SupportsIndex, index: SupportsIndex) -> int:
        """Returns the position of an index in an epoch."""
        number, wanted = epoch.__index__(), index.__index__()
        if number < 0 or not 0 <= wanted < self._bound:
            raise IndexError(
                f"Cannot find index {wanted} in epoch {number} of {self!r}: indices are in [0, {self._bound}), "
                "epochs are at least 0"
            )
        return self._permutation(number).position_of(wanted)

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        return self._permutation(epoch).of(places(start, step, count))

    def _permutation(self, epoch: int) -> Permutation:
        last = self._last
        if last is None or last[0] != epoch:
            last = self._last = epoch, Permutation(key_of(SHUFFLE, self._seed, epoch), self._bound)
        return last[1]

    def _text(self) -> str:
        return f"shuffle({self._bound},{self._seed})"

    def __repr__(self) -> str:
        return f"Shuffle({self._bound}, seed={self._seed})"


class Listed(Sampler):
    """Gives the indices of a list in their order, or at the places that another sampler gives, such as ``Shuffle(len(list), 42)``.

    Takes 8 bytes an index; an index may come twice.
    """

    def __init__(self, indices: ArrayLike, places: Sampler | None = None) -> None:
        self._indices = whole_numbers("indices", indices)
        self._places = Sequential(self._indices.size) if places is None else places
        in_range("bound of the order", self._places.bound, 0, self._indices.size, "order the places of the list")
        least, most = int(self._indices.min(initial=0)), int(self._indices.max(initial=-1))
        in_range("index", least, 0, MAX_LENGTH - 1, "give indices of records")
        in_range("index", max(0, most), 0, MAX_LENGTH - 1, "give indices of records")
        self._most = most

    @property
    def length(self) -> int:
        return self._places.length

    @property
    def bound(self) -> int:
        return self._most + 1

    @property
    def seed(self) -> int:
        return self._places.seed

    def _parts(self) -> Sequence[Sampler]:
        return (self._places,)

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        return self._indices[self._places._fill(epoch, start, step, count)]

    def _text(self) -> str:
        return f"list({array_text(self._indices)},{self._places._text()})"

    def __repr__(self) -> str:
        return f"Listed({self._indices.size} indices, {self._places!r})"
