"""Shards of a dataset, each opened when one of its values is first needed."""

from __future__ import annotations

from collections.abc import Callable

from zrecord._columns import AbsentColumn, Column
from zrecord._entries import EntriesColumn, map_entries
from zrecord._runs import RunsColumn
from zrecord._schema import FieldSpec
from zrecord._shard import Shard, ShardField
from zrecord.errors import CorruptDataError

Tables = Callable[[Shard, ShardField, str], Column]


class ShardSource:
    """A shard with a number of records, and its columns by the id of their field."""

    def __init__(self, length: int, load: Callable[[], Shard], tables: Tables | None = None) -> None:
        self.length = length
        self._load = load
        self._tables = tables or _sealed_column
        self._shard: Shard | None = None

    def column(self, spec: FieldSpec, verify: str) -> Column:
        """Opens a field of the dataset. If the shard does not have the field, all values are absent."""
        if self._shard is None:
            self._shard = self._load()
        for field in self._shard.meta.fields:
            if field.spec.id == spec.id:
                if (field.spec.dtype, field.spec.shape) != (spec.dtype, spec.shape):
                    raise CorruptDataError(
                        f"Cannot read {self._shard.meta.path}: field {spec.id} is {field.spec.dtype}"
                        f"{list(field.spec.shape)} here, but the dataset says {spec.dtype}{list(spec.shape)}",
                        self._shard.meta.path,
                    )
                return self._tables(self._shard, field, verify)
        for unknown in self._shard.meta.unreadable:
            if unknown.id == spec.id:
                raise unknown.error(self._shard.meta.path)
        return AbsentColumn(spec.width or 0)


def _sealed_column(shard: Shard, field: ShardField, verify: str) -> Column:
    if field.layout == "runs":
        return RunsColumn(shard, field, verify)
    return EntriesColumn(shard, field, verify, *map_entries(shard, field.stem))
