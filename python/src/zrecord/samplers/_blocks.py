"""Shuffles of blocks (SAMPLERS.md section 7)."""

from __future__ import annotations

from typing import Protocol, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from zrecord.samplers._checks import MAX_LENGTH, in_range, length_of, seed_of, whole_numbers
from zrecord.samplers._mixing import BLOCKS, INSIDE_BLOCKS, Indices, key_of
from zrecord.samplers._permutation import Permutation, permute_groups
from zrecord.samplers._sampler import Sampler, array_text, places


class _Order(Protocol):
    """The blocks in the order of an epoch: a rank is a place in that order, and a place counts indices along it."""

    def ranks_at(self, at: Indices) -> Indices:
        """Returns the rank of the block that has each place."""

    def first_places(self, ranks: Indices) -> Indices:
        """Returns the first place of the block at each rank; the length for the rank after the last."""

    def located(self, at: Indices) -> Indices:
        """Returns the index at each place."""


class _FixedOrder:
    """Blocks of one length, the last one perhaps shorter, in constant memory."""

    def __init__(self, length: int, block_length: int, key: int) -> None:
        count = -(-length // block_length)
        self._length = block_length
        self._blocks = Permutation(key, count)
        self._missing = count * block_length - length  # in the last block
        self._short_rank = self._blocks.position_of(count - 1)
        self._behind_short = (self._short_rank + 1) * block_length - self._missing

    def ranks_at(self, at: Indices) -> Indices:
        return self._widened(at) // self._length

    def _widened(self, at: Indices) -> Indices:
        """Returns the places that there would be if the last block were as long as the others."""
        return np.where(at >= self._behind_short, at + self._missing, at)

    def first_places(self, ranks: Indices) -> Indices:
        return ranks * self._length - np.where(ranks > self._short_rank, self._missing, 0)

    def located(self, at: Indices) -> Indices:
        wide = self._widened(at)
        ranks = wide // self._length
        return self._blocks.of(ranks.view(np.uint64)) * self._length + (wide - ranks * self._length)


class _ListedOrder:
    """Blocks of given bounds; takes 24 bytes a block."""

    def __init__(self, bounds: Indices, key: int) -> None:
        count = bounds.size - 1
        blocks = Permutation(key, count).of(np.arange(count, dtype=np.uint64))
        self._firsts = bounds[blocks]
        self._places = np.zeros(count + 1, np.int64)
        np.cumsum(np.diff(bounds)[blocks], out=self._places[1:])

    def ranks_at(self, at: Indices) -> Indices:
        return self._places.searchsorted(at, "right") - 1

    def first_places(self, ranks: Indices) -> Indices:
        return self._places[ranks]

    def located(self, at: Indices) -> Indices:
        ranks = self.ranks_at(at)
        return self._firsts[ranks] + (at - self._places[ranks])


class BlockShuffle(Sampler):
    """Gives every index once in an epoch, and keeps reads local.

    Blocks of ``block_length`` indices are shuffled, and so are all indices inside each run of ``mixed`` blocks of that order.
    With ``mixed`` 0 the order inside blocks stays, with 1 each block is shuffled by itself, and with the number of blocks
    or more the shuffle is full. ``BlockShuffle.of_bounds`` takes blocks of different lengths.
    """

    def __init__(self, length: SupportsIndex, block_length: SupportsIndex, mixed: SupportsIndex, seed: SupportsIndex) -> None:
        self._length = length_of("length", length)
        remedy = "give the number of records in a chunk"
        self._block_length = min(in_range("block_length", block_length, 1, MAX_LENGTH, remedy), max(1, self._length))
        self._bounds: Indices | None = None
        self._set_mixed(mixed, seed)

    @classmethod
    def of_bounds(cls, bounds: ArrayLike, mixed: SupportsIndex, seed: SupportsIndex) -> BlockShuffle:
        """Returns the shuffle of blocks of given bounds, such as those of shards.

        :param bounds: 0, the first index of every other block, and the length, strictly rising
        """
        found = whole_numbers("bounds", bounds)
        if not found.size or found[0] != 0:
            raise ValueError(
                f"Cannot sample: bounds begin with {found[0] if found.size else 'nothing'}; "
                "give 0, the first index of every other block, and the length"
            )
        falls = np.flatnonzero(found[1:] <= found[:-1])
        for at in [*(falls[:1] + 1).tolist(), found.size - 1]:
            in_range(f"bound {at}", found[at], int(found[at - 1]) + 1 if at else 0, MAX_LENGTH, "bounds rise strictly")
        made = cls.__new__(cls)
        made._length = int(found[-1])
        made._bounds = found
        made._set_mixed(mixed, seed)
        return made

    def _set_mixed(self, mixed: SupportsIndex, seed: SupportsIndex) -> None:
        remedy = "give 0 to keep the order inside blocks, or how many blocks are shuffled together"
        self._mixed = in_range("mixed", mixed, 0, MAX_LENGTH, remedy)
        self._seed = seed_of(seed)
        self._count = -(-self._length // self._block_length) if self._bounds is None else self._bounds.size - 1
        self._last: tuple[int, _Order] | None = None

    @property
    def length(self) -> int:
        return self._length

    @property
    def bound(self) -> int:
        return self._length

    @property
    def seed(self) -> int:
        return self._seed

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        order = self._order(epoch)
        at = places(start, step, count).view(np.int64)
        if not self._mixed:
            return order.located(at)
        together = min(self._mixed, self._count)
        groups = order.ranks_at(at) // together
        firsts = order.first_places(groups * together)
        lengths = order.first_places(np.minimum(groups * together, self._count - together) + together) - firsts
        key = key_of(INSIDE_BLOCKS, self._seed, epoch)
        inside = permute_groups(key, groups.view(np.uint64), lengths.view(np.uint64), (at - firsts).view(np.uint64))
        return order.located(firsts + inside)

    def _order(self, epoch: int) -> _Order:
        last = self._last
        if last is None or last[0] != epoch:
            key = key_of(BLOCKS, self._seed, epoch)
            last = self._last = epoch, self._new_order(key)
        return last[1]

    def _new_order(self, key: int) -> _Order:
        return _FixedOrder(self._length, self._block_length, key) if self._bounds is None else _ListedOrder(self._bounds, key)

    def _text(self) -> str:
        blocks = f"{self._length},{self._block_length}" if self._bounds is None else array_text(self._bounds)
        return f"blockShuffle({blocks},{self._mixed},{self._seed})"

    def __repr__(self) -> str:
        if self._bounds is None:
            return f"BlockShuffle({self._length}, block_length={self._block_length}, mixed={self._mixed}, seed={self._seed})"
        return f"BlockShuffle.of_bounds({self._count} blocks of {self._length} indices, mixed={self._mixed}, seed={self._seed})"
