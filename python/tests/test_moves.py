"""Records that were moved to another partition: what the engine's golden table says of them."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

import zrecord
from tests.conftest import GOLDEN
from zrecord._crc32c import crc32c

MOVES: dict[str, dict[str, Any]] = json.loads((GOLDEN / "v2-moved-moves.json").read_text(encoding="utf-8"))
SLOTS, PLACES = 14, 15  # kinds of bound checksums


def since_of(version: int) -> tuple[bytes, dict[str, Any]]:
    """The tables file of the last shard of a version, and its JSON."""
    manifest = json.loads((GOLDEN / "v2-moved" / "manifest" / f"{version:020}.json").read_bytes())
    shard = manifest["shards"][-1]
    file, _, at, size = shard["tables"][0][:4]
    content = (GOLDEN / "v2-moved" / "shard" / shard["uuid"] / f"{file}.tables").read_bytes()
    return content, json.loads(content[at : at + size])


def section(content: bytes, tables: dict[str, Any], name: str, kind: int) -> bytes:
    """The bytes of a section, whose checksum is compared."""
    at, size, checksum = tables["since"]["origins"][name]
    found = content[at : at + size]
    binding = UUID(tables["file"]).bytes + bytes(4) + kind.to_bytes(4, "little") + bytes(8)
    assert f"{crc32c(found) ^ crc32c(binding):08x}" == checksum
    return found


def listed(bitmap: bytes) -> list[int]:
    """The slots of a ranked bitmap of one container of few slots."""
    assert int.from_bytes(bitmap[:8], "little") == 1
    assert int.from_bytes(bitmap[8:12], "little") == 0
    count = int.from_bytes(bitmap[12:16], "little")
    return [int.from_bytes(bitmap[16 + 2 * i : 18 + 2 * i], "little") for i in range(count)]


@pytest.mark.parametrize("version", MOVES)
def test_a_new_shard_says_where_its_records_were(version: str) -> None:
    content, tables = since_of(int(version))
    assert tables["shard"] == MOVES[version]["shard"]
    assert tables["since"]["origins"]["shards"] == MOVES[version]["shards"]
    assert listed(section(content, tables, "slots", SLOTS)) == MOVES[version]["slots"]
    places = section(content, tables, "places", PLACES)
    assert len(places) == 16 * len(MOVES[version]["places"])
    for i, (slot, ordinal) in enumerate(MOVES[version]["places"]):
        place = places[16 * i : 16 * i + 16]
        assert place == slot.to_bytes(8, "little") + ordinal.to_bytes(4, "little") + bytes(4)


@pytest.mark.parametrize("version", MOVES)
def test_pairs_are_one_record(version: str) -> None:
    before = zrecord.open(GOLDEN / "v2-moved", version=int(version) - 1)
    after = zrecord.open(GOLDEN / "v2-moved", version=int(version))
    for then, now in MOVES[version]["pairs"]:
        assert before["number"][then] == after["number"][now]
        assert before["kind"][then] != after["kind"][now]
