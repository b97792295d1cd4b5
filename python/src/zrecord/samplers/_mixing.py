"""Keys and random words (SAMPLERS.md sections 2 and 3): of one number in Python's integers, of many in NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

Words = np.ndarray[Any, np.dtype[np.uint64]]
Indices = np.ndarray[Any, np.dtype[np.int64]]

RANDOM, SHUFFLE, GLOBAL, BLOCKS, INSIDE_BLOCKS, WEIGHTED, COINS, ROUNDS, CLASSES = range(1, 10)
MASK = 2**64 - 1
_MASK_32 = 2**32 - 1
_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix(z: int) -> int:
    """Returns the finalizer of SplitMix64 of a word."""
    z = ((z ^ z >> 30) * _FIRST) & MASK
    z = ((z ^ z >> 27) * _SECOND) & MASK
    return z ^ z >> 31


def absorb(key: int, word: int) -> int:
    """Returns a key that is made of another key and a word."""
    return mix((key * _GAMMA + mix((word + _GAMMA) & MASK)) & MASK)


def key_of(use: int, seed: int, epoch: int) -> int:
    """Returns the key of an epoch of a seed, which may be negative."""
    return absorb(absorb(use, seed & MASK), epoch)


def expand(key: int, i: int) -> int:
    """Returns word ``i`` of those that a key stands for."""
    return mix((key + (i + 1) * _GAMMA) & MASK)


def mix_each(z: Words) -> Words:
    """Returns ``mix`` of each word, in a new array."""
    z = (z ^ z >> np.uint64(30)) * np.uint64(_FIRST)
    z ^= z >> np.uint64(27)
    z *= np.uint64(_SECOND)
    z ^= z >> np.uint64(31)
    return z


def absorb_each(keys: int | Words, words: Words) -> Words:
    """Returns ``absorb`` of one key or of each, with each word."""
    spread = np.uint64(keys * _GAMMA & MASK) if isinstance(keys, int) else keys * np.uint64(_GAMMA)
    return mix_each(mix_each(words + np.uint64(_GAMMA)) + spread)


def expand_each(keys: Words, count: int) -> Words:
    """Returns the first ``count`` words of each key, as an array of the shape ``(count, len(keys))``."""
    steps = (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GAMMA))[:, None]
    return mix_each(keys + steps)


def words(stream: int, positions: Words) -> Words:
    """Returns the random word at each position of a stream. Positions rise."""
    first, last = int(positions[0]) >> 32, int(positions[-1]) >> 32
    if first == last:
        return _words_of_block(absorb(stream, first), positions)
    blocks = positions >> np.uint64(32)
    cuts = np.flatnonzero(np.diff(blocks)) + 1
    parts = np.split(positions, cuts)
    return np.concatenate([_words_of_block(absorb(stream, int(part[0]) >> 32), part) for part in parts])


def draws(stream: int, positions: Words, bound: int) -> Words:
    """Returns a number in ``[0, bound)`` for each position of a stream, without bias. Positions rise; ``bound <= 2⁶²``."""
    drawn = words(stream, positions)
    result = _multiply_high(drawn, bound)
    least = np.uint64(2**64 % bound)
    rejected = np.flatnonzero(drawn * np.uint64(bound) < least)
    attempt = 0
    while rejected.size:
        attempt += 1
        drawn = words(absorb(stream, attempt), positions[rejected])
        result[rejected] = _multiply_high(drawn, bound)
        rejected = rejected[drawn * np.uint64(bound) < least]
    return result


def _words_of_block(key: int, positions: Words) -> Words:
    one, two = expand(key, 0), expand(key, 1)
    t = positions.astype(np.uint32)
    t *= np.uint32(0x9E3779B9)
    t += np.uint32(one >> 32)
    x = (t ^ t >> np.uint32(16)) * np.uint32(0x21F0AAAD) + np.uint32(one & _MASK_32)
    x = (x ^ x >> np.uint32(15)) * np.uint32(0xD35A2D97) + np.uint32(two >> 32)
    high = (x ^ x >> np.uint32(15)) + t
    x = (t ^ high) * np.uint32(0xED5AD4BB) + np.uint32(two & _MASK_32)
    low = x ^ ((x >> np.uint32(16)) * np.uint32(0xAC4C1B51)) >> np.uint32(16)
    return high.astype(np.uint64) << np.uint64(32) | low


def _multiply_high(factors: Words, factor: int) -> Words:
    """Returns the upper 64 bits of each product."""
    lower, shift = np.uint64(_MASK_32), np.uint64(32)
    high, low = factors >> shift, factors & lower
    if factor <= _MASK_32:
        return (high * np.uint64(factor) + (low * np.uint64(factor) >> shift)) >> shift
    upper, under = np.uint64(factor >> 32), np.uint64(factor & _MASK_32)
    one, other = low * upper, high * under
    carried = (low * under >> shift) + (one & lower) + (other & lower)
    return high * upper + (one >> shift) + (other >> shift) + (carried >> shift)
