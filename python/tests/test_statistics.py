"""The statistics of golden tables hold, by the rules of FORMAT.md alone; readers need none of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import zrecord
from tests.conftest import GOLDEN
from tests.values import exact
from zrecord._binding import Binding, Kind
from zrecord._crc32c import crc32c

RECORD = 56


def files() -> list[Path]:
    return sorted(path for kind in ("tables", "patch") for path in GOLDEN.glob(f"v2*/**/*.{kind}"))


def sections(path: Path) -> Iterator[tuple[UUID, dict[str, Any], int, int, int]]:
    """Yields the owner of the checksums, the field, the slots, and the place of each section of statistics."""
    content = path.read_bytes()
    at = int.from_bytes(content[-16:-8], "little")
    members = json.loads(content[at:-16])
    owner = UUID(members["shard"] if "length" in members else members["file"])
    for field in members["fields"]:
        if "statistics" in field:
            yield owner, field, members.get("length", field.get("count")), *field["statistics"]


def problem(content: bytes, owner: UUID, field: dict[str, Any], slots: int, at: int, size: int) -> str | None:
    records = [content[i : i + RECORD] for i in range(at, at + size, RECORD)]
    for number, record in enumerate(records):
        if crc32c(record[:52]) ^ Binding(owner, field["id"]).of(Kind.STATISTICS, number) != int.from_bytes(record[52:], "little"):
            return f"checksum of record {number}"
    absent, nan = (sum(int.from_bytes(record[i : i + 8], "little") for record in records) for i in (0, 8))
    if absent != field["absent"] or nan > slots - absent:
        return "counts"
    if size % RECORD or (field.get("count") is None and len(records) != -(-slots // 65_536)):
        return "length"
    return "flags" if any(int.from_bytes(record[48:52], "little") not in (0, 1, 3) for record in records) else None


def test_each_record_holds() -> None:
    kinds = set()
    for path in files():
        content = path.read_bytes()
        for section in sections(path):
            assert problem(content, *section) is None, path
            kinds.add(path.suffix)
    assert kinds == {".tables", ".patch"}


def manifest(table: Path) -> Any:
    return json.loads((table / "manifest" / f"{0:020}.json").read_text(encoding="utf-8"))


def key(value: Any, dtype: str) -> bytes:
    if dtype in ("f32", "f64"):
        (bits,) = np.array([value], "<f8").view("<u8").tolist()
        return int(bits ^ (2**64 - 1) if bits >> 63 else bits ^ 1 << 63).to_bytes(8, "big") + bytes(8)
    if dtype == "utf8":
        return bytes(value.encode()[:16].ljust(16, b"\0"))
    if isinstance(value, np.datetime64):
        value = value.astype("<i8")
    unsigned = dtype[0] == "u" or dtype == "bool"
    return (int(value) + (0 if unsigned else 1 << 63)).to_bytes(8, "big") + bytes(8)


@pytest.mark.parametrize("name", ["v2-numbers", "v2-texts", "v2-patches"])
def test_bounds_are_those_of_values(name: str) -> None:
    dataset = zrecord.open(GOLDEN / name, version=0)
    path = min((GOLDEN / name / "shard").glob("*/*.tables"))
    ids = {field["id"]: field["name"] for field in manifest(GOLDEN / name)["fields"]}
    content = path.read_bytes()
    checked = set()
    for _, field, slots, at, _ in sections(path):
        column = dataset[ids[field["id"]]]
        present = [i for i in np.flatnonzero(column.validity()).tolist() if i < slots]
        values = [value for i in present for value in [column[i]] if value == value]
        keys = [key(value, field["dtype"]) for value in values]
        expected = [min(keys), max(keys)]
        if field["dtype"] in ("f32", "f64"):
            expected = [key(-0.0, "f64") if min(values) == 0 else expected[0], key(0.0, "f64") if max(values) == 0 else expected[1]]
        assert [content[at + 16 : at + 32], content[at + 32 : at + 48]] == expected, field
        checked.add(field["dtype"])
    assert checked


def test_damage_fails_the_check_and_is_not_seen_by_a_reader(tmp_path: Path) -> None:
    path = Path(shutil.copytree(GOLDEN / "v2-patches", tmp_path / "table"))

    def everything() -> Any:
        dataset = zrecord.open(path)
        return [(name, exact(dataset[name].validity()), exact(dataset[name][:])) for name in dataset.fields]

    before = everything()
    damaged = 0
    for file in sorted(path.glob("shard/*/*.*")):
        if file.suffix not in (".tables", ".patch"):
            continue
        content = bytearray(file.read_bytes())
        for owner, field, slots, at, size in list(sections(file)):
            for i in range(at, at + size, 5):
                content[i] ^= 1
                assert problem(bytes(content), owner, field, slots, at, size) is not None
                content[i] ^= 1
            content[at : at + size] = bytes(size)
            damaged += 1
        file.write_bytes(content)
    assert damaged > 2
    assert everything() == before
