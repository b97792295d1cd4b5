"""The values of one field in one shard. Indices here are those of the shard, within its length."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from zrecord._crc32c import Bytes
from zrecord._fetched import Wanted

Array = np.ndarray[Any, Any]
VERIFY = ("first", "always", "never")


class Column(Protocol):
    """The operations of every layout."""

    def present(self, indices: Array) -> Array:
        """Tells which values are present."""

    def fixed(self, indices: Array) -> Bytes:
        """Returns values of one width next to each other; absent values are zero."""

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        """Returns values of any width; a raw value is a view of the file."""

    def wanted(self, indices: Array) -> list[Wanted]:
        """Returns the ranges of remote chunks that these values are read and verified from."""


class AbsentColumn:
    """A field of a later version of the table, which the shard does not have."""

    def __init__(self, width: int) -> None:
        self._width = width

    def present(self, indices: Array) -> Array:
        return np.zeros(indices.size, bool)

    def fixed(self, indices: Array) -> Bytes:
        return np.zeros(indices.size * self._width, np.uint8)

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        return [None] * indices.size

    def wanted(self, indices: Array) -> list[Wanted]:
        return []
