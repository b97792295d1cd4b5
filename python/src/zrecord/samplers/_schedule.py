"""Whose turn it is among sources of given rates (SAMPLERS.md section 9).

Turn ``j`` of a source of rate ``r`` is due at time ``(2j + 1) / r``. The earliest turn goes first, and of equal times that of
the source with the lower number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zrecord.samplers._mixing import Indices

#: Up to this sum of rates, times of different turns are different floats, and products are within 63 bits.
_FLOATS = 2**25
#: Fractions with denominators up to 2⁶² that differ do so by more than this power of a half.
_FRACTION_BITS = 126


class Schedule:
    """The turns of sources with rates from 0 on. Immutable."""

    def __init__(self, rates: Sequence[int]) -> None:
        self.total = sum(rates)
        self._is_small = self.total <= _FLOATS
        # Python's integers where NumPy's would overflow.
        self.rates = np.array(rates, np.int64 if self._is_small else object)

    def turns(self, first: int, count: int) -> tuple[Indices, Indices]:
        """Returns the sources of ``count`` turns from turn ``first`` on, and the number of each turn among those of its source."""
        cycle, start = divmod(first, self.total)
        sources = self.rates.size
        # All turns due by a time are known without counting; at most as many as there are sources too few or too many.
        begun = self._taken(max(0, start - sources // 2 - 1))
        until = self._taken(start + count + sources // 2 + 1)
        lengths = (until - begun).astype(np.int64)
        source = np.repeat(np.arange(sources), lengths)
        ends = np.cumsum(lengths)
        turn = np.arange(source.size) - np.repeat(ends - lengths, lengths) + begun[source]
        skipped = start - int(begun.sum())
        order = np.argsort(self._times(source, turn), kind="stable")[skipped : skipped + count]
        numbers = turn[order] + cycle * self.rates[source[order]]
        return source[order], numbers.astype(np.int64)

    def _taken(self, turns: int) -> Any:
        """Returns how many turns of each source are due by time ``2 · turns / total``."""
        return (2 * turns * self.rates // self.total + 1) // 2

    def _times(self, source: Indices, turn: Any) -> Any:
        rates = self.rates[source]
        return (2 * turn + 1) / rates if self._is_small else ((2 * turn + 1) << _FRACTION_BITS) // rates
