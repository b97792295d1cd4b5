"""A sealed shard: its tables files and its chunks (FORMAT.md sections 3 to 6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from uuid import UUID

import numpy as np

from zrecord._binding import Binding, Kind
from zrecord._crc32c import Bytes, crc32c, crc32c_each
from zrecord._fetched import Content, FetchedBytes, fetch
from zrecord._files import map_bytes
from zrecord._fork_lock import ForkLock
from zrecord._location import Location
from zrecord._remote import RemotePath
from zrecord._schema import FieldSpec, read_field, read_unreadable
from zrecord._sealed import JsonObject, corrupt, require_plain, require_version, unsupported
from zrecord._shard import CHUNK_HEADER_BYTES, check_store_header
from zrecord.errors import CorruptDataError

Array = np.ndarray[Any, Any]
ENTRY = np.dtype([("offset", "<u8"), ("chunk", "<u4"), ("length", "<u4")])
RUN = np.dtype(
    [
        ("kind", "<u4"),
        ("chunk", "<u4"),
        ("first", "<u8"),
        ("count", "<u8"),
        ("offset", "<u8"),
        ("bytes", "<u8"),
        ("unit", "<u8"),
        ("offsets", "<u8"),
        ("values", "<u4"),
        ("zero", "<u4"),
    ]
)
FIXED, VARIABLE, BLOCKS, ENTRIES = 1, 2, 3, 4
BLOCK_VALUES = 1024
HEADER_BYTES = 64
TRAILER_BYTES = 16
_MAX_JSON_BYTES = 64 << 20
_WHOLE_BYTES = 4 << 20  # a remote tables file of at most these bytes is fetched whole
_GROUP_UNITS = 1024
_VALIDITY_BYTES = 4096
_ENTRY_SLOTS = 1024
_ENTRY_STRIDE = _ENTRY_SLOTS * 20 + 8


@dataclass(frozen=True)
class ChunkFile:
    """A chunk file of a shard.

    Of a chunk that a store wrote, ``number`` is its number in the store, and ``records`` counts what the store wrote to it.
    ``owner`` is the shard whose directory has the file, if that is not the shard that names the file.
    """

    uuid: UUID
    size: int
    number: int | None = None
    records: int | None = None
    owner: UUID | None = None

    @property
    def name(self) -> str:
        return f"{self.uuid}.zr"


@dataclass(frozen=True)
class TablesRef:
    """What a manifest says of a tables file."""

    uuid: UUID
    size: int
    json_at: int
    json_size: int
    seal: str
    fields: tuple[int, ...]


@dataclass(frozen=True)
class Section:
    """A part of a tables file; of length 0 if it is missing."""

    at: int
    size: int


@dataclass(frozen=True)
class FieldTables:
    """A field in a tables file."""

    spec: FieldSpec
    absent: int
    unit_bytes: int
    align: tuple[int, int]
    block_bytes: int
    runs: Section
    runs_crc: int
    units: Section
    validity: Section
    offsets: Section


def read_chunks(json: JsonObject) -> list[ChunkFile]:
    """Reads the member ``chunks`` of a tables file, or of a shard in a manifest."""
    chunks = []
    for element in json.mixed("chunks", (2, 3, 4)):
        uuid, size = element.uuid(0), element.integer(1, CHUNK_HEADER_BYTES)
        if element.size == 4:
            chunks.append(ChunkFile(uuid, size, element.integer(2, 0, 2**32 - 2), element.integer(3)))
        else:
            chunks.append(ChunkFile(uuid, size, owner=element.uuid(2) if element.size == 3 else None))
    if len({chunk.uuid for chunk in chunks}) != len(chunks):
        raise json.corrupt("a chunk is there twice")
    return chunks


class SealedShard:
    """A shard of a table. Its files are mapped when they are needed.

    ``slots`` is the number of values that each field has in the tables, those of deleted records included.
    """

    def __init__(
        self, directory: Location, uuid: UUID, length: int, slots: int, chunks: list[ChunkFile], tables: list[TablesRef]
    ) -> None:
        self.directory = directory
        self.uuid = uuid
        self.length = length
        self.slots = slots
        self.chunks = chunks
        self._refs = tables
        self._files: dict[UUID, TablesFile] = {}
        self._maps: dict[UUID, Content] = {}
        self._lock = ForkLock()

    def file_of(self, field: int) -> TablesFile | None:
        """Returns the tables file of a field; ``None`` if the shard does not have the field."""
        for ref in self._refs:
            if field in ref.fields:
                with self._lock.of_process():
                    if ref.uuid not in self._files:
                        self._files[ref.uuid] = TablesFile(self, ref)
                    return self._files[ref.uuid]
        return None

    @property
    def fetched_bytes(self) -> int:
        """The bytes of remote files that are in memory."""
        contents: list[Content] = [file.content for file in [*self._files.values()]]
        return sum(content.fetched_bytes for content in [*contents, *self._maps.values()] if isinstance(content, FetchedBytes))

    def map(self, chunk: ChunkFile) -> Content:
        """Returns all published bytes of a chunk."""
        mapped = self._maps.get(chunk.uuid)
        if mapped is None:
            path = (self.directory.parent / str(chunk.owner) if chunk.owner else self.directory) / chunk.name
            check = partial(self._check_header, chunk, path)
            if isinstance(path, RemotePath):
                mapped = FetchedBytes(path, chunk.size, check)
            else:
                mapped = map_bytes(path, chunk.size)
                check(mapped[:CHUNK_HEADER_BYTES].tobytes())
            # Another thread may have mapped it meanwhile; addresses are compared, so all must have the same map.
            mapped = self._maps.setdefault(chunk.uuid, mapped)
        return mapped

    def _check_header(self, chunk: ChunkFile, path: Location, header: bytes) -> None:
        if chunk.number is not None:
            check_store_header(path, header, chunk.number, self.uuid)
        else:
            check_header(path, header, b"ZRECCHNK", chunk.owner or self.uuid, chunk.uuid)


class TablesFile:
    """A tables file. ``ends`` has the published end of each chunk that the file uses, by the chunk's ordinal."""

    def __init__(self, shard: SealedShard, ref: TablesRef) -> None:
        self.path = shard.directory / f"{ref.uuid}.tables"
        self.uuid = shard.uuid
        self.length = shard.slots
        self._shard = shard
        self._end = ref.json_at
        self.content = self._open(ref)
        json = JsonObject.parse(self.path, self.content[ref.json_at : ref.json_at + ref.json_size].tobytes())
        self._check(json, ref)
        checksum = json.string("checksum")
        if checksum not in ("crc32c", "none"):
            raise unsupported(self.path, self.path, f"checksum {checksum[:40]}")
        self.has_checksums = checksum == "crc32c"
        self._chunks = read_chunks(json)
        # Chunks that only fields of other files needed may be gone; a field that needs one is damage.
        if len(ref.fields) == len(json.objects("fields")) and not set(self._chunks) <= set(shard.chunks):
            raise json.corrupt("it uses a chunk that the manifest does not name")
        named = set(shard.chunks)
        self.ends = {ordinal: chunk.size for ordinal, chunk in enumerate(self._chunks) if chunk in named}
        self._fields = {member.integer("id", 1, 2**31 - 1): member for member in json.objects("fields")}

    def _open(self, ref: TablesRef) -> Content:
        if isinstance(self.path, RemotePath):
            content = FetchedBytes(self.path, ref.size)
            if ref.size <= _WHOLE_BYTES:
                content.array(np.array([0]), np.array([ref.size]))
            return content
        mapped = map_bytes(self.path, ref.size)
        if self.path.stat().st_size != ref.size:
            raise corrupt(self.path, f"it has {self.path.stat().st_size} bytes, but the manifest says {ref.size}")
        return mapped

    def _check(self, json: JsonObject, ref: TablesRef) -> None:
        ids = [member.integer("id", 1, 2**31 - 1) for member in json.objects("fields")]
        found = (json.string("crc32c"), json.uuid("shard"), json.uuid("file"), json.integer("length", 1))
        if found != (ref.seal, self.uuid, ref.uuid, self.length) or not set(ref.fields) <= set(ids):
            raise json.corrupt(f"it is not the file that the manifest names: {found}, with the fields {sorted(ids)}")

    def chunk(self, ordinal: int) -> Content:
        """Returns all published bytes of a chunk."""
        return self._shard.map(self._chunks[ordinal])

    def mapped(self, ordinal: int) -> Bytes:
        """Returns all published bytes of a chunk of a local shard."""
        content = self.chunk(ordinal)
        if isinstance(content, FetchedBytes):
            raise TypeError(f"{content.path} is not mapped")
        return content

    def field(self, number: int) -> FieldTables:
        members = self._fields[number].members
        json = JsonObject(self.path, {**members, "name": f"field {number}"})
        unknown = read_unreadable(json)
        if unknown is not None:
            raise unknown.error(self.path)
        runs, crc = self._sealed_section(json)
        tables = FieldTables(
            spec=read_field(json),
            absent=json.integer("absent", 0, self.length),
            unit_bytes=json.integer("unitBytes", 4096, 65536) if "unitBytes" in json.members else 0,
            align=_alignment(json),
            block_bytes=json.integer("blockBytes", 4096, 1 << 24) if "blockBytes" in json.members else 0,
            runs=runs,
            runs_crc=crc,
            units=self._section(json, "units"),
            validity=self._section(json, "validity"),
            offsets=self._section(json, "offsets"),
        )
        if bool(tables.unit_bytes) != bool(tables.units.size) or tables.unit_bytes & (tables.unit_bytes - 1):
            raise json.corrupt(f"field {number} has units of {tables.unit_bytes} bytes")
        if isinstance(self.content, FetchedBytes):
            sections = np.array([(s.at, s.at + s.size) for s in (runs, tables.units, tables.validity, tables.offsets)])
            fetch([(self.content, sections[:, 0], sections[:, 1])])
        return tables

    def _section(self, json: JsonObject, name: str) -> Section:
        if name not in json.members:
            return Section(0, 0)
        element = json.mixed_one(name, (2,))
        return self._checked(json, element.integer(0), element.integer(1, 1))

    def _sealed_section(self, json: JsonObject) -> tuple[Section, int]:
        element = json.mixed_one("runs", (3,))
        return self._checked(json, element.integer(0), element.integer(1, 1)), int(element.matching(2, "[0-9a-f]{8}"), 16)

    def _checked(self, json: JsonObject, at: int, size: int) -> Section:
        if at % 64 or at < HEADER_BYTES or at + size > self._end:
            raise json.corrupt(f"a table of {size} bytes at {at} is not within the file")
        return Section(at, size)

    def bytes_of(self, section: Section) -> Bytes:
        return self.content[section.at : section.at + section.size]

    def runs(self, field: int, tables: FieldTables, width: int | None) -> Array:
        """Reads the runs of a field and checks each once, so that no later step has to."""
        content = self.bytes_of(tables.runs)
        binding = Binding(self.uuid, field)
        if content.size % RUN.itemsize or crc32c(content) ^ binding.of(Kind.RUNS, 0) != tables.runs_crc:
            raise corrupt(self.path, f"the runs of field {field} fail their checksum")
        runs: Array = content.view(RUN)
        kind = int(runs["kind"][0])
        if kind not in (FIXED, VARIABLE, BLOCKS, ENTRIES) or runs["zero"].any():
            raise unsupported(self.path, f"field {field} in {self.path}", f"runs of kind {kind}")
        if not self._are_sound(runs, kind, tables, width or 0):
            raise corrupt(self.path, f"the runs of field {field} are out of order or not within the chunks of the shard")
        return runs

    def _are_sound(self, runs: Array, kind: int, tables: FieldTables, width: int) -> bool:
        if (runs["kind"] != kind).any():
            return False
        if kind == VARIABLE:
            return self._are_variable(runs, tables)
        if runs["offsets"].any() or runs["values"].any():
            return False
        if kind == ENTRIES:
            one = (2**32 - 1, 0, self.length, 0, 0, 0)
            return (
                runs.size == 1
                and tuple(runs[["chunk", "first", "count", "offset", "bytes", "unit"]][0].item()) == one
                and tables.offsets.size == entry_bytes(self.length)
                and not tables.units.size
                and not tables.validity.size
            )
        if kind == BLOCKS:
            return self._are_blocks(runs, tables)
        first = unit = 0
        for _, chunk, run_first, count, offset, size, run_unit, *_ in runs.tolist():
            if (
                run_first != first
                or not 0 < count <= self.length - first
                or run_unit != unit
                or size != count * width
                or chunk not in self.ends
                or offset < CHUNK_HEADER_BYTES
                or offset % 8
                or offset + size > self.ends[chunk]
            ):
                return False
            first += count
            unit += -(-size // tables.unit_bytes) if tables.unit_bytes else 0
        return (
            width > 0
            and tables.spec.codec == "raw"
            and first == self.length
            and bool(tables.units.size) == self.has_checksums
            and tables.units.size == 4 * (unit + -(-unit // _GROUP_UNITS))
            and tables.validity.size == (validity_bytes(self.length) if tables.validity.size else 0)
            and (tables.validity.size > 0 or tables.absent == 0)
            and not tables.offsets.size
        )

    def _are_variable(self, runs: Array, tables: FieldTables) -> bool:
        first = unit = offsets = 0
        for _, chunk, run_first, count, offset, size, run_unit, run_offsets, values, _ in runs.tolist():
            if (
                run_first != first
                or not 0 < count <= self.length - first
                or (run_unit, run_offsets) != (unit, offsets)
                or chunk not in self.ends
                or offset < CHUNK_HEADER_BYTES
                or offset % 8
                or offset + size > self.ends[chunk]
                or (not (0 < values <= BLOCK_VALUES and values & (values - 1) == 0) if self.has_checksums else values != 0)
            ):
                return False
            first += count
            unit += -(-count // values) if values else 0
            whole, rest = divmod(count, BLOCK_VALUES)
            offsets += whole * block_bytes(BLOCK_VALUES, values)[1] + (block_bytes(rest, values)[1] if rest else 0)
        return (
            first == self.length
            and tables.offsets.size == offsets
            and not tables.units.size
            and tables.validity.size == (validity_bytes(self.length) if tables.validity.size else 0)
            and (tables.validity.size > 0 or tables.absent == 0)
        )

    def _are_blocks(self, runs: Array, tables: FieldTables) -> bool:
        """Checks the runs apart from their blocks."""
        first, block = 0, -1
        for _, chunk, run_first, count, offset, size, run_block, *_ in runs.tolist():
            if (
                run_first != first
                or not 0 < count <= self.length - first
                or run_block <= block
                or (run_block == 0) != (first == 0)
                or chunk not in self.ends
                or offset < CHUNK_HEADER_BYTES
                or offset % 8
                or offset + size > self.ends[chunk]
            ):
                return False
            first += count
            block = run_block
        return (
            tables.spec.width != 0
            and tables.spec.codec != "raw"
            and tables.block_bytes > 0
            and first == self.length
            and tables.offsets.size > 0
            and not tables.units.size
            and tables.validity.size == (validity_bytes(self.length) if tables.validity.size else 0)
            and (tables.validity.size > 0 or tables.absent == 0)
        )

    def unit_checksums(self, field: int, tables: FieldTables) -> Array:
        """Returns the checksums of the units of all runs, after a check of the checksums themselves."""
        return self.units_of(field, tables.units, 4 * _GROUP_UNITS, 4, Kind.CHECKSUMS).view("<u4")

    def presence(self, field: int, tables: FieldTables, verify: bool) -> Bytes:
        """Returns a bit for each value."""
        return self.units_of(field, tables.validity, _VALIDITY_BYTES, 8, Kind.VALIDITY, verify)

    def units_of(self, field: int, section: Section, unit: int, rest: int, kind: Kind, verify: bool = True) -> Bytes:
        """Returns the units of a section without their checksums, which follow each unit."""
        content = self.bytes_of(section)
        pieces = [content[at : min(at + unit, content.size - rest)] for at in range(0, content.size, unit + rest)]
        if verify:
            ends = [at + piece.size for at, piece in zip(range(0, content.size, unit + rest), pieces)]
            stored = np.array([int.from_bytes(content[end : end + 4].tobytes(), "little") for end in ends], np.uint32)
            if (crc32c_each(pieces) ^ Binding(self.uuid, field).of_each(kind, np.arange(len(pieces))) != stored).any():
                raise damaged(self.path, f"a table of field {field}")
        return np.concatenate(pieces) if pieces else np.zeros(0, np.uint8)


class EntryFile(Protocol):
    """A file with entries: the number of the entries, and who owns their units."""

    @property
    def path(self) -> Location: ...

    @property
    def uuid(self) -> UUID: ...

    @property
    def length(self) -> int: ...

    def bytes_of(self, section: Section) -> Bytes: ...


class EntryTable:
    """The entries of a field, or their checksums, looked up in the units of a file."""

    def __init__(self, file: EntryFile, field: int, section: Section, verify: bool) -> None:
        content = file.bytes_of(section)
        self.size = file.length
        self._file = file
        self._field = field
        self._binding = Binding(file.uuid, field)
        self._whole = content[: content.size // _ENTRY_STRIDE * _ENTRY_STRIDE].reshape(-1, _ENTRY_STRIDE)
        self._rest = content[self._whole.size :]
        self._slots = self.size % _ENTRY_SLOTS
        self._verified = np.zeros(-(-self.size // _ENTRY_SLOTS), bool)
        self._verified[:] = not verify

    def entries(self) -> Look:
        return Look(self, ENTRY, 0)

    def checksums(self) -> Look:
        return Look(self, np.dtype("<u4"), 1)

    def look(self, indices: Array, dtype: np.dtype[Any], part: int) -> Array:
        units, slots = indices // _ENTRY_SLOTS, indices % _ENTRY_SLOTS
        self._check(units)
        found: Array = np.empty(indices.shape, dtype)
        is_whole = units < self._whole.shape[0]
        if is_whole.any():
            shape, strides = (self._whole.shape[0], _ENTRY_SLOTS), (_ENTRY_STRIDE, dtype.itemsize)
            table: Array = np.ndarray(shape, dtype, self._whole, 16 * _ENTRY_SLOTS * part, strides)
            found[is_whole] = table[units[is_whole], slots[is_whole]]
        begin, end = (0, 16 * self._slots) if part == 0 else (16 * self._slots, 20 * self._slots)
        found[~is_whole] = self._rest[begin:end].view(dtype)[slots[~is_whole]]
        return found

    def _check(self, units: Array) -> None:
        todo = np.unique(units[~self._verified[units]])
        for unit in todo.tolist():
            is_whole = unit < self._whole.shape[0]
            content = self._whole[unit] if is_whole else self._rest
            size = 20 * (_ENTRY_SLOTS if is_whole else self._slots)
            stored = int.from_bytes(content[size : size + 4].tobytes(), "little")
            if crc32c(content[:size]) ^ self._binding.of(Kind.OFFSETS, unit) != stored:
                raise damaged(self._file.path, f"the entries of field {self._field}")
            self._verified[unit] = True


class Look:
    """A part of an entry table, indexed like an array."""

    def __init__(self, table: EntryTable, dtype: np.dtype[Any], part: int) -> None:
        self._table = table
        self._dtype = dtype
        self._part = part
        self.size = table.size

    def __getitem__(self, indices: Array) -> Array:
        return self._table.look(indices, self._dtype, self._part)


def entry_bytes(length: int) -> int:
    """Returns the bytes of the entries of a number of records."""
    whole, rest = divmod(length, _ENTRY_SLOTS)
    return whole * _ENTRY_STRIDE + ((rest * 20 + 4 + 7) // 8 * 8 if rest else 0)


def block_bytes(values: int, unit_values: int) -> tuple[int, int]:
    """Returns the bytes of a block of a variable run without its checksum, and with it and zeros."""
    size = 8 + 4 * values + (4 * -(-values // unit_values) if unit_values else 0)
    return size, (size + 4 + 7) // 8 * 8


def validity_bytes(length: int) -> int:
    """Returns the bytes of the presence bits of a number of records."""
    return 8 * -(-length // 64) + 8 * -(-length // (8 * _VALIDITY_BYTES))


def _alignment(json: JsonObject) -> tuple[int, int]:
    """Returns where the values of variable runs begin: the alignment of short values, and that of long ones."""
    if "align" not in json.members:
        return 1, 1
    element = json.mixed_one("align", (2,))
    least, most = element.integer(0, 1, 8), element.integer(1, 1, 1 << 20)
    if least & (least - 1) or most & (most - 1) or least > most:
        raise json.corrupt(f"member 'align' is [{least}, {most}], not two powers of two")
    return least, most


class FieldSets:
    """The sets of field ids that tables files have. A tables file names its set by its ordinal."""

    _MOST_COMPARED = 1 << 24

    def __init__(self, sets: list[tuple[int, ...]]) -> None:
        self._sets = sets
        self._disjoint: set[tuple[int, ...]] = set()
        self._compared = 0

    def __len__(self) -> int:
        return len(self._sets)

    def __getitem__(self, ordinal: int) -> tuple[int, ...]:
        return self._sets[ordinal]

    def are_disjoint(self, ordinals: tuple[int, ...]) -> bool:
        """Tells whether no field is in two of the sets, or in one of them twice. Files of any size take bounded time."""
        if len(ordinals) < 2 or ordinals in self._disjoint:
            return True
        self._compared += sum(len(self._sets[ordinal]) for ordinal in ordinals)
        if self._compared > self._MOST_COMPARED:
            return False
        named = [field for ordinal in ordinals for field in self._sets[ordinal]]
        if len(set(named)) != len(named):
            return False
        self._disjoint.add(ordinals)
        return True


def read_refs(json: JsonObject, field_sets: FieldSets) -> list[TablesRef]:
    """Reads the member ``tables`` of a shard in a manifest."""
    refs = []
    sets = []
    for element in json.mixed("tables", (6,)):
        sets.append(element.integer(5, 0, len(field_sets) - 1))
        at, size = element.integer(2, HEADER_BYTES), element.integer(3, 1, _MAX_JSON_BYTES)
        end = at + size + TRAILER_BYTES
        fields = field_sets[sets[-1]]
        refs.append(TablesRef(element.uuid(0), element.integer(1, end, end), at, size, element.matching(4, "[0-9a-f]{8}"), fields))
    if not field_sets.are_disjoint(tuple(sets)) or len({ref.uuid for ref in refs}) != len(refs):
        raise json.corrupt("a tables file or a field is there twice")
    return refs


def read_field_sets(json: JsonObject) -> FieldSets:
    """Reads the sets of field ids of a manifest or a list."""
    sets = [tuple(ids) for ids in json.tuples("fieldSets", 0, 2**31 - 1)]
    if any(list(ids) != sorted(set(ids)) or (ids and not 0 < ids[0] <= ids[-1] < 2**31) for ids in sets):
        raise json.corrupt("a set of fields is not in rising order")
    return FieldSets(sets)


def damaged(path: Location, what: str) -> CorruptDataError:
    """Returns the error for content that fails its checksum."""
    return CorruptDataError(
        f"Cannot read {path}: {what} fail their checksum; restore it from a copy; bin/zrecord verify names all damage",
        path,
    )


def check_header(path: Location, header: bytes, magic: bytes, shard: UUID, file: UUID) -> None:
    """Checks the header of a file of a shard."""
    if header[:8] != magic or crc32c(header[:60]) != int.from_bytes(header[60:], "little"):
        raise corrupt(path, "its header is damaged")
    require_version(path, int.from_bytes(header[8:12], "little"))
    require_plain(path, header, CHUNK_HEADER_BYTES, (48, 60))
    if header[16:48] != shard.bytes + file.bytes:
        raise corrupt(path, "it is a file of another shard")
