"""Runs of values of one width (FORMAT.md section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from zrecord._binding import Binding, Kind
from zrecord._crc32c import Bytes, crc32c_each
from zrecord._fetched import Wanted, gather_in_chunks, in_chunks
from zrecord._schema import FieldSpec
from zrecord._span import Span, address
from zrecord._tables import FieldTables, TablesFile, damaged

Array = np.ndarray[Any, Any]


class RunsColumn:
    """The runs of a field in a shard. A subclass has their bytes."""

    def __init__(self, file: TablesFile, spec: FieldSpec, tables: FieldTables, runs: Array, verify: str) -> None:
        self._file = file
        self._spec = spec
        self._tables = tables
        self.width = spec.width or 0
        self._verify = verify
        self._binding = Binding(file.uuid, spec.id)
        self._unit_bytes = tables.unit_bytes or 65536
        self._checksums = file.unit_checksums(spec.id, tables) if tables.units.size and verify != "never" else np.zeros(0, "<u4")
        self._verified = np.zeros(self._checksums.size, bool)
        self.is_settled = verify == "never" or not file.has_checksums
        self._present: Bytes | None = None
        self.is_full = not tables.validity.size  # no value is absent
        self._units = runs["unit"].astype(np.int64)
        self.firsts = runs["first"].astype(np.int64)
        self._sizes: list[int] = runs["bytes"].tolist()

    def _part(self, run: int, begin: int, end: int) -> Bytes:
        """Returns bytes of a run, as far as it has them."""
        raise NotImplementedError

    def fixed(self, indices: Array) -> Bytes:
        """Returns values next to each other."""
        raise NotImplementedError

    def check(self, indices: Array) -> None:
        """Compares the checksums of the units of these values that still have to be compared."""
        if self.is_settled:
            return
        runs, places = self._located(indices)
        low = self._units[runs] + places // self._unit_bytes
        high = self._units[runs] + (places + self.width - 1) // self._unit_bytes
        most = int((high - low).max(initial=0)) + 1
        units = np.minimum(low[:, None] + np.arange(most), high[:, None])
        if self._verify == "first":
            units = units[~self._verified[units]]
        if units.size:
            self._check_units(np.unique(units))

    def _located(self, indices: Array) -> tuple[Array, Array]:
        """Returns the run of each value, and where in the run the value begins."""
        runs = self.firsts.searchsorted(indices, "right") - 1
        return runs, (indices - self.firsts[runs]) * self.width

    def view(self, start: int, stop: int) -> Bytes | None:
        """Returns the bytes of values next to each other; ``None`` if they are in several runs."""
        run = int(self.firsts.searchsorted(start, "right")) - 1
        first = int(self.firsts[run])
        begin, end = (start - first) * self.width, (stop - first) * self.width
        if end > self._sizes[run]:
            return None
        if not self.is_settled:
            unit = int(self._units[run])
            self._check_units(np.arange(unit + begin // self._unit_bytes, unit + -(-end // self._unit_bytes)))
        return self._part(run, begin, end)

    def present(self, indices: Array) -> Array:
        if self.is_full:
            return np.ones(indices.size, bool)
        if self._present is None:
            self._present = self._file.presence(self._spec.id, self._tables, self._verify != "never")
        return (self._present[indices >> 3] >> (indices & 7).astype(np.uint8) & 1).astype(bool)

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        self.check(indices)
        return [
            self.view(i, i + 1) if is_present else None for i, is_present in zip(indices.tolist(), self.present(indices).tolist())
        ]

    def _check_units(self, units: Array) -> None:
        if self._verify == "first":
            units = units[~self._verified[units]]
        if not units.size:
            return
        runs = self._units.searchsorted(units, "right") - 1
        begins = ((units - self._units[runs]) * self._unit_bytes).tolist()
        pieces = [self._part(r, at, at + self._unit_bytes) for r, at in zip(runs.tolist(), begins)]
        wrong = np.flatnonzero(crc32c_each(pieces) ^ self._binding.of_each(Kind.BLOCK, units) != self._checksums[units])
        if wrong.size:
            at = begins[wrong[0]]
            record = int(self.firsts[runs[wrong[0]]]) + at // self.width
            raise damaged(self._file.path.parent, f"values of {self._spec.name!r} from record {record} of the shard on")
        if self._verify == "first":
            self._verified[units] = True
            if self._verified.all():  # another thread may have found this meanwhile
                self.is_settled = True


class MappedRuns(RunsColumn):
    """Runs in chunks that are mapped."""

    def __init__(self, file: TablesFile, spec: FieldSpec, tables: FieldTables, runs: Array, verify: str) -> None:
        super().__init__(file, spec, tables, runs, verify)
        chunks = {chunk: file.mapped(chunk) for chunk in np.unique(runs["chunk"]).tolist()}
        self.maps = list(chunks.values())
        self.runs = [
            chunks[chunk][offset : offset + size]
            for chunk, offset, size in zip(runs["chunk"].tolist(), runs["offset"].tolist(), runs["bytes"].tolist())
        ]
        self.addresses = np.array([address(run) for run in self.runs], np.int64)

    def _part(self, run: int, begin: int, end: int) -> Bytes:
        return self.runs[run][begin:end]

    def fixed(self, indices: Array) -> Bytes:
        self.check(indices)
        if not indices.size:
            return np.zeros(0, np.uint8)
        span = Span(self.maps, self.width)
        runs, places = self._located(indices)
        return span.gather(self.addresses[runs] + places - span.base).view(np.uint8).reshape(-1)

    def wanted(self, indices: Array) -> list[Wanted]:
        return []


class FetchedRuns(RunsColumn):
    """Runs in chunks that are fetched."""

    def __init__(self, file: TablesFile, spec: FieldSpec, tables: FieldTables, runs: Array, verify: str) -> None:
        super().__init__(file, spec, tables, runs, verify)
        self._chunks = runs["chunk"].astype(np.int64)
        self._offsets = runs["offset"].astype(np.int64)
        self._lengths = runs["bytes"].astype(np.int64)

    def _part(self, run: int, begin: int, end: int) -> Bytes:
        offset = int(self._offsets[run])
        return self._file.chunk(int(self._chunks[run]))[offset + begin : offset + min(end, self._sizes[run])]

    def fixed(self, indices: Array) -> Bytes:
        self.check(indices)
        runs, places = self._located(indices)
        return gather_in_chunks(self._file.chunk, self._chunks[runs], self._offsets[runs] + places, self.width)

    def wanted(self, indices: Array) -> list[Wanted]:
        runs, begins = self._located(indices)
        ends = begins + self.width
        if not self.is_settled:
            begins = begins // self._unit_bytes * self._unit_bytes
            ends = np.minimum(-(-ends // self._unit_bytes) * self._unit_bytes, self._lengths[runs])
        return in_chunks(self._file.chunk, self._chunks[runs], self._offsets[runs] + begins, self._offsets[runs] + ends)
