"""Mixes of several orders, and of the classes of labelled records (SAMPLERS.md section 9)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from zrecord._field import Field
from zrecord.samplers._checks import MAX_LENGTH, checked_weights, in_range, numbers_of, seed_of, whole_numbers
from zrecord.samplers._mixing import CLASSES, MASK, ROUNDS, SHUFFLE, Indices, absorb, absorb_each, key_of
from zrecord.samplers._permutation import Permutation, permute_each
from zrecord.samplers._sampler import ENDLESS, Sampler, array_text, endless_epoch, places
from zrecord.samplers._schedule import Schedule

_MAX_ROUND = 2**20
_PARTS = 2**20


class _Rounds(Sampler):
    """Cuts positions into rounds, which hold what a schedule says in random order."""

    def __init__(self, rates: Sequence[int], length: int, batch_size: SupportsIndex, seed: SupportsIndex) -> None:
        in_range("sum of the rates", sum(rates), 0, MAX_LENGTH, "take() a part of the sources")
        self._round = in_range("batch_size", batch_size, 1, _MAX_ROUND, "give the length of a batch, or some hundreds")
        self._seed = seed_of(seed)
        self._length = length
        self._schedule = Schedule(rates)
        self._last: tuple[int, int, Indices] | None = None

    @property
    def length(self) -> int:
        return self._length

    @property
    def seed(self) -> int:
        return self._seed

    @abstractmethod
    def _indices_of(self, epoch: int, sources: Indices, turns: Indices) -> Indices:
        """Returns the index of each turn of a round. Turns of one source follow each other."""

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        parts = []
        while count:
            number, inside = divmod(start, self._round)
            length = min(self._round, self._length - number * self._round)
            run = min(count, -(-(length - inside) // step))
            parts.append(self._shuffled(epoch, number, length)[inside : inside + (run - 1) * step + 1 : step])
            start += run * step
            count -= run
        return np.concatenate(parts)

    def _shuffled(self, epoch: int, number: int, length: int) -> Indices:
        """Returns the indices of a round in their order."""
        last = self._last
        if last is None or last[:2] != (epoch, number):
            found = self._indices_of(epoch, *self._schedule.turns(number * self._round, length))
            key = absorb(key_of(ROUNDS, self._seed, epoch), number)
            last = self._last = epoch, number, found[Permutation(key, length).of(places(0, 1, length))]
        return last[2]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None}


class Mix(_Rounds):
    """Mixes several orders by weights, without end; ``Mix.in_proportion`` mixes them in proportion to their lengths.

    Each batch of ``batch_size`` positions has its part of every source within about one, in random order. A source that is
    used up goes on with its next epoch. Weights are rounded to parts in 2²⁰, at least one. Indices are those of the sources
    laid end to end: source ``s`` begins at the sum of the bounds before it.
    """

    def __init__(self, sources: Sequence[Sampler], weights: ArrayLike, batch_size: SupportsIndex, seed: SupportsIndex) -> None:
        found = checked_weights(weights, "leave a source out")
        in_range("number of weights", found.size, len(sources), len(sources), "give one for each source")
        total = float(np.cumsum(found)[-1])
        rates = []
        for number, (source, weight) in enumerate(zip(sources, found.tolist())):
            if weight > 0 and source.length == 0:
                raise ValueError(f"Cannot sample: source {number}, {source!r}, is empty and has weight {weight}; give it weight 0")
            rates.append(max(1, int(np.floor(weight / total * _PARTS + 0.5))) if weight > 0 else 0)
        self._lay([source.repeat() for source in sources])
        super().__init__(rates, ENDLESS, batch_size, seed)

    @classmethod
    def in_proportion(cls, sources: Sequence[Sampler], batch_size: SupportsIndex, seed: SupportsIndex) -> Mix:
        """Returns a mix whose epochs have one epoch of each source; nearly every part has the sources in this proportion."""
        lengths = [
            in_range(f"length of source {number}", source.length, 0, MAX_LENGTH, "take() a part of it")
            for number, source in enumerate(sources)
        ]
        made = cls.__new__(cls)
        made._lay(list(sources))
        _Rounds.__init__(made, lengths, sum(lengths), batch_size, seed)
        return made

    def _lay(self, sources: list[Sampler]) -> None:
        self._sources = sources
        bounds = [source.bound for source in sources]
        in_range("sum of the bounds of the sources", sum(bounds), 0, MAX_LENGTH, "mix sources with fewer records")
        self._starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(bounds, np.int64))])

    @property
    def bound(self) -> int:
        return int(self._starts[-1])

    def _parts(self) -> Sequence[Sampler]:
        return self._sources

    def source_of(self, indices: ArrayLike) -> Indices:
        """Returns the number of the source that each index is of."""
        found = whole_numbers("indices", indices)
        if found.size and not 0 <= found.min() <= found.max() < self.bound:
            wrong = int(found.min() if found.min() < 0 else found.max())
            raise IndexError(f"Cannot find the source of index {wrong}: indices of {self!r} are in [0, {self.bound})")
        return self._starts.searchsorted(found, "right") - 1

    def index_in_source(self, indices: ArrayLike) -> Indices:
        """Returns each index within its source."""
        return whole_numbers("indices", indices) - self._starts[self.source_of(indices)]

    def _indices_of(self, epoch: int, sources: Indices, turns: Indices) -> Indices:
        result = np.empty(sources.size, np.int64)
        for number in np.unique(sources).tolist():
            at = np.flatnonzero(sources == number)
            found = self._sources[number]._fill(epoch, int(turns[at[0]]), 1, at.size)
            result[at] = found + self._starts[number]
        return result

    def _text(self) -> str:
        sources = ",".join(source._text() for source in self._sources)
        rates = ",".join(map(str, self._schedule.rates.tolist()))
        return f"mix([{sources}],[{rates}],{self._round},{self._seed})"

    def __repr__(self) -> str:
        kind = "Mix" if self.is_endless else "Mix.in_proportion"
        return f"{kind}({len(self._sources)} sources, batch_size={self._round}, seed={self._seed})"


class _Classes(_Rounds):
    """Mixes the records of each label, each shuffled by itself. Takes 8 bytes a record."""

    def __init__(self, labels: ArrayLike | Field, is_repeated: bool, batch_size: SupportsIndex, seed: SupportsIndex) -> None:
        found = whole_numbers("labels", numbers_of(labels))
        distinct, counts = np.unique(found, return_counts=True)
        self._is_repeated = is_repeated
        self._labels = array_text(found)
        self._members = np.argsort(found, kind="stable")  # the records of each class in rising order, classes laid end to end
        self._counts = counts.astype(np.uint64)
        self._firsts = np.cumsum(counts) - counts
        class_seeds = absorb_each(absorb(CLASSES, seed_of(seed) & MASK), distinct.view(np.uint64))
        self._keys = absorb_each(SHUFFLE, class_seeds)
        rates = [1] * distinct.size if is_repeated else counts.tolist()
        super().__init__(rates, ENDLESS if is_repeated and found.size else found.size, batch_size, seed)

    @property
    def bound(self) -> int:
        return self._members.size

    def _indices_of(self, epoch: int, sources: Indices, turns: Indices) -> Indices:
        counts, inside = self._counts[sources], turns.view(np.uint64)
        epochs: Any = np.full(turns.size, epoch, np.uint64)
        if self._is_repeated:
            passes = inside // counts
            inside = inside - passes * counts
            epochs = np.uint64(endless_epoch(self, epoch, int(passes.max()))) - passes.max() + passes
        keys = absorb_each(self._keys[sources], epochs)
        return self._members[self._firsts[sources] + permute_each(keys, counts, inside)]

    def _text(self) -> str:
        return f"{type(self).__name__.lower()}({self._labels},{self._round},{self._seed})"

    def __repr__(self) -> str:
        kind = f"{len(self._counts)} classes of {self.bound} labels"
        return f"{type(self).__name__}({kind}, batch_size={self._round}, seed={self._seed})"


class Stratified(_Classes):
    """Gives every record once in an epoch; every batch has the classes in the proportion of the whole, in random order.

    Record ``i`` is of class ``labels[i]``, a signed number of 64 bits. A field of a dataset must have a value for each record.
    """

    def __init__(self, labels: ArrayLike | Field, batch_size: SupportsIndex, seed: SupportsIndex) -> None:
        super().__init__(labels, False, batch_size, seed)


class Balanced(_Classes):
    """Gives batches with every class equally often, without end; a class is shuffled again when it is used up.

    Record ``i`` is of class ``labels[i]``, a signed number of 64 bits. A field of a dataset must have a value for each record.
    """

    def __init__(self, labels: ArrayLike | Field, batch_size: SupportsIndex, seed: SupportsIndex) -> None:
        super().__init__(labels, True, batch_size, seed)
