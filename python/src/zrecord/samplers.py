"""Orders of records as in the engine (SAMPLERS.md): the same for the same seed, in Java and in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

_MASK = 2**64 - 1
_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_SHUFFLE = 2
_ROUNDS = 8
_MASK_32, _FACTOR = np.uint64(2**32 - 1), np.uint64(0xD35A2D97)
_Words = np.ndarray[Any, np.dtype[np.uint64]]


def shuffle(length: int, seed: int, epoch: int = 0, start: int = 0, stop: int | None = None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The indices at positions from ``start`` to ``stop``, all if ``None``, of a permutation of ``[0, length)``.

    Each seed, of 64 bits, and each epoch, from 0 on, has its permutation. Any part of the permutation is made without the
    rest: a rank takes its own positions, and a run continues where it stopped. Lengths are 1 to 2⁶².
    """
    end = length if stop is None else stop
    if not 1 <= length <= 2**62 or not 0 <= start <= end <= length or epoch < 0:
        raise ValueError(
            f"Cannot shuffle positions {start} to {end} of {length} in epoch {epoch}: a length is 1 to 2⁶², positions are in it, "
            "and epochs count from 0"
        )
    key = _absorb(_absorb(_SHUFFLE, seed & _MASK), epoch)
    bits = max(8, (length - 1).bit_length())
    values = np.arange(start, end, dtype=np.uint64)
    if length == 1:
        return values.view(np.int64)
    keys = [(_expand(key, 2 * r) | 1, _expand(key, 2 * r + 1)) for r in range(_ROUNDS)]
    rounds = _narrow_rounds if bits <= 32 else _wide_rounds
    values[values < 2] ^= np.uint64(_expand(key, 16) & 1)
    todo = np.arange(values.size)
    while todo.size:
        x = rounds(values[todo], bits, keys)
        values[todo] = x
        todo = todo[x >= np.uint64(length)]
    return values.view(np.int64)


def _narrow_rounds(x: _Words, bits: int, keys: list[tuple[int, int]]) -> _Words:
    mask, half = np.uint64(2**bits - 1), np.uint64((bits + 1) // 2)
    for multiplier, addend in keys:
        x *= np.uint64(multiplier)
        x += np.uint64(addend)
        x &= mask
        x ^= x >> half
    return x


def _wide_rounds(x: _Words, bits: int, keys: list[tuple[int, int]]) -> _Words:
    half = (bits + 1) // 2
    sizes = bits - half, half
    halves = [x >> np.uint64(half), x & np.uint64(2**half - 1)]
    for r, (multiplier, addend) in enumerate(keys):
        target, other = r % 2, 1 - r % 2
        mixed = (halves[other] * np.uint64(multiplier) + np.uint64(addend)) & _MASK_32
        mixed = ((mixed ^ mixed >> np.uint64(15)) * _FACTOR) & _MASK_32
        halves[target] += mixed >> np.uint64(32 - sizes[target])
        halves[target] &= np.uint64(2 ** sizes[target] - 1)
    return halves[0] << np.uint64(half) | halves[1]


def _mix(z: int) -> int:
    z = ((z ^ z >> 30) * _FIRST) & _MASK
    z = ((z ^ z >> 27) * _SECOND) & _MASK
    return z ^ z >> 31


def _absorb(key: int, word: int) -> int:
    return _mix((key * _GAMMA + _mix((word + _GAMMA) & _MASK)) & _MASK)


def _expand(key: int, i: int) -> int:
    return _mix((key + (i + 1) * _GAMMA) & _MASK)
