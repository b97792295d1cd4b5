"""Orders of records as in the engine (SAMPLERS.md): the same for the same seed, in Java and in Python."""

from __future__ import annotations

from typing import SupportsIndex

from zrecord.samplers._blocks import BlockShuffle
from zrecord.samplers._mixes import Balanced, Mix, Stratified
from zrecord.samplers._mixing import MASK, SHUFFLE, Indices, key_of
from zrecord.samplers._orders import Global, Listed, Random, Sequential, Shuffle, Sliding
from zrecord.samplers._permutation import Permutation
from zrecord.samplers._sampler import ENDLESS, Remainder, Sampler, Share, places
from zrecord.samplers._state import SamplerState
from zrecord.samplers._weights import Weighted

__all__ = [
    "ENDLESS",
    "Balanced",
    "BlockShuffle",
    "Global",
    "Listed",
    "Mix",
    "Random",
    "Remainder",
    "Sampler",
    "SamplerState",
    "Sequential",
    "Share",
    "Shuffle",
    "Sliding",
    "Stratified",
    "Weighted",
    "shuffle",
]


def shuffle(
    length: SupportsIndex,
    seed: SupportsIndex,
    epoch: SupportsIndex = 0,
    start: SupportsIndex = 0,
    stop: SupportsIndex | None = None,
) -> Indices:
    """The indices at positions from ``start`` to ``stop``, all if ``None``, of a permutation of ``[0, length)``.

    Each seed, of 64 bits, and each epoch, from 0 on, has its permutation. Any part of the permutation is made without the
    rest: a rank takes its own positions, and a run continues where it stopped. Lengths are 1 to 2⁶². ``Shuffle`` is the same
    order as a sampler.
    """
    count, first, number = length.__index__(), start.__index__(), epoch.__index__()
    end = count if stop is None else stop.__index__()
    if not 1 <= count <= 2**62 or not 0 <= first <= end <= count or number < 0:
        raise ValueError(
            f"Cannot shuffle positions {first} to {end} of {count} in epoch {number}: a length is 1 to 2⁶², positions are in it, "
            "and epochs count from 0"
        )
    return Permutation(key_of(SHUFFLE, seed.__index__() & MASK, number), count).of(places(first, 1, end - first))
