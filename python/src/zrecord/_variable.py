"""Variable runs: values of any length, one after the other (FORMAT.md section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from zrecord._binding import Binding, Kind
from zrecord._crc32c import Bytes, crc32c, crc32c_each
from zrecord._entries import StoredColumn
from zrecord._fetched import Wanted, in_chunks
from zrecord._schema import FieldSpec
from zrecord._sealed import corrupt
from zrecord._tables import BLOCK_VALUES, ENTRY, FieldTables, TablesFile, block_bytes, damaged

Array = np.ndarray[Any, Any]
_MAX_LENGTH = 2**31 - 1


class VariableColumn(StoredColumn):
    """The variable runs of a field in a shard."""

    def __init__(self, file: TablesFile, spec: FieldSpec, tables: FieldTables, runs: Array, verify: str) -> None:
        super().__init__(file.path, file, spec)
        self._file = file
        self._tables = tables
        self._verify = verify
        self._binding = Binding(file.uuid, spec.id)
        self._content = file.bytes_of(tables.offsets)
        self._words = self._content.view("<u4")
        self._least, self._most = tables.align
        self._runs = runs
        self._firsts = runs["first"].astype(np.int64)
        self._counts = runs["count"].astype(np.int64)
        self._offsets = runs["offsets"].astype(np.int64)
        self._unit_values = runs["values"].astype(np.int64)
        self._strides = np.array([block_bytes(BLOCK_VALUES, values)[1] for values in self._unit_values.tolist()], np.int64)
        blocks = -(-self._counts // BLOCK_VALUES)
        self._first_blocks = np.concatenate([[0], np.cumsum(blocks)[:-1]])
        self._admitted = np.zeros(int(blocks.sum()), bool)
        is_checked = file.has_checksums and verify != "never"
        units = int(runs["unit"][-1] + -(-self._counts[-1] // self._unit_values[-1])) if is_checked else 0
        self._verified = np.zeros(units, bool)
        self._present: Bytes | None = None

    def present(self, indices: Array) -> Array:
        if not self._tables.validity.size:
            return np.ones(indices.size, bool)
        if self._present is None:
            self._present = self._file.presence(self._spec.id, self._tables, self._verify != "never")
        return (self._present[indices >> 3] >> (indices & 7).astype(np.uint8) & 1).astype(bool)

    def _checked(self, indices: Array) -> tuple[Array, Array]:
        runs = self._firsts.searchsorted(indices, "right") - 1
        self._admit(runs, indices)
        if self._verified.size:
            self._check_units(runs, indices)
        starts, ends = self._places(runs, indices)
        entries = np.zeros(indices.size, ENTRY)
        entries["offset"] = starts
        entries["chunk"] = self._runs["chunk"][runs]
        entries["length"] = ends - starts
        return entries, self.present(indices)

    def _places(self, runs: Array, indices: Array) -> tuple[Array, Array]:
        """Returns the first byte of each value, and the byte after the last; the blocks were admitted."""
        within = indices - self._firsts[runs]
        ordinals = within % BLOCK_VALUES
        at = (self._offsets[runs] + within // BLOCK_VALUES * self._strides[runs]) // 4
        bases = self._words[at].astype(np.int64) + (self._words[at + 1].astype(np.int64) << 32)
        ends = bases + self._words[at + 2 + ordinals]
        before = np.where(ordinals == 0, bases, bases + self._words[at + 1 + ordinals])
        return self._starts(before, ends), ends

    def _starts(self, before: Array, ends: Array) -> Array:
        """Returns where values begin, by the end of the value before each and by their own."""
        masks = np.where(ends - before >= self._most, self._most, self._least) - 1
        starts: Array = (before + masks) & ~masks
        return starts

    def _admit(self, runs: Array, indices: Array) -> None:
        """Checks the blocks of values, each once: no end may lead out of the run."""
        numbers = (indices - self._firsts[runs]) // BLOCK_VALUES
        todo = ~self._admitted[self._first_blocks[runs] + numbers]
        for run, number in sorted(set(zip(runs[todo].tolist(), numbers[todo].tolist()))):
            self._admit_block(run, number)

    def _admit_block(self, run: int, number: int) -> None:
        values = min(BLOCK_VALUES, int(self._counts[run]) - number * BLOCK_VALUES)
        at = int(self._offsets[run] + number * self._strides[run])
        size, _ = block_bytes(values, int(self._unit_values[run]))
        block = self._content[at : at + size]
        ordinal = int(self._first_blocks[run]) + number
        if self._verify != "never":
            stored = int(self._words[(at + size) // 4])
            if crc32c(block) ^ self._binding.of(Kind.OFFSETS, ordinal) != stored:
                raise damaged(self._path, f"the places of values of field {self._spec.id}")
        base = int.from_bytes(block[:8].tobytes(), "little")
        offset, length = int(self._runs["offset"][run]), int(self._runs["bytes"][run])
        if not offset <= base <= offset + length:
            raise self._not_within(run, number)
        ends = base + block[8 : 8 + 4 * values].view("<u4").astype(np.int64)
        before = np.concatenate([[base], ends[:-1]])
        lengths = ends - self._starts(before, ends)
        if (ends < before).any() or (lengths < 0).any() or (lengths > _MAX_LENGTH).any() or ends[-1] > offset + length:
            raise self._not_within(run, number)
        slots = int(self._firsts[run]) + number * BLOCK_VALUES + np.arange(values)
        contradicting = np.flatnonzero((lengths > 0) & ~self.present(slots))
        if contradicting.size:
            slot = int(slots[contradicting[0]])
            raise corrupt(self._path, f"the value of field '{self._spec.name}' in slot {slot} has bytes, but its presence bit is 0")
        self._admitted[ordinal] = True

    def _not_within(self, run: int, number: int) -> Exception:
        first = int(self._firsts[run]) + number * BLOCK_VALUES
        what = f"values of field '{self._spec.name}' from record {first} of the shard on are not within their run"
        error: Exception = corrupt(self._path, what)
        return error

    def _check_units(self, runs: Array, indices: Array) -> None:
        values = self._unit_values[runs]
        within = indices - self._firsts[runs]
        units = self._runs["unit"][runs].astype(np.int64) + within // values
        if self._verify == "first":
            todo = np.flatnonzero(~self._verified[units])
            if not todo.size:
                return
            units, runs, within, values = units[todo], runs[todo], within[todo], values[todo]
        units, kept = np.unique(units, return_index=True)
        runs, values = runs[kept], values[kept]
        lows = within[kept] // values * values
        slots = self._firsts[runs] + lows
        begins, ends = self._extents(runs, lows)
        chunks = self._runs["chunk"][runs].tolist()
        pieces = [self._file.chunk(chunk)[begin:end] for chunk, begin, end in zip(chunks, begins.tolist(), ends.tolist())]
        found = crc32c_each(pieces) ^ self._binding.of_each(Kind.VALUE, slots)
        wrong = np.flatnonzero(found != self._stored_checksums(runs, lows))
        if wrong.size:
            raise damaged(self._path.parent, f"values of {self._spec.name!r} from record {int(slots[wrong[0]])} of the shard on")
        self._verified[units] = True

    def _extents(self, runs: Array, lows: Array) -> tuple[Array, Array]:
        """Returns the first byte of each unit, and the byte after the last, by the first value of the unit in its run."""
        highs = np.minimum(lows + self._unit_values[runs], self._counts[runs]) - 1
        first, last = self._places(runs, self._firsts[runs] + lows), self._places(runs, self._firsts[runs] + highs)
        return first[0], last[1]

    def wanted(self, indices: Array) -> list[Wanted]:
        runs = self._firsts.searchsorted(indices, "right") - 1
        self._admit(runs, indices)
        if self._verified.size:
            values = self._unit_values[runs]
            begins, ends = self._extents(runs, (indices - self._firsts[runs]) // values * values)
        else:
            begins, ends = self._places(runs, indices)
        return in_chunks(self._file.chunk, self._runs["chunk"][runs], begins, ends)

    def _stored_checksums(self, runs: Array, lows: Array) -> Array:
        blocks = lows // BLOCK_VALUES
        counts = np.minimum(BLOCK_VALUES, self._counts[runs] - blocks * BLOCK_VALUES)
        at = self._offsets[runs] + blocks * self._strides[runs] + 8 + 4 * counts
        checksums: Array = self._words[at // 4 + lows % BLOCK_VALUES // self._unit_values[runs]]
        return checksums
