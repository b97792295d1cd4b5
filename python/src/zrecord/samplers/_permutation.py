"""Permutations of ``[0, length)`` that a key chooses (SAMPLERS.md section 4), without a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from zrecord.samplers._mixing import Indices, Words, absorb, absorb_each, expand, expand_each

_ROUNDS = 8
_MIN_BITS = 8
_MASK_32 = 2**32 - 1
_MIXER = 0xD35A2D97
#: As few numbers are walked one by one in the time of NumPy's calls.
_FEW = 8
_POWERS = np.uint64(1) << np.arange(63, dtype=np.uint64)


class Permutation:
    """The permutation of ``[0, length)`` of a key, for lengths from 1 to 2⁶². Immutable."""

    def __init__(self, key: int, length: int) -> None:
        self.length = length
        self._bits = max(_MIN_BITS, (length - 1).bit_length())
        self._multipliers = [expand(key, 2 * r) | 1 for r in range(_ROUNDS)]
        self._addends = [expand(key, 2 * r + 1) for r in range(_ROUNDS)]
        self._exchange = expand(key, 2 * _ROUNDS) & 1
        words = np.array([self._multipliers, self._addends], np.uint64)[:, :, None]
        self._walk = _Walk(np.array([length], np.uint64), self._bits, words[0], words[1])

    def of(self, places: Words) -> Indices:
        """Returns where each place goes."""
        if self.length == 1:
            return np.zeros(places.size, np.int64)
        return self._walk.of(places ^ (places < 2) if self._exchange else places)

    def position_of(self, index: int) -> int:
        """Returns the place that goes to an index."""
        if self.length == 1:
            return 0
        back = _narrow_back if self._bits <= 32 else _wide_back
        x = back(index, self._bits, self._multipliers, self._addends)
        while x >= self.length:
            x = back(x, self._bits, self._multipliers, self._addends)
        return x ^ self._exchange if x < 2 else x


def permute_groups(key: int, groups: Words, lengths: int | Words, places: Words) -> Indices:
    """Returns where places go that are permuted group by group, with the key ``absorb(key, group)``. Groups rise.

    :param lengths: the length of all groups, or the length of the group of each place
    """
    if groups[0] == groups[-1]:
        length = lengths if isinstance(lengths, int) else int(lengths[0])
        return Permutation(absorb(key, int(groups[0])), length).of(places)
    return permute_each(absorb_each(key, groups), lengths, places)


def permute_each(keys: Words, lengths: int | Words, places: Words) -> Indices:
    """Returns where each place goes by the permutation of its own key and length."""
    every = np.full(places.size, lengths, np.uint64) if isinstance(lengths, int) else lengths
    bits = np.maximum(_POWERS.searchsorted(every - np.uint64(1), "right"), _MIN_BITS)
    bits[every == 1] = 0
    result = np.zeros(places.size, np.int64)
    for width in np.unique(bits[bits > 0]).tolist():
        at = np.flatnonzero(bits == width)
        expanded = expand_each(keys[at], 2 * _ROUNDS + 1)
        exchanged = places[at] ^ (expanded[-1] & (places[at] < 2))
        walk = _Walk(every[at], width, expanded[0:-1:2] | np.uint64(1), expanded[1:-1:2])
        result[at] = walk.of(exchanged)
    return result


class _Walk:
    """Repeats the rounds on each value until it is below the length. Lengths and words of rounds are for all values or for each.

    :param lengths: an array with one length, or with the length of each value; all of them of ``bits`` bits
    :param multipliers: eight rows with as many words
    """

    def __init__(self, lengths: Words, bits: int, multipliers: Words, addends: Words) -> None:
        kind = np.uint32 if bits <= 32 else np.uint64
        self._bits = bits
        self._most = (lengths - np.uint64(1)).astype(kind)
        self._multipliers = multipliers.astype(kind)
        self._addends = addends.astype(kind)

    def of(self, values: Words) -> Indices:
        """Returns where each value goes."""
        rounds = _narrow if self._bits <= 32 else _wide
        result = rounds(values.astype(self._most.dtype), self._bits, self._multipliers, self._addends)
        todo = np.flatnonzero(result > self._most)
        while todo.size > _FEW:
            again = rounds(result[todo], self._bits, _of(self._multipliers, todo), _of(self._addends, todo))
            result[todo] = again
            todo = todo[again > _of(self._most, todo)]
        for i in todo.tolist():
            result[i] = self._walked(int(result[i]), i if self._most.size > 1 else 0)
        return result.astype(np.int64)

    def _walked(self, x: int, column: int) -> int:
        rounds = _narrow_one if self._bits <= 32 else _wide_one
        multipliers, addends = self._multipliers[:, column].tolist(), self._addends[:, column].tolist()
        most = int(self._most[column])
        while x > most:
            x = rounds(x, self._bits, multipliers, addends)
        return x


def _of(words: Any, todo: Indices) -> Any:
    """Returns the words for some values."""
    return words if words.shape[-1] == 1 else words[..., todo]


def _narrow(x: Any, bits: int, multipliers: Any, addends: Any) -> Any:
    mask, half = np.uint32(2**bits - 1), np.uint32((bits + 1) // 2)
    shifted = np.empty_like(x)
    for multiplier, addend in zip(multipliers, addends):
        x *= multiplier
        x += addend
        x &= mask
        np.right_shift(x, half, out=shifted)
        x ^= shifted
    return x


def _wide(x: Any, bits: int, multipliers: Any, addends: Any) -> Any:
    half = (bits + 1) // 2
    sizes = bits - half, half
    halves = [x >> np.uint64(half), x & np.uint64(2**half - 1)]
    for r, (multiplier, addend) in enumerate(zip(multipliers, addends)):
        target, other = r % 2, 1 - r % 2
        mixed = (halves[other] * multiplier + addend) & np.uint64(_MASK_32)
        mixed ^= mixed >> np.uint64(15)
        mixed *= np.uint64(_MIXER)
        mixed &= np.uint64(_MASK_32)
        halves[target] += mixed >> np.uint64(32 - sizes[target])
        halves[target] &= np.uint64(2 ** sizes[target] - 1)
    return halves[0] << np.uint64(half) | halves[1]


def _narrow_one(x: int, bits: int, multipliers: list[int], addends: list[int]) -> int:
    mask, half = 2**bits - 1, (bits + 1) // 2
    for multiplier, addend in zip(multipliers, addends):
        x = (x * multiplier + addend) & mask
        x ^= x >> half
    return x


def _narrow_back(x: int, bits: int, multipliers: list[int], addends: list[int]) -> int:
    modulus, half = 2**bits, (bits + 1) // 2
    for multiplier, addend in zip(reversed(multipliers), reversed(addends)):
        x ^= x >> half
        x = (x - addend) * pow(multiplier, -1, modulus) % modulus
    return x


def _wide_one(x: int, bits: int, multipliers: list[int], addends: list[int]) -> int:
    half = (bits + 1) // 2
    sizes = bits - half, half
    halves = [x >> half, x & (2**half - 1)]
    for r in range(_ROUNDS):
        target = r % 2
        halves[target] += _added(halves[1 - target], multipliers[r], addends[r], sizes[target])
        halves[target] &= 2 ** sizes[target] - 1
    return halves[0] << half | halves[1]


def _wide_back(x: int, bits: int, multipliers: list[int], addends: list[int]) -> int:
    half = (bits + 1) // 2
    sizes = bits - half, half
    halves = [x >> half, x & (2**half - 1)]
    for r in reversed(range(_ROUNDS)):
        target = r % 2
        halves[target] -= _added(halves[1 - target], multipliers[r], addends[r], sizes[target])
        halves[target] &= 2 ** sizes[target] - 1
    return halves[0] << half | halves[1]


def _added(half: int, multiplier: int, addend: int, size: int) -> int:
    """Returns the upper ``size`` bits of 32 that one half adds to the other."""
    x = (half * multiplier + addend) & _MASK_32
    return ((x ^ x >> 15) * _MIXER & _MASK_32) >> 32 - size
