"""The layout ``runs``: values of one width in dense arrays (FORMAT.md section 5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from zrecord._binding import Binding, Kind
from zrecord._crc32c import Bytes, crc32c, crc32c_each
from zrecord._files import map_bytes
from zrecord._sealed import corrupt, require_version
from zrecord._shard import CHUNK_HEADER_BYTES, Shard, ShardField
from zrecord._span import Span, address
from zrecord.errors import CorruptDataError

Array = np.ndarray[Any, Any]
_MAGIC = b"ZRECRUNS"
_HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header", "<u4"),
        ("records", "<u8"),
        ("width", "<u4"),
        ("runs", "<u4"),
        ("block", "<u4"),
        ("flags", "<u4"),
        ("blocks", "<u8"),
        ("valid_blocks", "<u8"),
        ("zero", "<u8"),
    ]
)
_RUN = np.dtype([("first", "<u8"), ("count", "<u8"), ("offset", "<u8"), ("chunk", "<u4"), ("width", "<u4"), ("block", "<u8")])
_BLOCK_BYTES = 65536


class RunsColumn:
    """The runs of a field in a shard."""

    def __init__(self, shard: Shard, field: ShardField, verify: str) -> None:
        self._name = field.spec.name
        self._path = shard.directory / f"{field.stem}.runs"
        self.width = field.spec.width or 0
        self._length = shard.meta.length
        self._verify = verify
        self._binding = Binding(shard.meta.uuid, field.spec.id)
        self._read(shard, field)

    def _read(self, shard: Shard, field: ShardField) -> None:
        content = map_bytes(self._path, self._path.stat().st_size if self._path.is_file() else _HEADER.itemsize)
        if content.size < _HEADER.itemsize + 4 or content[:8].tobytes() != _MAGIC:
            raise corrupt(self._path, "it is not a file of runs")
        if crc32c(content[:-4]) ^ self._binding.of(Kind.RUNS, 0) != int.from_bytes(content[-4:].tobytes(), "little"):
            raise corrupt(self._path, "its checksum does not hold")
        header = {name: content[: _HEADER.itemsize].view(_HEADER)[name][0].item() for name in _HEADER.names or ()}
        require_version(self._path, header["version"])
        has_checksums, has_validity = bool(header["flags"] & 1), bool(header["flags"] & 2)
        valid_bytes = (self._length + 7) // 8
        expected = {
            "header": _HEADER.itemsize,
            "records": self._length,
            "width": self.width,
            "block": _BLOCK_BYTES,
            "valid_blocks": _blocks(valid_bytes) if has_checksums and has_validity else 0,
        }
        if any(header[name] != value for name, value in expected.items()) or has_checksums != shard.meta.has_checksums:
            raise corrupt(self._path, f"its header {header} contradicts the shard, which has {expected}")
        if field.absent and not has_validity:
            raise corrupt(self._path, f"it says that no value is absent, but the shard has {field.absent}")
        at = _HEADER.itemsize + _RUN.itemsize * header["runs"]
        if at + 4 * (header["blocks"] + header["valid_blocks"]) + 4 != content.size:
            raise corrupt(self._path, f"its header {header} contradicts its length of {content.size} bytes")
        self._checksums = content[at:-4].view("<u4")[: header["blocks"]]
        self._valid_checksums = content[at:-4].view("<u4")[header["blocks"] :]
        self._verified = np.zeros(header["blocks"], bool)
        self.is_settled = self._verify == "never" or not has_checksums
        self._find_runs(shard, content[_HEADER.itemsize : at].view(_RUN), has_checksums)
        self._valid_path = shard.directory / f"{field.stem}.valid"
        self._valid: Bytes | None = None
        self.is_full = not has_validity  # no value is absent
        self._valid_bytes = valid_bytes

    def _find_runs(self, shard: Shard, table: Array, has_checksums: bool) -> None:
        """Checks every run once, so that no later step has to."""
        ends = shard.meta.chunks
        first = block = 0
        self.runs: list[Bytes] = []
        self._blocks = np.zeros(table.size, np.int64)
        for i, run in enumerate(table.tolist()):
            run_first, count, offset, chunk, width, run_block = run
            if (
                run_first != first
                or not 0 < count <= self._length - first
                or width != self.width
                or offset < CHUNK_HEADER_BYTES
                or offset % 8
                or chunk not in ends
                or offset > ends[chunk]
                or count * width > ends[chunk] - offset
                or run_block != block
            ):
                raise corrupt(self._path, f"run {i} is out of order or not within a chunk of the shard: {run}")
            self.runs.append(shard.chunk(chunk)[offset : offset + count * width])
            self._blocks[i] = block
            first += count
            block += _blocks(count * width) if has_checksums else 0
        if first != self._length or block != self._checksums.size:
            raise corrupt(
                self._path,
                f"it covers {first} of {self._length} records, and {block} blocks by {self._checksums.size} checksums",
            )
        self.maps = [shard.chunk(chunk) for chunk in np.unique(table["chunk"]).tolist()]
        self.firsts = table["first"].astype(np.int64)
        self.addresses = np.array([address(run) for run in self.runs], np.int64)

    def check(self, indices: Array) -> None:
        """Compares the checksums of the blocks of these values that still have to be compared."""
        if self.is_settled:
            return
        runs = self.firsts.searchsorted(indices, "right") - 1
        places = (indices - self.firsts[runs]) * self.width
        low = self._blocks[runs] + places // _BLOCK_BYTES
        high = self._blocks[runs] + (places + self.width - 1) // _BLOCK_BYTES
        most = int((high - low).max(initial=0)) + 1
        self._check_blocks(np.unique(np.minimum(low[:, None] + np.arange(most), high[:, None])))

    def view(self, start: int, stop: int) -> Bytes | None:
        """Returns the bytes of values next to each other; ``None`` if they are in several runs."""
        run = int(self.firsts.searchsorted(start, "right")) - 1
        first = int(self.firsts[run])
        begin, end = (start - first) * self.width, (stop - first) * self.width
        if end > self.runs[run].size:
            return None
        if not self.is_settled:
            block = int(self._blocks[run])
            self._check_blocks(np.arange(block + begin // _BLOCK_BYTES, block + _blocks(end)))
        return self.runs[run][begin:end]

    def present(self, indices: Array) -> Array:
        if self.is_full:
            return np.ones(indices.size, bool)
        if self._valid is None:
            self._valid = self._read_validity()
        return (self._valid[indices >> 3] >> (indices & 7).astype(np.uint8) & 1).astype(bool)

    def fixed(self, indices: Array) -> Bytes:
        self.check(indices)
        if not indices.size:
            return np.zeros(0, np.uint8)
        span = Span(self.maps, self.width)
        runs = self.firsts.searchsorted(indices, "right") - 1
        places = self.addresses[runs] + (indices - self.firsts[runs]) * self.width - span.base
        return span.gather(places).view(np.uint8).reshape(-1)

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        self.check(indices)
        return [
            self.view(i, i + 1) if is_present else None for i, is_present in zip(indices.tolist(), self.present(indices).tolist())
        ]

    def _check_blocks(self, blocks: Array) -> None:
        if self._verify == "first":
            blocks = blocks[~self._verified[blocks]]
        if not blocks.size:
            return
        runs = self._blocks.searchsorted(blocks, "right") - 1
        begins = ((blocks - self._blocks[runs]) * _BLOCK_BYTES).tolist()
        pieces = [self.runs[r][at : at + _BLOCK_BYTES] for r, at in zip(runs.tolist(), begins)]
        wrong = np.flatnonzero(crc32c_each(pieces) ^ self._binding.of_each(Kind.BLOCK, blocks) != self._checksums[blocks])
        if wrong.size:
            at = begins[wrong[0]]
            record = int(self.firsts[runs[wrong[0]]]) + at // self.width
            raise _damaged(self._path.parent, f"values of field '{self._name}' from record {record} of the shard on")
        if self._verify == "first":
            self._verified[blocks] = True
            self.is_settled = bool(self._verified.all())

    def _read_validity(self) -> Bytes:
        valid = map_bytes(self._valid_path, self._valid_bytes)
        if self._verify != "never" and self._valid_checksums.size:
            pieces = [valid[at : at + _BLOCK_BYTES] for at in range(0, valid.size, _BLOCK_BYTES)]
            found = crc32c_each(pieces) ^ self._binding.of_each(Kind.VALIDITY, np.arange(len(pieces)))
            if (found != self._valid_checksums).any():
                raise _damaged(self._valid_path, f"the bits of absent values of field '{self._name}'")
        return valid


def _blocks(length: int) -> int:
    return -(-length // _BLOCK_BYTES)


def _damaged(path: Path, what: str) -> CorruptDataError:
    return CorruptDataError(
        f"Cannot read {path}: {what} fail their checksum; restore it from a copy; bin/zrecord verify names all damage",
        path,
    )
