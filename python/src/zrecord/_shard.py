"""One shard: its meta file and its chunks (FORMAT.md sections 3 and 6)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zrecord._crc32c import Bytes, crc32c
from zrecord._files import map_carried
from zrecord._schema import FieldSpec, read_field
from zrecord._sealed import JsonObject, corrupt, require_version
from zrecord.errors import FormatError

META_FILE = "meta.json"
CHUNK_HEADER_BYTES = 64
_CHUNK_MAGIC = b"ZRECCHNK"
_MAX_CHUNK_ID = 2**32 - 2


@dataclass(frozen=True)
class ShardField:
    """A field in a shard, and where its values are."""

    spec: FieldSpec
    stem: str
    layout: str
    absent: int


@dataclass(frozen=True)
class ShardMeta:
    """The content of ``meta.json``. ``chunks`` has the published end of each chunk by its id, in rising order."""

    path: Path
    checksum: str
    uuid: uuid.UUID
    length: int
    has_checksums: bool
    chunks: dict[int, int]
    fields: list[ShardField]
    journal_sequence: int | None


class Shard:
    """A shard whose chunks are mapped when they are needed."""

    def __init__(self, directory: Path, meta: ShardMeta) -> None:
        self.directory = directory
        self.meta = meta
        self._chunks: dict[int, Bytes] = {}

    def chunk(self, number: int, carried: Sequence[tuple[int, bytes]] = ()) -> Bytes:
        """Returns all published bytes of a chunk that the meta file names.

        ``carried`` has positions and bytes that the journal of a store carries. The chunk lacks them after a loss of power.
        """
        mapped = self._chunks.get(number)
        if mapped is None:
            path = self.directory / "chunk" / f"{number}.zr"
            mapped = map_carried(path, self.meta.chunks[number], carried)
            _check_header(path, mapped[:CHUNK_HEADER_BYTES].tobytes(), number, self.meta.uuid)
            # Another thread may have mapped it meanwhile; addresses are compared, so all must have the same map.
            mapped = self._chunks.setdefault(number, mapped)
        return mapped


def read_shard_meta(path: Path) -> ShardMeta:
    """Reads the meta file of a sealed shard."""
    meta = read_meta(JsonObject.read(path))
    if meta.journal_sequence is not None:
        raise FormatError(f"Cannot read {meta.path}: it is of a store that is written online, without its journal", meta.path)
    return meta


def read_meta(json: JsonObject) -> ShardMeta:
    """Returns the content of the meta file of a shard or of a store."""
    length = json.integer("length", 0, 2**63 // 16 - 1)
    is_store = "journalSequence" in json.members
    fields = [_read_shard_field(member, length) for member in json.objects("fields")]
    for values in ([f.spec.id for f in fields], [f.spec.name for f in fields], [f.stem.lower() for f in fields]):
        if len(set(values)) != len(values):
            raise json.corrupt("an id, name or stem of a field appears twice")
    if is_store and any(f.layout != "entries" for f in fields):
        raise json.corrupt("a field of a store has runs, which cannot be changed")
    return ShardMeta(
        path=json.path,
        checksum=json.string("crc32c"),
        uuid=json.uuid("uuid"),
        length=length,
        has_checksums=json.matching("checksum", "crc32c|none") == "crc32c",
        chunks=_read_chunks(json, is_store),
        fields=fields,
        journal_sequence=json.integer("journalSequence") if is_store else None,
    )


def _read_chunks(json: JsonObject, is_store: bool) -> dict[int, int]:
    chunks = json.object("chunks")
    closed = chunks.tuples("closed", 3 if is_store else 2, 3)
    unfull = chunks.tuples("unfull", 3)
    if unfull and not is_store:
        raise json.corrupt("it is of a sealed shard, but has chunks that are still being written")
    if [chunk[0] for chunk in closed] != sorted({chunk[0] for chunk in closed}):
        raise json.corrupt("its chunks are not in rising order")
    ends = {chunk[0]: chunk[1] for chunk in closed + unfull}
    if len(ends) != len(closed) + len(unfull) or chunks.integer("num") != len(ends):
        raise json.corrupt(f"it counts {chunks.integer('num')} chunks, but names {len(ends)}")
    if any(number > _MAX_CHUNK_ID or end < CHUNK_HEADER_BYTES for number, end in ends.items()):
        raise json.corrupt(f"a chunk has an id beyond {_MAX_CHUNK_ID} or is shorter than its header")
    return dict(sorted(ends.items()))


def _read_shard_field(json: JsonObject, length: int) -> ShardField:
    spec = read_field(json)
    layout = json.matching("layout", "entries|runs")
    if layout == "runs" and (spec.codec != "raw" or not spec.width):
        raise json.corrupt(f"field '{spec.name}' has runs, but its values have no common width or are compressed")
    return ShardField(spec, json.matching("stem", "[A-Za-z0-9_-]{1,64}"), layout, json.integer("absent", 0, length))


def _check_header(path: Path, header: bytes, number: int, shard: uuid.UUID) -> None:
    if header[:8] != _CHUNK_MAGIC or crc32c(header[:60]) != int.from_bytes(header[60:], "little"):
        raise corrupt(path, "its header is damaged")
    require_version(path, int.from_bytes(header[8:12], "little"))
    if int.from_bytes(header[12:16], "little") != CHUNK_HEADER_BYTES:
        raise corrupt(path, "its header has another length")
    if int.from_bytes(header[16:20], "little") != number or header[24:40] != shard.bytes:
        raise corrupt(path, "it is a chunk of another shard")
