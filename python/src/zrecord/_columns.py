"""The values of one field in one shard. Indices here are those of the shard, within its length."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from zrecord._crc32c import Bytes

Array = np.ndarray[Any, Any]
VERIFY = ("first", "always", "never")


class Column(Protocol):
    """What every layout can do."""

    def present(self, indices: Array) -> Array:
        """Whether the values are there."""

    def fixed(self, indices: Array) -> Bytes:
        """Values of one width next to each other; those that are absent are zero."""

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        """Values of any width; a view of the file where they are raw."""


class AbsentColumn:
    """The field of a later version of the table, of which the shard knows nothing."""

    def __init__(self, width: int) -> None:
        self._width = width

    def present(self, indices: Array) -> Array:
        return np.zeros(indices.size, bool)

    def fixed(self, indices: Array) -> Bytes:
        return np.zeros(indices.size * self._width, np.uint8)

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        return [None] * indices.size
