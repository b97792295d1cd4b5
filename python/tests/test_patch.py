"""Patches of shards: damaged and hostile ones are refused, and changed values are found however they are asked for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from tests.tables import edit, sealed
from tests.values import exact
from zrecord._binding import Binding, Kind
from zrecord._crc32c import crc32c
from zrecord._patch import _decoded

SHARD = "00000001-0000-4000-8000-000000010000"
PATCH = "00000020-0000-4000-8000-000000200000"
NEWEST = 2


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table with two versions of a patch."""
    return Path(shutil.copytree(GOLDEN / "v2-patches", tmp_path / "table"))


def everything(path: Path, version: int | None = None) -> Any:
    """All values."""
    dataset = zrecord.open(path, version=version)
    return [(name, exact(dataset[name].validity()), exact(dataset[name][:])) for name in dataset.fields]


class PatchOnDisk:
    """The newest patch of a table. ``write`` makes its JSON, its trailer and the manifest fit."""

    def __init__(self, table: Path) -> None:
        self.table = table
        self.path = table / "shard" / SHARD / f"{PATCH}.patch"
        content = self.path.read_bytes()
        at = int.from_bytes(content[-16:-8], "little")
        self.content = bytearray(content[:at])
        self.json: dict[str, Any] = json.loads(content[at:-16])

    def seal_deleted(self) -> None:
        at, size, _ = self.json["deleted"]
        crc = crc32c(bytes(self.content[at : at + size])) ^ Binding(UUID(PATCH), 0).of(Kind.DELETED, 0)
        self.json["deleted"][2] = f"{crc:08x}"

    def seal_entries(self, field: dict[str, Any]) -> None:
        at, size = field["entries"][0], 20 * field["count"]
        crc = crc32c(bytes(self.content[at : at + size])) ^ Binding(UUID(PATCH), field["id"]).of(Kind.OFFSETS, 0)
        self.content[at + size : at + size + 4] = crc.to_bytes(4, "little")

    def write(self) -> None:
        content = sealed(self.json)
        trailer = len(self.content).to_bytes(8, "little") + len(content).to_bytes(4, "little")
        self.path.write_bytes(bytes(self.content) + content + trailer + crc32c(trailer).to_bytes(4, "little"))
        found = [PATCH, self.path.stat().st_size, len(self.content), len(content), content[-11:-3].decode()]
        manifest = self.table / "manifest" / f"{NEWEST:020}.json"
        edit(manifest, lambda members: members["shards"][0].update(patch=found))


def test_each_version_has_its_patch() -> None:
    lengths = [len(zrecord.open(GOLDEN / "v2-patches", version=version)) for version in range(3)]
    assert lengths == [80, 74, 71]
    first, newest = (zrecord.open(GOLDEN / "v2-patches", version=version) for version in (0, 2))
    kept = [slot for slot in range(40) if slot not in (0, 3, 17, 18, 19, 39)]
    changed = 0
    for name in first.fields:
        old, new = first[name], newest[name]
        for index, slot in enumerate(kept):
            changed += repr(old[slot]) != repr(new[index])
    assert changed > 100


def test_a_field_is_rewritten_over_a_patch() -> None:
    versions = [zrecord.open(GOLDEN / "v2-rewritten", version=version) for version in range(4)]
    assert [len(dataset) for dataset in versions] == [80, 76, 76, 74]
    changed, rewritten = versions[1:3]
    for name in ("number", "zipped"):
        assert exact(changed[name][:]) == exact(rewritten[name][:])
    for name in ("text", "blocks", "dense"):
        old, new = changed[name][:], rewritten[name][:]
        assert sum(repr(a) != repr(b) for a, b in zip(old, new)) > 40
    shards = json.loads((GOLDEN / "v2-rewritten" / "manifest" / f"{2:020}.json").read_bytes())["shards"]
    assert ["patch" in shard for shard in shards] == [True, False]


def test_no_flipped_bit_of_a_patch_is_handed_out(table: Path) -> None:
    expected = everything(table)
    path = table / "shard" / SHARD / f"{PATCH}.patch"
    content = path.read_bytes()
    random = budget.random()
    flips, refused = 0, 0
    while flips < budget.of(60) or refused <= 20:
        flips += 1
        assert flips < 6000, f"only {refused} flips were refused"
        at, bit = int(random.integers(len(content))), int(random.integers(8))
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :])
        try:
            assert everything(table) == expected, (at, bit)  # a byte between two sections
        except zrecord.ZrecordError:
            refused += 1
    for size in (0, 63, 64, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(zrecord.ZrecordError):
            everything(table)
    path.unlink()
    with pytest.raises(zrecord.ZrecordError):
        everything(table)


def test_resealing_alone_changes_nothing(table: Path) -> None:
    expected = everything(table)
    patch = PatchOnDisk(table)
    patch.seal_deleted()
    for field in patch.json["fields"]:
        patch.seal_entries(field)
    patch.write()
    assert everything(table) == expected


def test_another_deleted_slot_is_found(table: Path) -> None:
    expected = everything(table)
    patch = PatchOnDisk(table)
    at = patch.json["deleted"][0] + 16  # the first slot of the only container
    assert patch.content[at] == 0
    patch.content[at] = 1
    patch.write()
    with pytest.raises(zrecord.CorruptDataError, match="fail their checksum"):
        everything(table)
    patch.seal_deleted()
    patch.write()
    assert everything(table) != expected  # control: with the checksum made to hold, nothing finds it


def test_the_patch_before_is_not_taken_for_this_one(table: Path) -> None:
    before = json.loads((table / "manifest" / f"{1:020}.json").read_bytes())["shards"][0]["patch"]
    older = (table / "shard" / SHARD / f"{before[0]}.patch").read_bytes()
    (table / "shard" / SHARD / f"{PATCH}.patch").write_bytes(older)
    with pytest.raises(zrecord.ZrecordError):
        everything(table)
    assert len(everything(table, version=1)) > 0


def _set(member: str, value: Any) -> Callable[[PatchOnDisk], None]:
    return lambda patch: patch.json.__setitem__(member, value)


def _field(member: str, value: Any) -> Callable[[PatchOnDisk], None]:
    return lambda patch: patch.json["fields"][0].__setitem__(member, value)


def _deleted(at: int, value: int) -> Callable[[PatchOnDisk], None]:
    def change(patch: PatchOnDisk) -> None:
        start = patch.json["deleted"][0] + at
        patch.content[start : start + 4] = value.to_bytes(4, "little")
        patch.seal_deleted()

    return change


HOSTILE = {
    "slots": _set("slots", 41),
    "shard": _set("shard", PATCH),
    "file": _set("file", SHARD),
    "unknown chunk": _set("chunks", [[SHARD, 1 << 40]]),
    "no containers": _deleted(0, 0),
    "many containers": _deleted(0, 2**32 - 1),
    "many slots": _deleted(12, 2**16 + 1),
    "slots of a bitmap": _deleted(12, 5000),
    "key": _deleted(8, 2**31),
    "slot after the last": _deleted(16, 0xFFFF),
    "type": _field("dtype", "u64"),
    "count": _field("count", 2**40),
    "section": _field("entries", [64, 2**40]),
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_sealed_patches_are_not_trusted(table: Path, reason: str) -> None:
    patch = PatchOnDisk(table)
    HOSTILE[reason](patch)
    patch.write()
    with pytest.raises(zrecord.ZrecordError):
        everything(table)


def test_entries_outside_of_their_chunk_are_refused(table: Path) -> None:
    patch = PatchOnDisk(table)
    for field in patch.json["fields"]:
        at = field["entries"][0]
        for i in range(field["count"]):
            patch.content[at + 16 * i : at + 16 * i + 8] = (1 << 40).to_bytes(8, "little")
        patch.seal_entries(field)
    patch.write()
    for verify in ("first", "always", "never"):
        dataset = zrecord.open(table, verify=verify)
        name = next(name for name, field in dataset.fields.items() if field.id == patch.json["fields"][0]["id"])
        with pytest.raises(zrecord.CorruptDataError):
            dataset[name][:]


def test_bitmaps_are_checked_whole() -> None:
    one = (1).to_bytes(4, "little") + bytes(4) + (2).to_bytes(4, "little") + (2).to_bytes(4, "little")
    slots = _decoded(one + bytes([3, 0, 5, 0, 0, 0, 0, 0]))
    assert slots is not None
    assert slots.tolist() == [2 * 65536 + 3, 2 * 65536 + 5]
    for wrong in (
        one + bytes([5, 0, 3, 0, 0, 0, 0, 0]),
        one + bytes([3, 0, 3, 0, 0, 0, 0, 0]),
        one + bytes([3, 0, 5, 0, 0, 0, 0, 1]),
        one + bytes([3, 0, 5, 0, 0, 0, 0]),
        one + bytes([3, 0, 5, 0, 0, 0, 0, 0, 0]),
        one[:4] + bytes([1, 0, 0, 0]) + one[8:] + bytes([3, 0, 5, 0, 0, 0, 0, 0]),
    ):
        assert _decoded(wrong) is None
    many = (1).to_bytes(4, "little") + bytes(8) + (5000).to_bytes(4, "little")
    bits = np.zeros(65536, np.uint8)
    bits[1000:6000] = 1
    slots = _decoded(many + np.packbits(bits, bitorder="little").tobytes())
    assert slots is not None
    assert (slots == np.arange(1000, 6000)).all()
    bits[0] = 1
    assert _decoded(many + np.packbits(bits, bitorder="little").tobytes()) is None
