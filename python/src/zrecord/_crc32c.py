"""Computes CRC32C, with ``google-crc32c`` if it is installed, otherwise in NumPy.

A CRC without its initial and final inversion is linear. The CRC of two parts laid end to end is the CRC of the first part,
moved by the length of the second, exclusive or the CRC of the second. Zeros in front change nothing. So the words of all
pieces are looked up at once and joined pair by pair: some 60 NumPy calls for any number of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

try:
    import google_crc32c as _library
except ImportError:
    _library = None

_POLYNOMIAL = 0x82F63B78
_WORD = 8
_PADDED_BYTES = 1 << 25
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Words = np.ndarray[Any, np.dtype[np.uint32]]


def crc32c(data: bytes | Bytes) -> int:
    """Returns the CRC32C of some bytes."""
    piece = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
    return int(crc32c_each([piece])[0])


def crc32c_each(pieces: Sequence[Bytes]) -> Words:
    """Returns the CRC32C of each piece; pieces are contiguous."""
    if _library is not None:
        return np.array([_library.value(piece) for piece in pieces], np.uint32)
    return _with_numpy(pieces)


def _with_numpy(pieces: Sequence[Bytes]) -> Words:
    """Computes the CRCs in groups of pieces of similar length, padded to the longest piece of the group."""
    result = np.zeros(len(pieces), np.uint32)
    order = sorted(range(len(pieces)), key=lambda i: pieces[i].size)
    while order:
        group = order[-max(1, _PADDED_BYTES // max(1, pieces[order[-1]].size)) :]
        del order[-len(group) :]
        padded = np.zeros((len(group), -(-pieces[group[-1]].size // _WORD) * _WORD), np.uint8)
        for row, i in zip(padded, group):
            row[row.size - pieces[i].size :] = pieces[i]
        result[group] = linear(padded) ^ np.array([_inversions(pieces[i].size) for i in group], np.uint32)
    return result


def linear(rows: Bytes) -> Words:
    """Returns the CRC of each row without inversions. The length of a row is a multiple of the word's length."""
    table = _table()
    columns = rows.reshape(rows.shape[0], -1, _WORD)
    crcs = np.zeros(columns.shape[:2], np.uint32)
    for i in range(_WORD):
        crcs ^= table[_WORD - 1 - i].take(columns[:, :, i])
    level = 0
    while crcs.shape[1] > 1:
        if crcs.shape[1] % 2:
            crcs = np.concatenate([np.zeros((crcs.shape[0], 1), np.uint32), crcs], axis=1)
        crcs = _moved(crcs[:, 0::2], level) ^ crcs[:, 1::2]
        level += 1
    return crcs[:, 0] if crcs.shape[1] else np.zeros(rows.shape[0], np.uint32)


def _moved(crcs: Words, level: int) -> Words:
    """Returns CRCs after ``8 << level`` more bytes of zeros."""
    t = _mover(level)
    moved: Words = t[0][crcs & 255] ^ t[1][crcs >> 8 & 255] ^ t[2][crcs >> 16 & 255] ^ t[3][crcs >> 24]
    return moved


@lru_cache(maxsize=4096)
def _inversions(length: int) -> int:
    """Returns the effect of the initial and the final inversion on the CRC of a message."""
    crc = np.array([0xFFFFFFFF], np.uint32)
    for _ in range(length % _WORD):
        crc = _table()[0][crc & 255] ^ crc >> 8
    for level in range((length // _WORD).bit_length()):
        if length // _WORD >> level & 1:
            crc = _moved(crc, level)
    return int(crc[0]) ^ 0xFFFFFFFF


@cache
def _table() -> Words:
    """Returns a table whose row ``i`` has the CRC of each byte with ``i`` zeros after it."""
    crc = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        crc = np.where(crc & 1, crc >> 1 ^ np.uint32(_POLYNOMIAL), crc >> 1)
    rows = [crc]
    for _ in range(_WORD - 1):
        rows.append(rows[0][rows[-1] & 255] ^ rows[-1] >> 8)
    return np.stack(rows)


@cache
def _mover(level: int) -> Words:
    """Returns a table whose row ``i`` has the result of byte ``i`` of a CRC after ``8 << level`` zeros."""
    if level == 0:
        return _table()[7:3:-1]
    return _moved(_mover(level - 1), level - 1)
