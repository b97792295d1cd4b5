"""Orders of records as the engine makes them (SAMPLERS.md): the same for the same seed, in Java and in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

_MASK = 2**64 - 1
_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_SHUFFLE = 2
_ROUNDS = 8


def shuffle(length: int, seed: int, epoch: int = 0, start: int = 0, stop: int | None = None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The indices at positions from ``start`` to ``stop``, all if ``None``, of a permutation of ``[0, length)``.

    A permutation for each seed, of 64 bits, and epoch from 0 on. Any part of it is made without the rest: a rank takes its
    own positions, and a run goes on where it stopped. Lengths are 1 to 2⁶².
    """
    end = length if stop is None else stop
    if not 1 <= length <= 2**62 or not 0 <= start <= end <= length or epoch < 0:
        raise ValueError(
            f"Cannot shuffle positions {start} to {end} of {length} in epoch {epoch}: a length is 1 to 2⁶², positions are in it, "
            "and epochs count from 0"
        )
    key = _absorb(_absorb(_SHUFFLE, seed & _MASK), epoch)
    bits = max(8, (length - 1).bit_length())
    mask, half = np.uint64(2**bits - 1), np.uint64((bits + 1) // 2)
    values = np.arange(start, end, dtype=np.uint64)
    if length == 1:
        return values.view(np.int64)
    values[values < 2] ^= np.uint64(_expand(key, 16) & 1)
    todo = np.arange(values.size)
    while todo.size:
        x = values[todo]
        for r in range(_ROUNDS):
            x *= np.uint64(_expand(key, 2 * r) | 1)
            x += np.uint64(_expand(key, 2 * r + 1))
            x &= mask
            x ^= x >> half
        values[todo] = x
        todo = todo[x >= np.uint64(length)]
    return values.view(np.int64)


def _mix(z: int) -> int:
    z = ((z ^ z >> 30) * _FIRST) & _MASK
    z = ((z ^ z >> 27) * _SECOND) & _MASK
    return z ^ z >> 31


def _absorb(key: int, word: int) -> int:
    return _mix((key * _GAMMA + _mix((word + _GAMMA) & _MASK)) & _MASK)


def _expand(key: int, i: int) -> int:
    return _mix((key + (i + 1) * _GAMMA) & _MASK)
