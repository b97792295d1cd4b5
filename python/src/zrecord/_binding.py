"""Binds the checksums of units to their places (FORMAT.md, "Bound checksums").

A stored checksum is the CRC32C of the unit's bytes, exclusive or the CRC32C of 32 bytes that name the unit's place. The CRC
of these 32 bytes is linear in the unit number, which is in the last 8 of them, but for a constant.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any
from uuid import UUID

import numpy as np

from zrecord._crc32c import Words, crc32c, linear

Array = np.ndarray[Any, Any]


class Kind(IntEnum):
    """What a unit is."""

    VALUE = 1
    ABSENT = 2
    BLOCK = 3
    VALIDITY = 4
    RUNS = 5
    OFFSETS = 6
    STATISTICS = 7
    DELETED = 9
    CHANGED = 10
    JOURNAL_RECORD = 11
    CHECKSUMS = 12


class Binding:
    """The part of the checksums of a field that tells their places. Field 0 is for what belongs to no field."""

    def __init__(self, owner: UUID, field: int) -> None:
        self._sums = np.zeros(max(Kind) + 1, np.uint32)
        for kind in Kind:
            self._sums[kind] = crc32c(owner.bytes + field.to_bytes(4, "little") + kind.to_bytes(4, "little") + bytes(8))

    def of_each(self, kinds: Array | Kind, units: Array) -> Words:
        """Returns the CRC32C of the binding of each unit."""
        numbers = np.ascontiguousarray(units, "<u8").view(np.uint8)
        sums: Words = self._sums[kinds] ^ linear(numbers.reshape(-1, 8))
        return sums

    def of(self, kind: Kind, unit: int) -> int:
        """Returns the CRC32C of the binding of a unit."""
        return int(self.of_each(kind, np.array([unit], "<u8"))[0])
