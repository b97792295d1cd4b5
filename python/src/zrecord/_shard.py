"""The meta file and the chunks of a store (FORMAT.md section 9)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zrecord._crc32c import Bytes, crc32c
from zrecord._files import map_carried
from zrecord._location import Location
from zrecord._schema import FieldSpec, read_field, read_unreadable
from zrecord._sealed import JsonObject, corrupt, require_plain, require_version, unsupported
from zrecord.errors import FormatError

META_FILE = "meta.json"
CHUNK_HEADER_BYTES = 64
_CHUNK_MAGIC = b"ZRECCHNK"
_MAX_CHUNK_ID = 2**32 - 2


@dataclass(frozen=True)
class StoreField:
    """A field of a store, and the stem of its files."""

    spec: FieldSpec
    stem: str


@dataclass(frozen=True)
class StoreMeta:
    """The content of ``meta.json``. ``chunks`` has the published end of each chunk by its id, in rising order."""

    path: Location
    uuid: uuid.UUID
    length: int
    chunks: dict[int, int]
    fields: list[StoreField]
    journal_sequence: int


class StoreChunks:
    """The chunks of a store, which are mapped when they are needed. ``ends`` has their published ends by their ids."""

    def __init__(self, directory: Path, store: uuid.UUID, ends: dict[int, int]) -> None:
        self.uuid = store
        self.ends = ends
        self._directory = directory
        self._chunks: dict[int, Bytes] = {}

    def chunk(self, number: int, carried: Sequence[tuple[int, bytes]] = ()) -> Bytes:
        """Returns all published bytes of a chunk that the meta file names.

        ``carried`` has positions and bytes that the journal of a store carries. The chunk lacks them after a loss of power.
        """
        mapped = self._chunks.get(number)
        if mapped is None:
            path = self._directory / "chunk" / f"{number}.zr"
            mapped = map_carried(path, self.ends[number], carried)
            check_store_header(path, mapped[:CHUNK_HEADER_BYTES].tobytes(), number, self.uuid)
            # Another thread may have mapped it meanwhile; addresses are compared, so all must have the same map.
            mapped = self._chunks.setdefault(number, mapped)
        return mapped


def read_meta(json: JsonObject) -> StoreMeta:
    """Returns the content of the meta file of a store."""
    if "journalSequence" not in json.members:
        raise FormatError(f"Cannot read {json.path}: it is not the meta file of a store", json.path)
    for member in json.objects("fields"):
        unknown = read_unreadable(member)
        if unknown is not None:
            raise unknown.error(json.path)
    fields = [
        StoreField(read_field(member), member.matching("stem", "[A-Za-z0-9_-]{1,64}"))
        for member in json.objects("fields")
        if member.matching("layout", "entries")
    ]
    for values in ([f.spec.id for f in fields], [f.spec.name for f in fields], [f.stem.lower() for f in fields]):
        if len(set(values)) != len(values):
            raise json.corrupt("an id, name or stem of a field appears twice")
    checksum = json.string("checksum")
    if checksum != "crc32c":
        raise unsupported(json.path, json.path, f"checksum {checksum[:40]}")
    return StoreMeta(
        path=json.path,
        uuid=json.uuid("uuid"),
        length=json.integer("length", 0, 2**63 // 16 - 1),
        chunks=_read_chunks(json),
        fields=fields,
        journal_sequence=json.integer("journalSequence"),
    )


def _read_chunks(json: JsonObject) -> dict[int, int]:
    chunks = json.object("chunks")
    closed = chunks.tuples("closed", 3)
    unfull = chunks.tuples("unfull", 3)
    if [chunk[0] for chunk in closed] != sorted({chunk[0] for chunk in closed}):
        raise json.corrupt("its chunks are not in rising order")
    ends = {chunk[0]: chunk[1] for chunk in closed + unfull}
    if len(ends) != len(closed) + len(unfull):
        raise json.corrupt("a chunk is named twice")
    if any(number > _MAX_CHUNK_ID or end < CHUNK_HEADER_BYTES for number, end in ends.items()):
        raise json.corrupt(f"a chunk has an id beyond {_MAX_CHUNK_ID} or is shorter than its header")
    return dict(sorted(ends.items()))


def check_store_header(path: Location, header: bytes, number: int, store: uuid.UUID) -> None:
    """Checks the header of a chunk that a store wrote."""
    if header[:8] != _CHUNK_MAGIC or crc32c(header[:60]) != int.from_bytes(header[60:], "little"):
        raise corrupt(path, "its header is damaged")
    require_version(path, int.from_bytes(header[8:12], "little"))
    require_plain(path, header, CHUNK_HEADER_BYTES, (20, 24), (40, 60))
    if int.from_bytes(header[16:20], "little") != number or header[24:40] != store.bytes:
        raise corrupt(path, "it is a chunk of another store")
