"""A patch: what was deleted and changed in a shard since its tables were written (FORMAT.md section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np

from zrecord._binding import Binding, Kind
from zrecord._columns import Column
from zrecord._crc32c import Bytes, crc32c
from zrecord._entries import EntriesColumn
from zrecord._fetched import Content, Wanted
from zrecord._files import read_bytes
from zrecord._location import Location
from zrecord._promotion import PromotedColumn, is_promotion
from zrecord._schema import FieldSpec, read_field, read_unreadable
from zrecord._sealed import JsonObject, corrupt
from zrecord._tables import (
    HEADER_BYTES,
    TRAILER_BYTES,
    EntryTable,
    SealedShard,
    Section,
    check_header,
    entry_bytes,
    read_chunks,
)
from zrecord.errors import CorruptDataError

Array = np.ndarray[Any, Any]
_MAX_BYTES = 4 << 20
_LISTED = 4096
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class PatchRef:
    """What a manifest says of a patch. ``slots`` is the number of values that each field has in the tables."""

    uuid: UUID
    size: int
    json_at: int
    json_size: int
    seal: str
    slots: int


def read_patch(json: JsonObject, length: int) -> PatchRef | None:
    """Reads the members ``slots`` and ``patch`` of a shard in a manifest."""
    if ("slots" in json.members) != ("patch" in json.members):
        raise json.corrupt("a shard has one of the members 'slots' and 'patch' only")
    if "patch" not in json.members:
        return None
    element = json.mixed_one("patch", (5,))
    at, size = element.integer(2, HEADER_BYTES, _MAX_BYTES), element.integer(3, 1, _MAX_BYTES)
    end = at + size + TRAILER_BYTES
    if end > _MAX_BYTES:
        raise json.corrupt(f"a patch has more than {_MAX_BYTES} bytes")
    seal = element.matching(4, "[0-9a-f]{8}")
    return PatchRef(element.uuid(0), element.integer(1, end, end), at, size, seal, json.integer("slots", length))


class PatchFile:
    """A patch, which is read whole. ``ends`` has the published end of each chunk that its entries use, by its ordinal."""

    def __init__(self, shard: SealedShard, ref: PatchRef) -> None:
        self.path: Location = shard.directory / f"{ref.uuid}.patch"
        self.uuid = ref.uuid
        self.size = ref.size
        self._shard = shard
        self._end = ref.json_at
        self._slots = ref.slots
        content = read_bytes(self.path, _MAX_BYTES)
        if len(content) != ref.size:
            raise corrupt(self.path, f"it has {len(content)} bytes, but the manifest says {ref.size}")
        check_header(self.path, content[:HEADER_BYTES], b"ZRECPTCH", shard.uuid, ref.uuid)
        self._content: Bytes = np.frombuffer(content, np.uint8)
        json = JsonObject.parse(self.path, content[ref.json_at : ref.json_at + ref.json_size])
        found = (json.string("crc32c"), json.uuid("shard"), json.uuid("file"), json.integer("slots", 1))
        if found != (ref.seal, shard.uuid, ref.uuid, ref.slots):
            raise json.corrupt(f"it is not the file that the manifest names: {found}")
        self._chunks = read_chunks(json)
        if not set(self._chunks) <= set(shard.chunks):
            raise json.corrupt("it uses a chunk that the manifest does not name")
        self.ends = dict(enumerate(chunk.size for chunk in self._chunks))
        self._fields = {member.integer("id", 1, 2**31 - 1): member for member in json.objects("fields")}
        if len(self._fields) != len(json.objects("fields")):
            raise json.corrupt("a field is there twice")
        self.deleted = self._read_slots(json, "deleted", 0, Kind.DELETED) if "deleted" in json.members else _NONE
        if self.deleted.size != ref.slots - shard.length:
            raise json.corrupt(f"it deletes {self.deleted.size} of {ref.slots} records, but {shard.length} are left")

    def chunk(self, ordinal: int) -> Content:
        """Returns all published bytes of a chunk."""
        return self._shard.map(self._chunks[ordinal])

    def changed(self, spec: FieldSpec, verify: str) -> tuple[Array, Column] | None:
        """Returns the slots with changed values of a field, and these values; ``None`` if there are none."""
        member = self._fields.get(spec.id)
        if member is None:
            return None
        json = JsonObject(self.path, {**member.members, "name": f"field {spec.id}"})
        unknown = read_unreadable(json)
        if unknown is not None:
            raise unknown.error(self.path)
        stored = read_field(json)
        if not is_promotion(stored, spec):
            raise CorruptDataError(
                f"Cannot read {self.path}: field {spec.id} is {stored.dtype}{list(stored.shape)} here, but the dataset says "
                f"{spec.dtype}{list(spec.shape)}",
                self.path,
            )
        slots = self._read_slots(json, "slots", spec.id, Kind.CHANGED)
        element = json.mixed_one("entries", (2,))
        section = self._section(json, element.integer(0), element.integer(1, 1))
        if slots.size != json.integer("count", 1) or section.size != entry_bytes(slots.size):
            raise json.corrupt(f"field {spec.id} has {slots.size} changed slots, and {section.size} bytes of entries")
        table = EntryTable(_Values(self, slots.size), spec.id, section, verify != "never")
        is_same = stored.element_bytes == spec.element_bytes
        named = replace(spec, codec=stored.codec) if is_same else replace(stored, name=spec.name)
        column = EntriesColumn(self.path, self, named, verify, table.entries(), table.checksums())
        return slots, column if is_same else PromotedColumn(column, stored, spec)

    def bytes_of(self, section: Section) -> Bytes:
        return self._content[section.at : section.at + section.size]

    def _section(self, json: JsonObject, at: int, size: int) -> Section:
        if at % 64 or at < HEADER_BYTES or at + size > self._end:
            raise json.corrupt(f"a section of {size} bytes at {at} is not within the file")
        return Section(at, size)

    def _read_slots(self, json: JsonObject, name: str, field: int, kind: Kind) -> Array:
        element = json.mixed_one(name, (3,))
        content = self.bytes_of(self._section(json, element.integer(0), element.integer(1, 1)))
        if crc32c(content) ^ Binding(self.uuid, field).of(kind, 0) != int(element.matching(2, "[0-9a-f]{8}"), 16):
            raise corrupt(self.path, f"the slots '{name}' of field {field} fail their checksum")
        slots = _decoded(content.tobytes())
        if slots is None or slots[-1] >= self._slots:
            raise corrupt(self.path, f"the slots '{name}' of field {field} are not a set of slots of the shard")
        return slots


@dataclass(frozen=True)
class _Values:
    """The changed values of one field, as a file of entries."""

    patch: PatchFile
    length: int

    @property
    def path(self) -> Location:
        return self.patch.path

    @property
    def uuid(self) -> UUID:
        return self.patch.uuid

    def bytes_of(self, section: Section) -> Bytes:
        return self.patch.bytes_of(section)


class PatchedColumn:
    """The values of a field in a shard with a patch. Indices are those of the records that are left."""

    def __init__(self, base: Column, deleted: Array, changed: tuple[Array, Column] | None, width: int) -> None:
        self._base = base
        self._live_before = deleted - np.arange(deleted.size)
        self._changed = changed
        self._width = width

    def present(self, indices: Array) -> Array:
        slots = self._slots(indices)
        if self._changed is None:
            return self._base.present(slots)
        ranks, is_changed = self._ranks(slots)
        found = np.zeros(indices.size, bool)
        found[~is_changed] = self._base.present(slots[~is_changed])
        found[is_changed] = self._changed[1].present(ranks[is_changed])
        return found

    def fixed(self, indices: Array) -> Bytes:
        slots = self._slots(indices)
        if self._changed is None:
            return self._base.fixed(slots)
        ranks, is_changed = self._ranks(slots)
        rows = np.zeros((indices.size, self._width), np.uint8)
        for which, column, places in ((~is_changed, self._base, slots), (is_changed, self._changed[1], ranks)):
            if which.any():
                rows[which] = column.fixed(places[which]).reshape(-1, self._width)
        return rows.reshape(-1)

    def values(self, indices: Array) -> list[bytes | Bytes | None]:
        slots = self._slots(indices)
        if self._changed is None:
            return self._base.values(slots)
        ranks, is_changed = self._ranks(slots)
        values: list[bytes | Bytes | None] = [None] * indices.size
        for which, column, places in ((~is_changed, self._base, slots), (is_changed, self._changed[1], ranks)):
            if which.any():
                for i, value in zip(np.flatnonzero(which).tolist(), column.values(places[which])):
                    values[i] = value
        return values

    def wanted(self, indices: Array) -> list[Wanted]:
        slots = self._slots(indices)
        if self._changed is None:
            return self._base.wanted(slots)
        ranks, is_changed = self._ranks(slots)
        return self._base.wanted(slots[~is_changed]) + self._changed[1].wanted(ranks[is_changed])

    def _slots(self, indices: Array) -> Array:
        slots: Array = indices + self._live_before.searchsorted(indices, "right")
        return slots

    def _ranks(self, slots: Array) -> tuple[Array, Array]:
        """Returns the rank of each slot among the changed ones, and which slots were changed."""
        changed = self._changed[0] if self._changed is not None else _NONE
        ranks = np.minimum(changed.searchsorted(slots), changed.size - 1)
        return ranks, changed[ranks] == slots


def _decoded(content: bytes) -> Array | None:
    """Returns the slots of a ranked bitmap in rising order; ``None`` unless these are the bytes of one."""
    if len(content) < 8 or content[4:8] != bytes(4):
        return None
    count = int.from_bytes(content[:4], "little")
    if not 0 < count <= (len(content) - 8) // 8:
        return None
    directory = np.frombuffer(content, "<u4", 2 * count, 8).astype(np.int64).reshape(-1, 2)
    at = 8 + 8 * count
    pieces = []
    for key, size in directory.tolist():
        if not 0 < size <= 1 << 16 or key >= 1 << 31:
            return None
        length = (2 * size + 7) // 8 * 8 if size <= _LISTED else 8192
        piece = content[at : at + length]
        if len(piece) < length:
            return None
        if size <= _LISTED:
            lows = np.frombuffer(piece, "<u2", size).astype(np.int64)
            if any(piece[2 * size :]):
                return None
        else:
            lows = np.flatnonzero(np.unpackbits(np.frombuffer(piece, np.uint8), bitorder="little"))
            if lows.size != size:
                return None
        pieces.append(lows + (key << 16))
        at += length
    slots: Array = np.concatenate(pieces)
    return slots if at == len(content) and (np.diff(slots) > 0).all() else None
