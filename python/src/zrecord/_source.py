"""Shards of a dataset, each opened when one of its values is first needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from zrecord._blocks import BlocksColumn
from zrecord._columns import AbsentColumn, Column
from zrecord._entries import EntriesColumn
from zrecord._fetched import FetchedBytes
from zrecord._patch import PatchedColumn, PatchFile, PatchRef
from zrecord._promotion import InitialColumn, PromotedColumn, is_promotion
from zrecord._runs import FetchedRuns, MappedRuns
from zrecord._schema import FieldSpec
from zrecord._tables import BLOCKS, FIXED, VARIABLE, EntryTable, FieldTables, SealedShard, TablesFile
from zrecord._variable import VariableColumn
from zrecord.errors import CorruptDataError


class Source(Protocol):
    """A part of a dataset with a number of records, and its columns."""

    length: int

    def column(self, spec: FieldSpec, verify: str) -> Column:
        """Opens a field of the dataset. If the part does not have the field, all values are absent."""


class ShardSource:
    """A sealed shard, and what was deleted and changed in it since."""

    def __init__(self, shard: SealedShard, patch: PatchRef | None = None) -> None:
        self.length = shard.length
        self._shard = shard
        self._ref = patch
        self._patch: PatchFile | None = None

    @property
    def fetched_bytes(self) -> int:
        """The bytes of remote files that are in memory."""
        return self._shard.fetched_bytes + (0 if self._patch is None else self._patch.size)

    def column(self, spec: FieldSpec, verify: str) -> Column:
        """Opens a field of the dataset. If the shard does not have the field, all values are absent."""
        base = self._base(spec, verify)
        if self._ref is None:
            return base
        if self._patch is None:
            self._patch = PatchFile(self._shard, self._ref)
        changed = self._patch.changed(spec, verify)
        if changed is None and not self._patch.deleted.size:
            return base
        return PatchedColumn(base, self._patch.deleted, changed, spec.width or 0)

    def _base(self, spec: FieldSpec, verify: str) -> Column:
        file = self._shard.file_of(spec.id)
        if file is None:
            return AbsentColumn(spec.width or 0) if spec.initial is None else InitialColumn(spec.initial)
        tables = file.field(spec.id)
        stored = tables.spec
        if not is_promotion(stored, spec):
            raise CorruptDataError(
                f"Cannot read {file.path}: field {spec.id} is {stored.dtype}{list(stored.shape)} here, but the dataset says "
                f"{spec.dtype}{list(spec.shape)}",
                file.path,
            )
        # The codec is that of the shard; the name is that of the dataset.
        if stored.element_bytes == spec.element_bytes:
            return self._column(file, tables, replace(spec, codec=stored.codec), verify)
        return PromotedColumn(self._column(file, tables, replace(stored, name=spec.name), verify), stored, spec)

    def _column(self, file: TablesFile, tables: FieldTables, named: FieldSpec, verify: str) -> Column:
        runs = file.runs(named.id, tables, named.width)
        if runs["kind"][0] == FIXED:
            of_file = FetchedRuns if isinstance(file.content, FetchedBytes) else MappedRuns
            return of_file(file, named, tables, runs, verify)
        if runs["kind"][0] == VARIABLE:
            return VariableColumn(file, named, tables, runs, verify)
        if runs["kind"][0] == BLOCKS:
            return BlocksColumn(file, named, tables, runs, verify)
        table = EntryTable(file, named.id, tables.offsets, verify != "never")
        checksums = table.checksums() if file.has_checksums else None
        return EntriesColumn(file.path, file, named, verify, table.entries(), checksums)


class OpenSource:
    """A part of a dataset whose columns are made by a function."""

    def __init__(self, length: int, column: Callable[[FieldSpec, str], Column]) -> None:
        self.length = length
        self._column = column

    def column(self, spec: FieldSpec, verify: str) -> Column:
        """Opens a field of the dataset."""
        return self._column(spec, verify)
