"""A field of a remote dataset: fetches the bytes of many values side by side before it reads the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zrecord._columns import Column
from zrecord._crc32c import Bytes
from zrecord._fetched import Wanted, fetch
from zrecord._field import Field
from zrecord._location import Location
from zrecord._remote import SHARDS, Remote, RemotePath
from zrecord._remote_source import RemoteSource
from zrecord._schema import FieldSpec
from zrecord._source import Source

Array = np.ndarray[Any, Any]
_STEP_BYTES = 64 << 20
_FIRST_STEP = 1024
_MAX_STEP = 1 << 22
_GROUP_SHARDS = 16


def field_at(location: Location, spec: FieldSpec, sources: Sequence[Source], starts: Array, verify: str) -> Field:
    """Returns a field of a local or a remote dataset."""
    if isinstance(location, RemotePath):
        return RemoteField(location, spec, sources, starts, verify)
    return Field(str(location), spec, sources, starts, verify)


class RemoteField(Field):
    """A field of a remote dataset. Values are copies: what was fetched for them may be given up."""

    def __init__(self, root: RemotePath, spec: FieldSpec, sources: Sequence[Source], starts: Array, verify: str) -> None:
        super().__init__(str(root), spec, sources, starts, verify)
        self._remote: Remote = root.remote

    def _value(self, index: int) -> Any:
        if not -self._length <= index < self._length:
            raise IndexError(f"Index {index} is out of range for {self._what()}, which has {self._length} records")
        return self._list(np.array([index % self._length]))[0]

    def _slice(self, start: int, stop: int, step: int) -> Any:
        return self._at(np.arange(start, stop, step, dtype=np.int64))

    def _gather(self, indices: Array) -> Array:
        if not self._width or not indices.size:
            return np.zeros((indices.size, *self.spec.shape), self.dtype)
        return self._gather_by_shard(indices)

    def _column(self, shard: int) -> Column:
        return self._sources[shard].column(self.spec, self._verify)

    def _projected(self, index: int, value: bytes | Bytes) -> Any:
        return super()._projected(index, value if isinstance(value, bytes) else value.copy())

    def _in_shards_of_values(self, indices: Array, use: Callable[[Column, Array, Array], None]) -> None:
        """Goes through the values in steps, so that a bounded part of them is kept twice."""
        begin, step = 0, self._first_step(indices)
        while begin < indices.size:
            count, fetched = self._in_shards_of_step(indices[begin : begin + step], begin, use)
            begin += count
            if count == step or fetched > _STEP_BYTES:
                step = min(_MAX_STEP, 4 * step, max(1, count * _STEP_BYTES // max(1, fetched)))

    def _in_shards_of_step(self, indices: Array, begin: int, use: Callable[[Column, Array, Array], None]) -> tuple[int, int]:
        """Opens shards side by side, and fetches the bytes of values in all of them side by side.

        Takes fewer values if too many bytes are missing. Returns how many values were read, and how many bytes were fetched.
        """
        shards = self._starts.searchsorted(indices, "right") - 1
        numbers = np.unique(shards).tolist()
        try:
            columns = dict(zip(numbers, self._remote.map(SHARDS, self._column, numbers)))
            parts, wanted = self._parts(columns, shards, indices)
            while indices.size > 1 and (missing := _missing_bytes(wanted)) > 2 * _STEP_BYTES:
                indices = indices[: max(1, indices.size * _STEP_BYTES // missing)]
                parts, wanted = self._parts(columns, shards[: indices.size], indices)
            before = sum(file.fetched_bytes for file, _, _ in wanted)
            fetch(wanted)
            for column, at, of_shard in parts:
                use(column, at + begin, of_shard)
            return indices.size, sum(file.fetched_bytes for file, _, _ in wanted) - before
        finally:
            self._used(numbers)

    def _parts(
        self, columns: dict[int, Column], shards: Array, indices: Array
    ) -> tuple[list[tuple[Column, Array, Array]], list[Wanted]]:
        """Returns the column of each shard with its records' places and their indices in it, and the bytes they need."""
        parts = []
        for shard in np.unique(shards).tolist():
            at = np.flatnonzero(shards == shard)
            parts.append((columns[shard], at, indices[at] - int(self._starts[shard])))
        return parts, [part for column, _, of_shard in parts for part in column.wanted(of_shard)]

    def _in_shards(self, indices: Array, use: Callable[[Column, Array, Array], None]) -> None:
        """Opens groups of shards, the shards of a group side by side."""
        shards = self._starts.searchsorted(indices, "right") - 1
        every = np.unique(shards).tolist()
        for numbers in (every[first : first + _GROUP_SHARDS] for first in range(0, len(every), _GROUP_SHARDS)):
            try:
                for shard, column in zip(numbers, self._remote.map(SHARDS, self._column, numbers)):
                    at = np.flatnonzero(shards == shard)
                    use(column, at, indices[at] - int(self._starts[shard]))
            finally:
                self._used(numbers)

    def _used(self, shards: list[int]) -> None:
        """Counts what shards keep."""
        sources = [self._sources[shard] for shard in shards]
        remote = [source for source in sources if isinstance(source, RemoteSource)]
        if remote:
            remote[0].keeper.used(remote)

    def _first_step(self, indices: Array) -> int:
        """Returns a number of values. How many bytes are fetched for them is known when their places were looked up."""
        is_sequence = indices.size and int(indices[-1]) - int(indices[0]) == indices.size - 1
        if self._width and is_sequence:
            return min(_MAX_STEP, max(1, _STEP_BYTES // self._width))
        return _FIRST_STEP


def _missing_bytes(wanted: list[Wanted]) -> int:
    """Returns how many bytes ``fetch`` asks for."""
    return sum(end - begin for file, begins, ends in wanted for begin, end in file.missing(begins, ends))
