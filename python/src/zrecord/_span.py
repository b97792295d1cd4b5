"""Gathering from places in several maps at once.

NumPy takes items of one array. So the array is all of the memory from the first map to the last map, whatever is between
them: an item for every byte, as wide as a value. The index of an item is the address of its first byte, less that of the
first map. Only addresses within maps may be asked for; the code that makes the addresses has checked them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zrecord._crc32c import Bytes

Array = np.ndarray[Any, Any]
_LARGE_BYTES = 1 << 20


def address(array: Array) -> int:
    """Returns the address of the first byte of an array."""
    return int(array.__array_interface__["data"][0])


class Span:
    """The memory of some maps as items of one width. Keeps the maps alive."""

    def __init__(self, maps: Sequence[Bytes], width: int) -> None:
        self.width = width
        maps = maps or [np.zeros(1, np.uint8)]
        self.base = min(map(address, maps))
        size = max(address(m) + m.size for m in maps) - self.base
        self._bytes = _items(maps, self.base, size, 1)
        # NumPy wants the number of items times their width to be within 63 bits; wide items are copied one by one as fast.
        self._items = None if width > _LARGE_BYTES or size >= 2**62 // width else _items(maps, self.base, size, width)

    def gather(self, places: Array) -> Array:
        """Returns a copy of the items at addresses less ``base``, one after the other."""
        if self._items is not None:
            items: Array = self._items[places]
            return items
        copies = np.empty((places.size, self.width), np.uint8)
        for copy, place in zip(copies, places.tolist()):
            copy[:] = self._bytes[place : place + self.width]
        return copies


class _Memory:
    """Memory by the array interface protocol of NumPy."""

    def __init__(self, maps: Sequence[Bytes], interface: dict[str, Any]) -> None:
        self.maps = list(maps)
        self.__array_interface__ = interface


def _items(maps: Sequence[Bytes], base: int, size: int, width: int) -> Array:
    interface = {
        "version": 3,
        "typestr": "|u1" if width == 1 else f"|V{width}",
        "data": (base, True),
        "shape": (max(0, size - width + 1),),
        "strides": (1,),
    }
    return np.asarray(_Memory(maps, interface))
