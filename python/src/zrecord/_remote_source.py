"""Shards of a remote table, of which a bounded number of bytes is kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from zrecord._columns import Column
from zrecord._schema import FieldSpec
from zrecord._source import ShardSource

MAX_KEPT_BYTES = 256 << 20


class _Opened:
    """A shard with its fetched bytes and the columns that compared their checksums: they are given up together."""

    def __init__(self, source: ShardSource) -> None:
        self.source = source
        self.columns: dict[int, Column] = {}


class RemoteSource:
    """A sealed shard of a remote table.

    A column keeps its bytes for as long as it is used, also if the shard is given up meanwhile.
    """

    def __init__(self, length: int, make: Callable[[], ShardSource], keeper: Keeper) -> None:
        self.length = length
        self.keeper = keeper
        self._make = make
        self._opened: _Opened | None = None

    def column(self, spec: FieldSpec, verify: str) -> Column:
        """Returns a field of the shard."""
        opened = self._opened
        if opened is None:
            opened = self.keeper.opened(self._open)
        column = opened.columns.get(spec.id)
        if column is None:
            column = opened.columns.setdefault(spec.id, opened.source.column(spec, verify))
        return column

    def fetched_bytes(self) -> int:
        opened = self._opened
        return 0 if opened is None else opened.source.fetched_bytes

    def give_up(self) -> None:
        self._opened = None

    def _open(self) -> _Opened:
        if self._opened is None:
            self._opened = _Opened(self._make())
        return self._opened


class Keeper:
    """Counts the bytes that the shards of a dataset keep. Gives up the shards that were not used for longest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[RemoteSource, int] = OrderedDict()
        self.kept_bytes = 0

    def opened(self, open_shard: Callable[[], _Opened]) -> _Opened:
        """Opens a shard unless another thread just did."""
        with self._lock:
            return open_shard()

    def used(self, sources: Iterable[RemoteSource]) -> None:
        """Counts what was fetched of shards, and gives shards up if these are too many bytes."""
        with self._lock:
            for source in sources:
                before, now = self._kept.pop(source, 0), source.fetched_bytes()
                self._kept[source] = now
                self.kept_bytes += now - before
            while self.kept_bytes > MAX_KEPT_BYTES and self._kept:
                source, count = self._kept.popitem(last=False)
                source.give_up()
                self.kept_bytes -= count
