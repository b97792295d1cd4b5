"""What a rank has of the rest of an epoch."""

from __future__ import annotations

import numpy as np

from zrecord.samplers import ENDLESS, Remainder, Sampler
from zrecord.samplers._mixing import Indices


class Rest:
    """The positions ``first + rank``, ``first + rank + world_size``, … of an epoch (SAMPLERS.md section 1).

    With ``pad`` the position after the last one of the epoch is its first one, wherever the rest begins. So ranks that resume
    have the records that they would have had.
    """

    def __init__(self, order: Sampler, first: int, rank: int, world_size: int, remainder: Remainder) -> None:
        self._order = order
        self._first = first
        self._rank = rank
        self._world_size = world_size
        left = order.length - first
        #: The positions of this rank, or ``ENDLESS``.
        self.length = ENDLESS if order.is_endless else (-(-left // world_size) if remainder == "pad" else left // world_size)

    def global_position(self, position: int) -> int:
        """Returns how far the order of all ranks is consumed when every rank has consumed ``position`` of its own."""
        return min(self._first + position * self._world_size, self._order.length)

    def indices(self, epoch: int, start: int, stop: int) -> Indices:
        """Returns the indices at own positions of an epoch, at least one of them."""
        count, step = stop - start, self._world_size
        first = self._first + start * step + self._rank
        last = first + (count - 1) * step
        if last < self._order.length:
            return self._order._fill(epoch, first, step, count)
        repeated = self._order._fill(epoch, last % self._order.length, 1, 1)
        return repeated if count == 1 else np.concatenate([self._order._fill(epoch, first, step, count - 1), repeated])
