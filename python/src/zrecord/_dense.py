"""The runs of all open shards of a field, laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zrecord._runs import MappedRuns
from zrecord._span import Span

Array = np.ndarray[Any, Any]
_MAX_BUCKETS = 1 << 20
_NEVER = np.iinfo(np.int64).max


class Dense:
    """Finds values in the runs of those shards that have them.

    ``is_direct`` tells which runs these are. Each other run is a placeholder for a whole shard, which is not open or has no
    runs. ``unsettled`` are shards with blocks that have still to be checked.
    """

    def __init__(self, columns: Sequence[MappedRuns | None], starts: Array, width: int) -> None:
        open_runs = [(i, column) for i, column in enumerate(columns) if column is not None]
        self._width = width
        self._span = Span([mapped for _, column in open_runs for mapped in column.maps], width)
        firsts = [starts[i : i + 1] for i in range(len(columns))]
        places = [np.zeros(1, np.int64)] * len(columns)
        is_direct = [np.zeros(1, bool)] * len(columns)
        for i, column in open_runs:
            firsts[i] = column.firsts + starts[i]
            places[i] = column.addresses - self._span.base - firsts[i] * width
            is_direct[i] = np.ones(column.firsts.size, bool)
        self.is_direct = np.concatenate(is_direct)
        self.is_complete = bool(self.is_direct.all())
        self.is_full = all(column.is_full for _, column in open_runs)  # no value in direct runs is absent
        self.unsettled = [(i, column) for i, column in open_runs if not column.is_settled]
        self._places = np.concatenate(places)  # record i of run r is at places[r] + i · width
        self._cuts = np.concatenate(firsts)[1:]  # where each run except the first begins
        self._find_buckets(int(starts[-1]))

    def runs(self, indices: Array) -> Array:
        """Returns the run of each record."""
        if self._bucket_run is None:
            return self._cuts.searchsorted(indices, "right")
        buckets = indices >> self._shift
        runs: Array = self._bucket_run[buckets]
        runs += indices >= self._bucket_cut[buckets]
        return runs

    def gather(self, indices: Array, runs: Array) -> Array:
        """Returns a copy of the values of records in direct runs."""
        places = indices * self._width
        places += self._places[runs]
        return self._span.gather(places)

    def _find_buckets(self, length: int) -> None:
        """Divides the records into buckets with at most one cut each, which is three times as fast as a search."""
        gaps = np.diff(self._cuts, prepend=0)
        self._shift = int(gaps.min(initial=length)).bit_length() - 1
        self._bucket_run: Array | None = None
        if self._shift >= 0 and length >> self._shift < _MAX_BUCKETS:
            edges = np.arange((length >> self._shift) + 1, dtype=np.int64) << self._shift
            self._bucket_run = self._cuts.searchsorted(edges, "right")
            self._bucket_cut = np.append(self._cuts, _NEVER)[self._bucket_run]
