"""What is damaged or hostile is refused, and never handed out."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from tests.tables import TablesOnDisk, edit, manifest_of, sealed
from tests.values import exact
from zrecord._binding import Kind
from zrecord._crc32c import crc32c
from zrecord._sealed import MAX_BYTES, JsonObject
from zrecord._tables import ENTRY

RAW = "11111111-1111-4111-8111-111111111111"
UNCHECKED = "33333333-3333-4333-8333-333333333333"
ENTRIES = "77777777-7777-4777-8777-777777777777"
NEWEST = 3  # of the golden table: two versions with records, a tag of version 0, and an expiry with the floor 1


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table whose newest version is found by a list of the directory."""
    copy = Path(shutil.copytree(GOLDEN / "v2" / "table", tmp_path / "table"))
    (copy / "manifest" / "latest").unlink()
    return copy


@pytest.fixture
def unchecked(tmp_path: Path) -> Path:
    """A table of one shard without checksums of values."""
    return Path(shutil.copytree(GOLDEN / "v2" / "unchecked", tmp_path / "unchecked"))


@pytest.fixture
def entries(tmp_path: Path) -> Path:
    """A table of one shard that a store left."""
    return Path(shutil.copytree(GOLDEN / "v2" / "entries", tmp_path / "entries"))


def id_of(table: Path, name: str) -> int:
    return zrecord.open(table).fields[name].id


def everything(path: Path, verify: str = "first") -> Any:
    """All values."""
    dataset = zrecord.open(path, verify=verify)
    return [(name, exact(dataset[name].validity()), exact(dataset[name][:])) for name in dataset.fields]


def files_of(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file())


def is_of_an_older_version(file: Path) -> bool:
    """Whether only readers of an older version need the file."""
    return file.parent.name == "tag" or (file.parent.name == "manifest" and file.stem != f"{NEWEST:020d}")


def flip_bits(table: Path, files: list[Path], rounds: int, least_refused: int, least_unverified: int) -> None:
    """Flips a bit of one file after the other: an error of this package, or the same values.

    Goes on until as many flips as asked for were refused, and until as many, as the control, gave other values without
    verification: chance may make that later than expected.
    """
    sound = everything(table)
    random = budget.random()
    refused = unverified = 0
    for round_ in range(100 * rounds):
        if round_ >= rounds and refused >= least_refused and unverified >= least_unverified:
            return
        file = files[round_ % len(files)]
        sound_content = file.read_bytes()
        content = bytearray(sound_content)
        bit = int(random.integers(8 * len(content)))
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        try:
            assert everything(table) == sound, (file, bit)
        except zrecord.ZrecordError as e:
            refused += 1
            assert e.resource is not None and str(e.resource) in str(e)
        if round_ < rounds or unverified < least_unverified:
            with contextlib.suppress(zrecord.ZrecordError):
                unverified += everything(table, verify="never") != sound
        file.write_bytes(sound_content)
    raise AssertionError(f"of {100 * rounds} flips, {refused} were refused, and {unverified} gave other values unverified")


def test_no_flipped_bit_is_handed_out(table: Path) -> None:
    """Any bit of any file. Without verification, other values come out."""
    files = [file for file in files_of(table) if not is_of_an_older_version(file) and file.stat().st_size]
    flip_bits(table, files, max(len(files), budget.of(80)), least_refused=31, least_unverified=6)


def test_no_flipped_bit_of_a_block_is_handed_out(tmp_path: Path) -> None:
    """Values that are compressed together. Without verification, other values come out."""
    table = Path(shutil.copytree(GOLDEN / "v2-blocks", tmp_path / "blocks"))
    files = [file for file in files_of(table) if file.suffix in (".zr", ".tables")]
    flip_bits(table, files, budget.of(40), least_refused=21, least_unverified=3)


def test_no_shorter_file_is_mapped(table: Path) -> None:
    sound = everything(table)
    for file in files_of(table):
        if is_of_an_older_version(file):
            continue
        content = file.read_bytes()
        for length in (0, len(content) - 1):
            if length < len(content):
                file.write_bytes(content[:length])
                with pytest.raises(zrecord.ZrecordError, match=f"{file.stem[:8]}"):
                    assert everything(table) == sound
        file.unlink()
        if file.parent.name != "manifest":  # without it, the version before is the newest
            with pytest.raises(zrecord.CorruptDataError, match="the file is missing"):
                assert everything(table) == sound
        file.write_bytes(content)


@pytest.mark.parametrize("sealed_again", [False, True])
def test_exchanged_values_are_found(entries: Path, sealed_again: bool) -> None:
    """Two entries with their checksums. As a control, checksums that are bound again make them wrong values."""
    sound = zrecord.open(entries)["bytes"][:4]
    field, tables = id_of(entries, "bytes"), TablesOnDisk(entries, ENTRIES)
    tables.exchange(tables.entry_at(field, 1), tables.entry_at(field, 3), 16)
    tables.exchange(tables.checksum_at(field, 1), tables.checksum_at(field, 3), 4)
    if sealed_again:
        tables.seal_entries(field)
    tables.write()
    reason = r"record {} of the shard in field 'bytes': it fails its checksum" if sealed_again else "the entries of field"
    for i in (1, 3):
        with pytest.raises(zrecord.CorruptDataError, match=reason.format(i)):
            zrecord.open(entries)["bytes"][i]
    for i in (1, 3):
        tables.bind_value(field, i, tables.crc_of_value(field, i))
    tables.seal_entries(field)
    tables.write()
    assert zrecord.open(entries)["bytes"][:4] == [sound[i] for i in (0, 3, 2, 1)] != sound


def test_exchanged_fields_are_found(table: Path) -> None:
    """The tables of two fields of one width and one number of absent values."""
    names = ("i32", "u32")
    sound = zrecord.open(table)
    wrong = [sound[name][2] for name in reversed(names)]
    tables = TablesOnDisk(table, RAW)
    one, two = (tables.field(id_of(table, name)) for name in names)
    assert one["absent"] == two["absent"]
    for name in ("runs", "units", "validity"):
        one[name], two[name] = two[name], one[name]
    tables.write()
    for name in names:
        with pytest.raises(zrecord.CorruptDataError, match="checksum"):
            zrecord.open(table)[name][2]
    for name in names:
        tables.seal_runs(id_of(table, name))
    tables.write()
    for name in names:  # the lists are sound now, and the checksums of units are still bound to the other field
        with pytest.raises(zrecord.CorruptDataError, match="checksum"):
            zrecord.open(table)[name][2]
    trusted = zrecord.open(table, verify="never")
    assert [int(trusted[name][2]) & 0xFFFFFFFF for name in names] == [int(value) & 0xFFFFFFFF for value in wrong]


def test_an_empty_value_is_not_taken_for_an_absent_one(entries: Path) -> None:
    values = zrecord.open(entries)["bytes"]
    empty = next(i for i in range(40) if values[i] == b"")
    field, tables = id_of(entries, "bytes"), TablesOnDisk(entries, ENTRIES)
    at = tables.entry_at(field, empty)
    tables.content[at : at + 16] = bytes(16)
    tables.seal_entries(field)
    tables.write()
    with pytest.raises(zrecord.CorruptDataError, match="it fails its checksum"):
        zrecord.open(entries)["bytes"][empty]
    tables.bind_value(field, empty, 0, Kind.ABSENT)
    tables.seal_entries(field)
    tables.write()
    assert zrecord.open(entries)["bytes"][empty] is None


def test_a_flipped_value_is_named(entries: Path) -> None:
    field, tables = id_of(entries, "bytes"), TablesOnDisk(entries, ENTRIES)
    at = tables.entry_at(field, 6)
    chunk = tables.chunk(int.from_bytes(tables.content[at + 8 : at + 12], "little"))
    content = bytearray(chunk.read_bytes())
    content[int.from_bytes(tables.content[at : at + 8], "little")] ^= 1
    chunk.write_bytes(content)
    with pytest.raises(zrecord.CorruptDataError, match=r"record 6 of the shard in field 'bytes': it fails its checksum"):
        zrecord.open(entries)["bytes"][6]
    assert zrecord.open(entries)["bytes"][7] is not None
    assert zrecord.open(entries, verify="never")["bytes"][6] is not None


def test_a_flipped_value_of_a_run_is_named_with_its_unit(table: Path) -> None:
    field, tables = id_of(table, "bytes"), TablesOnDisk(table, RAW)
    block = tables.block_of(field, 6)
    chunk = tables.chunk(block.chunk)
    content = bytearray(chunk.read_bytes())
    content[tables.start_of(field, 6)] ^= 1
    chunk.write_bytes(content)
    first = 6 // block.unit_values * block.unit_values
    with pytest.raises(zrecord.CorruptDataError, match=f"values of 'bytes' from record {first} of the shard on fail"):
        zrecord.open(table)["bytes"][6]
    assert zrecord.open(table)["bytes"][first + block.unit_values : 40]
    assert zrecord.open(table, verify="never")["bytes"][6] is not None


def test_an_end_that_leads_into_the_next_value_is_found(table: Path) -> None:
    """Within a unit no other checksum finds that, as the control with a checksum that holds shows."""
    sound = zrecord.open(table)["bytes"][:8]
    field, tables = id_of(table, "bytes"), TablesOnDisk(table, RAW)
    block = tables.block_of(field, 6)
    assert block.unit_values > 7
    tables.content[block.end_at(6)] ^= 1
    tables.write()
    with pytest.raises(zrecord.CorruptDataError, match="the places of values of field"):
        zrecord.open(table)["bytes"][7]
    tables.seal_blocks(field)
    tables.write()
    wrong = zrecord.open(table)["bytes"][:8]
    assert wrong[:6] == sound[:6]
    assert wrong[6] + wrong[7] == sound[6] + sound[7]
    assert wrong[6] != sound[6]


@pytest.mark.parametrize("sealed_again", [False, True])
def test_exchanged_units_are_found(table: Path, sealed_again: bool) -> None:
    field, tables = id_of(table, "bytes"), TablesOnDisk(table, RAW)
    block = tables.block_of(field, 0)
    tables.exchange(block.checksum_at(0), block.checksum_at(block.unit_values), 4)
    if sealed_again:
        tables.seal_blocks(field)
    tables.write()
    reason = "values of 'bytes' from record 0 of the shard on fail" if sealed_again else "the places of values of field"
    with pytest.raises(zrecord.CorruptDataError, match=reason):
        zrecord.open(table)["bytes"][0]


@pytest.mark.parametrize("end", [0, 2**31, 2**32 - 1, 1 << 20])
@pytest.mark.parametrize("verify", ["first", "always", "never"])
def test_ends_outside_of_their_run_are_refused(unchecked: Path, end: int, verify: str) -> None:
    field, tables = id_of(unchecked, "bytes"), TablesOnDisk(unchecked, UNCHECKED)
    at = tables.block_of(field, 9).end_at(9)
    tables.content[at : at + 4] = end.to_bytes(4, "little")
    tables.seal_blocks(field)
    tables.write()
    with pytest.raises(zrecord.CorruptDataError, match="values of field 'bytes' from record 0 of the shard on are not within"):
        zrecord.open(unchecked, verify=verify)["bytes"][2]


@pytest.mark.parametrize(
    ("place", "size", "value"),
    [
        (4, 4, 9),
        (8, 8, 1),
        (16, 8, 41),
        (24, 8, 68),
        (24, 8, 56),
        (32, 8, 1 << 40),
        (40, 8, 1),
        (48, 8, 8),
        (56, 4, 3),
        (56, 4, 2048),
    ],
)
def test_variable_runs_are_not_trusted(table: Path, place: int, size: int, value: int) -> None:
    field, tables = id_of(table, "bytes"), TablesOnDisk(table, RAW)
    at = tables.field(field)["runs"][0] + place
    tables.content[at : at + size] = value.to_bytes(size, "little")
    tables.seal_runs(field)
    tables.write()
    with pytest.raises(zrecord.CorruptDataError, match="out of order or not within the chunks"):
        zrecord.open(table)["bytes"][0]


def test_first_checks_once_and_always_checks_again(table: Path) -> None:
    once, always = zrecord.open(table), zrecord.open(table, verify="always")
    for dataset in (once, always):
        dataset["dense"][:40]
        dataset["bytes"][:40]
    for chunk in table.glob("shard/1*/*.zr"):
        with chunk.open("r+b") as file:  # the same file, as maps show it
            content = file.read()
            file.seek(64)
            file.write(bytes(b ^ 1 for b in content[64:]))
    for name in ("dense", "bytes"):
        once[name][:40]
        for key in (slice(0, 40), [1, 2, 3], 1):
            with pytest.raises(zrecord.CorruptDataError, match="checksum"):
                always[name][key]


def test_resealing_alone_changes_nothing(unchecked: Path) -> None:
    sound = everything(unchecked)
    TablesOnDisk(unchecked, UNCHECKED).edit(lambda m: m.update(unknown={"x": [1]}))
    assert everything(unchecked) == sound


HOSTILE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "it is not the file that the manifest names": lambda m: m.update(length=2**40),
    "member 'shard'": lambda m: m.update(shard="x"),
    "member 'file'": lambda m: m.update(file="../../x"),
    "shape": lambda m: m["fields"][0].update(shape=[2, -1]),
    "more than 2147483647 bytes": lambda m: m["fields"][0].update(shape=[2**31 - 1, 2]),
    "the manifest names: ": lambda m: m["fields"][1].update(id=1),
    "out of order or not within the chunks": lambda m: m["fields"][0].update(compress="flate"),
    "which the manifest does not name|a chunk that the manifest does not name": lambda m: m["chunks"][0].__setitem__(1, 100),
    "a chunk is there twice": lambda m: m["chunks"].append(m["chunks"][0]),
    "an integer from": lambda m: m.update(length=40.5),
    "levels": lambda m: m.update(deep=json.loads("[" * 40 + "]" * 40)),
    "is not within the file": lambda m: m["fields"][0]["runs"].__setitem__(0, 1 << 20),
    "table of .* at 68 is not": lambda m: m["fields"][0]["runs"].__setitem__(0, 68),
    "has units of 4096 bytes": lambda m: m["fields"][0].update(unitBytes=4096),
    "member 'align' is": lambda m: m["fields"][0].update(align=[2, 1]),
    "member 'absent' is 41": lambda m: m["fields"][0].update(absent=41),
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_sealed_tables_are_not_trusted(unchecked: Path, reason: str) -> None:
    tables = TablesOnDisk(unchecked, UNCHECKED)
    tables.edit(HOSTILE[reason])
    with pytest.raises(zrecord.CorruptDataError, match=reason) as error:
        zrecord.open(unchecked)["bool"][0]
    assert error.value.resource == str(tables.path)


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        (lambda f: f.update(dtype="u128"), "dtype u128"),
        (lambda f: f.update(dtype="decimal(09,2)"), "dtype decimal(09,2)"),
        (lambda f: f.update(compress="brotli"), "compress brotli"),
        (lambda f: f.update(features={"read": ["far"], "write": ["other"]}), "far"),
    ],
)
def test_an_unknown_feature_costs_its_field_only(unchecked: Path, change: Any, feature: str) -> None:
    tables = TablesOnDisk(unchecked, UNCHECKED)
    tables.edit(lambda m: change(m["fields"][0]))
    dataset = zrecord.open(unchecked)
    assert dataset["i8"][1] is not None
    with pytest.raises(zrecord.FormatError, match=re.escape(f"it uses the feature '{feature}'")):
        dataset["bool"][0]
    edit(manifest_of(unchecked, 0), lambda m: change(m["fields"][0]))
    dataset = zrecord.open(unchecked)
    assert "bool" not in dataset and "bool" not in dataset[0] and dataset["i8"][1] is not None
    message = re.escape(f"Cannot read field 'bool' of {unchecked}: it uses the feature '{feature}'")
    with pytest.raises(zrecord.FormatError, match=message):
        dataset["bool"]


def test_an_unknown_feature_of_the_shard_costs_the_shard(unchecked: Path) -> None:
    for change in (lambda m: m.update(features={"read": ["far"]}), lambda m: m.update(checksum="md5", features={})):
        TablesOnDisk(unchecked, UNCHECKED).edit(change)
        assert len(zrecord.open(unchecked)) == 40
        with pytest.raises(zrecord.FormatError, match="uses the feature"):
            zrecord.open(unchecked)["i8"][0]


def test_a_reader_ignores_what_only_writers_must_know(unchecked: Path) -> None:
    tables = TablesOnDisk(unchecked, UNCHECKED)
    tables.edit(lambda m: m.update(features={"write": ["far"]}, unknown=[1.5, None, {"x": 10**40}]))
    assert len(zrecord.open(unchecked)["i8"][:]) == 40


@pytest.mark.parametrize("features", [[], {"read": "far"}, {"read": ["Far"]}, {"write": [1]}, {"write": ["a"] * 65}])
def test_names_of_features_are_names(unchecked: Path, features: Any) -> None:
    TablesOnDisk(unchecked, UNCHECKED).edit(lambda m: m.update(features=features))
    with pytest.raises(zrecord.CorruptDataError, match=r"member '(features|read|write)'"):
        zrecord.open(unchecked)["i8"][0]


def test_longer_lengths_than_the_tables_are_refused(unchecked: Path) -> None:
    TablesOnDisk(unchecked, UNCHECKED).edit(lambda m: m.update(length=2**40))
    edit(manifest_of(unchecked, 0), lambda m: (m.update(length=2**40), m["shards"][0].update(length=2**40)))
    dataset = zrecord.open(unchecked)
    for name in dataset.fields:
        with pytest.raises(zrecord.CorruptDataError):
            dataset[name][0]


def test_entries_outside_of_their_chunk_are_refused(entries: Path) -> None:
    """The place in an entry is looked at before the checksum of what is there."""
    field, tables = id_of(entries, "bytes"), TablesOnDisk(entries, ENTRIES)
    at = tables.entry_at(field, 3)
    sound = np.frombuffer(bytes(tables.content[at : at + 16]), ENTRY)
    assert zrecord.open(entries)["bytes"][3] is not None
    for change in (
        {"offset": 2**63 + 64},
        {"offset": 2**64 - 8},
        {"offset": 56},
        {"offset": 68},
        {"chunk": 3},
        {"chunk": 2**32 - 1},
        {"length": 2**31},
        {"length": 2**31 - 1},
        {"offset": 1 << 20},
    ):
        entry = sound.copy()
        for name, value in change.items():
            entry[0][name] = value
        tables.content[at : at + 16] = entry.tobytes()
        tables.seal_entries(field)
        tables.write()
        with pytest.raises(zrecord.CorruptDataError, match=r"record 3 of the shard in field 'bytes': its entry .* not within"):
            zrecord.open(entries)["bytes"][:5]
        assert zrecord.open(entries)["bytes"][[2, 4]]


@pytest.mark.parametrize(
    ("version", "reason"),
    [(3, "format version 3 is newer than 2; upgrade zrecord"), (1, "format version 1 was never released; write the dataset again")],
)
def test_other_versions_of_the_format_are_refused(unchecked: Path, version: int, reason: str) -> None:
    tables = TablesOnDisk(unchecked, UNCHECKED)
    chunk = tables.chunk_of_run(id_of(unchecked, "dense"))
    sound = chunk.read_bytes()
    content = bytearray(sound)
    content[8:12] = version.to_bytes(4, "little")
    content[60:64] = crc32c(bytes(content[:60])).to_bytes(4, "little")
    chunk.write_bytes(content)
    with pytest.raises(zrecord.FormatError, match=f"{chunk.name}: {reason}"):
        zrecord.open(unchecked)["dense"][0]
    chunk.write_bytes(sound)
    tables.edit(lambda m: m.update(format=version))
    with pytest.raises(zrecord.FormatError, match=f"{tables.path.name}: {reason}"):
        zrecord.open(unchecked)["dense"][0]


def test_format_1_is_refused(table: Path) -> None:
    edit(manifest_of(table, NEWEST), lambda m: m.update(format=1))
    for version in (None, 0, 1):
        with pytest.raises(zrecord.FormatError, match=r"json: format version 1 was never released; write the dataset again"):
            zrecord.open(table, version=version)


def test_a_manifest_cannot_name_another_shard_or_leave_the_table(table: Path) -> None:
    manifest = manifest_of(table, NEWEST)
    sound = manifest.read_bytes()
    edit(manifest, lambda m: m["lists"][0].update(file="list/../../../etc/passwd"))
    with pytest.raises(zrecord.CorruptDataError, match="member 'file'"):
        zrecord.open(table)
    manifest.write_bytes(sound)
    edit(manifest, lambda m: m["shards"][0].update(uuid=RAW))
    with pytest.raises(zrecord.CorruptDataError, match="the file is missing"):
        zrecord.open(table)["zstd-3"][119]
    manifest.write_bytes(sound)
    edit(manifest, lambda m: m.update(length=121))
    with pytest.raises(zrecord.CorruptDataError, match="says 121 records, but its shards have 120"):
        zrecord.open(table)


def test_a_list_that_is_not_the_one_that_the_manifest_names_is_refused(table: Path) -> None:
    """Another list with the same counts, as of a later write, or a longer one."""
    (list_,) = (table / "list").iterdir()
    sound = list_.read_bytes()
    for change in (lambda m: m["shards"].reverse() or m["shards"][0].update(values=[]), lambda m: m.update(more=1)):
        edit(list_, change)
        with pytest.raises(zrecord.CorruptDataError, match=r"not the file that the manifest names, with \d+ bytes"):
            zrecord.open(table)
        list_.write_bytes(sound)
    wrong: list[tuple[str, Any]] = [("bytes", 0), ("bytes", 1 << 40), ("crc", "x")]
    for member, value in wrong:
        named = {member: value}
        edit(manifest_of(table, NEWEST), lambda m, named=named: m["lists"][0].update(named))  # type: ignore[misc]
        with pytest.raises(zrecord.CorruptDataError, match=f"member '{member}'"):
            zrecord.open(table)
        edit(manifest_of(table, NEWEST), lambda m: m["lists"][0].update(bytes=len(sound), crc=sound[-11:-3].decode()))
    assert len(zrecord.open(table)) == 120


def test_a_list_of_lists_is_bound_to_the_manifest(tmp_path: Path) -> None:
    table = Path(shutil.copytree(GOLDEN / "v2-lists", tmp_path / "table"))
    manifest = manifest_of(table, 0)
    lists = sorted((table / "list").iterdir(), key=lambda file: file.name)
    first, second, of_lists, _ = lists
    sound = {file: file.read_bytes() for file in (*lists, manifest)}

    def restore() -> None:
        for file, content in sound.items():
            file.write_bytes(content)

    def bind() -> None:
        content = of_lists.read_bytes()
        edit(manifest, lambda m: m["lists"][0].update(bytes=len(content), crc=content[-11:-3].decode()))

    first.write_bytes(sound[second])
    second.write_bytes(sound[first])
    with pytest.raises(zrecord.CorruptDataError, match=r"not the file that the manifest names, with \d+ bytes"):
        zrecord.open(table)
    restore()
    edit(of_lists, lambda m: m.update(more=1))
    with pytest.raises(zrecord.CorruptDataError, match=r"not the file that the manifest names, with \d+ bytes"):
        zrecord.open(table)
    bind()
    assert len(zrecord.open(table)) == 15
    for change, message in (
        (lambda m: m["lists"].pop(), "not those that the manifest counts"),
        (lambda m: m["lists"][0].update(level=2), "two levels at most"),
        (lambda m: m["lists"][0].update(level=3), "member 'level'"),
        (lambda m: m["lists"][0].update(length=4), "not those that the manifest counts"),
    ):
        restore()
        edit(of_lists, change)
        bind()
        with pytest.raises(zrecord.CorruptDataError, match=message):
            zrecord.open(table)
    for change in (
        lambda m: m["shards"][0].pop("partition"),
        lambda m: m["shards"][0].update(partition=["a"]),
        lambda m: m["shards"][0].update(partition=[1, "b"]),
        lambda m: m.update(partitions=[2]),
        lambda m: m.pop("partitions"),
        lambda m: m.update(partitions=[2, 2]),
        lambda m: m.update(partitions=[2, 4]),
    ):
        restore()
        edit(manifest, change)
        with pytest.raises(zrecord.CorruptDataError, match="partition"):
            zrecord.open(table)


ID = "123e4567-e89b-12d3-a456-426614174000"
SENSELESS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "member 'oldest'": lambda m: m.update(oldest=NEWEST + 1),
    "every version has the member 'previous', except version 0": lambda m: m.pop("previous"),
    "member 'previous'": lambda m: m.update(previous=7),
    "member 'base'": lambda m: m.update(base=NEWEST),
    "member 'records'": lambda m: m.pop("records"),
    "member 'version'": lambda m: m["records"].update(version=NEWEST + 1),
    "says that it made its records itself": lambda m: m["records"].update(version=NEWEST),
    "says that version 1 made its records": lambda m: m.update(operation="append"),
    "member 'sweptBeforeMillis'": lambda m: m.update(operation="sweep"),
    "member 'sweptBeforeMillis' is": lambda m: m.update(sweptBeforeMillis=-1),
    "member 'tags'": lambda m: m.pop("tags"),
    "a name appears twice": lambda m: m["tags"].append(m["tags"][0]),
    "not sorted by name": lambda m: m["tags"].append({**m["tags"][0], "name": "a"}),
    "member 'name'": lambda m: m["tags"][0].update(name="Latest"),
    r"member 'name' is '7'": lambda m: m["tags"][0].update(name="7"),
    "from 0 to 2": lambda m: m["tags"][0].update(version=NEWEST),
    "member 'file'": lambda m: m["tags"][0].update(file=f"tag/../{ID}.json"),
    "member 'bytes'": lambda m: m["tags"][0].update(bytes=0),
    "member 'crc'": lambda m: m["tags"][0].update(crc="x"),
    "member 'timestampMillis'": lambda m: m["tags"][0].pop("timestampMillis"),
    "has 10001 tags": lambda m: m.update(tags=m["tags"] * 10001),
}


@pytest.mark.parametrize("reason", SENSELESS)
def test_a_manifest_that_contradicts_the_chain_of_versions_is_refused(table: Path, reason: str) -> None:
    edit(manifest_of(table, NEWEST), SENSELESS[reason])
    with pytest.raises(zrecord.CorruptDataError, match=reason) as error:
        zrecord.open(table)
    assert error.value.resource == str(manifest_of(table, NEWEST))


@pytest.mark.parametrize("member", [{"previous": ID}, {"base": 0}])
def test_version_0_follows_no_version(table: Path, member: dict[str, Any]) -> None:
    (copy,) = (table / "tag").iterdir()
    edit(copy, lambda m: m.update(member))
    content = copy.read_bytes()
    edit(manifest_of(table, NEWEST), lambda m: m["tags"][0].update(bytes=len(content), crc=content[-11:-3].decode()))
    with pytest.raises(zrecord.CorruptDataError, match=next(iter(member))) as error:
        zrecord.open(table, version=0)
    assert error.value.resource == str(copy)


def test_versions_below_the_floor_are_expired(table: Path) -> None:
    """Also if their manifests are still there, and if a later version is left there by a publisher that slept."""
    edit(manifest_of(table, NEWEST), lambda m: m.update(oldest=2, tags=[]))
    for version in (0, 1):
        with pytest.raises(zrecord.NotADatasetError, match=rf"version {version} of .*: it was expired; the versions are 2 to 3"):
            zrecord.open(table, version=version)
    assert manifest_of(table, 1).exists()
    assert len(zrecord.open(table, version=2)) == 120
    with pytest.raises(zrecord.NotADatasetError, match=r"version -1 of .*: the versions are 2 to 3"):
        zrecord.open(table, version=-1)


def test_a_version_that_a_hostile_manifest_claims_costs_no_memory(table: Path) -> None:
    far = 3_000_000_000
    shutil.copy(manifest_of(table, NEWEST), manifest_of(table, far))
    edit(manifest_of(table, far), lambda m: m.update(version=far, oldest=0))
    tracemalloc.start()
    try:
        for version in (far + 1, -1, 10**30):
            with pytest.raises(zrecord.NotADatasetError, match=rf"version {version} of .*: the versions are 0 to {far}"):
                zrecord.open(table, version=version)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_versions_that_are_left_may_have_gaps(table: Path) -> None:
    edit(manifest_of(table, NEWEST), lambda m: m.update(oldest=2))
    with pytest.raises(zrecord.NotADatasetError, match=r"version 1 of .*: it was expired; the versions are 0, 2 to 3"):
        zrecord.open(table, version=1)
    assert len(zrecord.open(table, version=0)) == 40


def test_a_tag_takes_the_place_of_another_of_the_version(tmp_path: Path) -> None:
    """Below the floor the copies of all tags are tried, and above the floor the manifest first."""
    care = Path(shutil.copytree(GOLDEN / "v2-versions" / "care", tmp_path / "care"))
    newest = json.loads(manifest_of(care, 9).read_text(encoding="utf-8"))
    copies = {tag["name"]: care / tag["file"] for tag in newest["tags"]}
    sound = copies["also-first"].read_bytes()
    for damage in (lambda: copies["also-first"].write_bytes(b"damaged"), copies["also-first"].unlink):
        damage()
        assert zrecord.open(care, version=0)["value"][:].tolist() == [*range(10)]
    copies["also-first"].write_bytes(sound)
    copies["first"].unlink()
    assert zrecord.open(care, version=0)["value"][:].tolist() == [*range(10)]
    copies["also-first"].write_bytes(b"damaged")
    with pytest.raises(zrecord.CorruptDataError, match="it does not end with its checksum") as error:
        zrecord.open(care, version=0)
    assert error.value.resource == str(copies["also-first"])
    manifest_of(care, 1).unlink()
    assert zrecord.open(care, version=1)["value"][:].tolist() == [*range(20)]
    copies["second"].unlink()
    with pytest.raises(zrecord.CorruptDataError, match="the file is missing") as error:
        zrecord.open(care, version=1)
    assert error.value.resource == str(manifest_of(care, 1))


def test_tags_may_share_a_copy(table: Path) -> None:
    edit(manifest_of(table, NEWEST), lambda m: m["tags"].append({**m["tags"][0], "name": "same"}))
    assert len(zrecord.open(table, version=0)) == 40


def test_a_copy_that_is_not_the_one_that_the_tag_names_is_refused(table: Path) -> None:
    (copy,) = (table / "tag").iterdir()
    sound = copy.read_bytes()
    edit(copy, lambda m: m.update(timestampMillis=m["timestampMillis"] + 1))
    with pytest.raises(zrecord.CorruptDataError, match=r"not the file that tag '.*' names"):
        zrecord.open(table, version=0)
    copy.write_bytes(sound)
    edit(manifest_of(table, NEWEST), lambda m: m["tags"][0].update(bytes=len(sound) + 1))
    with pytest.raises(zrecord.CorruptDataError, match=r"not the file that tag '.*' names"):
        zrecord.open(table, version=0)
    edit(manifest_of(table, NEWEST), lambda m: m.update(oldest=2))
    edit(manifest_of(table, NEWEST), lambda m: m["tags"][0].update(bytes=len(sound), version=1))
    with pytest.raises(zrecord.CorruptDataError, match="it is of version 0, but its name says 1"):
        zrecord.open(table, version=1)
    copy.unlink()
    with pytest.raises(zrecord.CorruptDataError, match="the file is missing"):
        zrecord.open(table, version=1)
    assert len(zrecord.open(table)) == 120


def test_a_missing_version_above_the_floor_is_damage(table: Path) -> None:
    manifest_of(table, 1).unlink()
    with pytest.raises(zrecord.CorruptDataError, match=r"1.json: the file is missing"):
        zrecord.open(table, version=1)


def test_a_damaged_version_that_has_a_tag_is_read_by_its_copy(table: Path) -> None:
    (copy,) = (table / "tag").iterdir()
    edit(manifest_of(table, NEWEST), lambda m: m.update(oldest=0))
    assert len(zrecord.open(table, version=0)) == 40
    manifest_of(table, 0).write_bytes(b"damaged")
    assert len(zrecord.open(table, version=0)) == 40
    manifest_of(table, 0).unlink()
    assert len(zrecord.open(table, version=0)) == 40
    copy.unlink()
    with pytest.raises(zrecord.CorruptDataError, match="the file is missing") as error:
        zrecord.open(table, version=0)
    assert error.value.resource == str(manifest_of(table, 0))


def test_an_older_version_is_read_beside_a_damaged_newest_one(table: Path) -> None:
    manifest_of(table, NEWEST).write_bytes(b"damaged")
    assert len(zrecord.open(table, version=1)) == 120
    for version in (None, NEWEST, NEWEST + 1, 0):
        with pytest.raises(zrecord.CorruptDataError, match=f"{NEWEST}.json: it does not end with its checksum"):
            zrecord.open(table, version=version)


def test_other_files_beside_manifests_have_no_meaning(table: Path) -> None:
    for name in (f"{9:020d}.json.damaged", f".{9:020d}.json.tmp", "9.json", f"{9:021d}.json"):
        (table / "manifest" / name).write_bytes(b"x")
    manifest_of(table, 9).mkdir()
    assert zrecord.open(table).version == NEWEST


def test_a_version_that_is_expired_while_it_is_read_is_looked_for_again(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manifest goes after the newest version was read: the copy is found if the version has a tag, else it was expired."""
    read = JsonObject.read
    newest, next_ = manifest_of(table, NEWEST), manifest_of(table, NEWEST + 1)
    (copy,) = (table / "tag").iterdir()

    def expiry(tags: list[dict[str, Any]]) -> Callable[[Path], JsonObject]:
        def expire_first(path: Path, most: int = MAX_BYTES) -> JsonObject:
            if path == manifest_of(table, 1) and not next_.exists():
                content = json.loads(newest.read_text(encoding="utf-8"))
                content.update(version=NEWEST + 1, previous=content["commit"], commit=ID, oldest=2, tags=tags)
                next_.write_bytes(sealed(content))
                path.rename(path.with_name("gone"))
            return read(path, most)

        return expire_first

    monkeypatch.setattr(JsonObject, "read", expiry([]))
    with pytest.raises(zrecord.NotADatasetError, match=r"version 1 of .*: it was expired; the versions are 2 to 4"):
        zrecord.open(table, version=1)
    next_.unlink()
    manifest_of(table, 1).with_name("gone").rename(manifest_of(table, 1))
    content = manifest_of(table, 1).read_bytes()
    copy.with_name(f"{ID}.json").write_bytes(content)
    tag = {"name": "x", "version": 1, "timestampMillis": 0, "file": f"tag/{ID}.json"}
    tag.update(bytes=len(content), crc=content[-11:-3].decode())
    monkeypatch.setattr(JsonObject, "read", expiry([tag]))
    dataset = zrecord.open(table, version=1)
    assert (dataset.version, len(dataset)) == (1, 120)


def test_the_newest_version_is_looked_for_again_when_it_was_expired(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest, next_ = manifest_of(table, NEWEST), manifest_of(table, NEWEST + 1)
    read = JsonObject.read

    def expire_first(path: Path, most: int = MAX_BYTES) -> JsonObject:
        if path == newest and newest.exists():
            newest.rename(next_)
            edit(next_, lambda m: m.update(version=NEWEST + 1, oldest=NEWEST + 1))
        return read(path, most)

    monkeypatch.setattr(JsonObject, "read", expire_first)
    dataset = zrecord.open(table)
    assert (dataset.version, len(dataset)) == (NEWEST + 1, 120)


def test_a_newest_version_that_a_repair_replaced_is_looked_at_again(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repair gives the newest version up, and its own version has the same number and a higher floor."""
    newest = manifest_of(table, NEWEST)
    edit(newest, lambda m: m.update(oldest=0, tags=[]))
    read = JsonObject.read

    def repair_first(path: Path, most: int = MAX_BYTES) -> JsonObject:
        if path == manifest_of(table, 0):
            edit(newest, lambda m: m.update(commit=ID, oldest=1))
        return read(path, most)

    monkeypatch.setattr(JsonObject, "read", repair_first)
    with pytest.raises(zrecord.NotADatasetError, match=r"version 0 of .*: it was expired; the versions are 1 to 3"):
        zrecord.open(table, version=0)


def test_a_creation_that_was_taken_back_is_no_table(tmp_path: Path) -> None:
    retracted = Path(shutil.copytree(GOLDEN / "v2-versions" / "retracted", tmp_path / "retracted"))
    for version in (None, 0, 1, 2):
        with pytest.raises(zrecord.NotADatasetError, match="the creation of its table was taken back; check the path"):
            zrecord.open(retracted, version=version)
    # Neither is a retraction that was cut short before version 0 was deleted.
    manifest_of(retracted, 0).write_bytes(b"any")
    for version in (None, 0):
        with pytest.raises(zrecord.NotADatasetError, match="the creation of its table was taken back"):
            zrecord.open(retracted, version=version)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes of POSIX")
def test_a_link_is_a_manifest_that_is_refused(table: Path) -> None:
    manifest_of(table, 9).symlink_to(manifest_of(table, NEWEST))
    with pytest.raises(zrecord.ZrecordError, match=r"9.json"):
        zrecord.open(table)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes of POSIX")
def test_links_and_pipes_are_not_followed(unchecked: Path, tmp_path: Path) -> None:
    chunk = TablesOnDisk(unchecked, UNCHECKED).chunk_of_run(id_of(unchecked, "dense"))
    chunk.rename(tmp_path / "elsewhere")
    chunk.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(zrecord.ZrecordError, match=chunk.name):
        zrecord.open(unchecked)["dense"][0]
    chunk.unlink()
    os.mkfifo(chunk)
    with pytest.raises(zrecord.CorruptDataError, match="not a regular file"):
        zrecord.open(unchecked)["dense"][0]


@pytest.mark.parametrize("codec", ["flate", "zstd", "lz4"])
def test_payloads_of_another_length_are_refused(codec: str) -> None:
    """Of each codec: one byte more and fewer, bytes behind the end, a cut, a claim of 2 GiB; and as it is."""
    import zlib

    import lz4.block
    import zstandard

    from zrecord._codecs import decoder

    deflate = zlib.compressobj(wbits=-15)
    value = bytes(range(100)) * 3
    payload = {
        "flate": deflate.compress(value) + deflate.flush(),
        "zstd": zstandard.ZstdCompressor().compress(value),
        "lz4": lz4.block.compress(value, store_size=False),
    }[codec]
    decode = decoder(codec)

    def stored(length: int, content: bytes, as_is: bool = False) -> bytes:
        return (length | (1 << 31 if as_is else 0)).to_bytes(4, "little") + content

    assert decode(stored(300, payload)) == value
    assert decode(stored(300, value, as_is=True)) == value
    for bad in (
        stored(299, payload),
        stored(301, payload),
        stored(300, payload[:-1]),
        stored(300, payload + b"\0"),
        stored(2**31 - 1, payload),
        stored(300, b""),
        stored(299, value, as_is=True),
        b"\0\0",
    ):
        with pytest.raises(ValueError):
            decode(bad)


def test_a_frame_without_a_length_cannot_grow() -> None:
    import zstandard

    from zrecord._codecs import decoder

    stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    payload = stream.compress(bytes(1 << 24)) + stream.flush()
    assert zstandard.frame_content_size(payload) == -1
    assert decoder("zstd")((1 << 24).to_bytes(4, "little") + payload) == bytes(1 << 24)
    with pytest.raises(ValueError):
        decoder("zstd")((1 << 10).to_bytes(4, "little") + payload)


@pytest.mark.parametrize(
    ("later", "is_sound"),
    [
        ("x" * (1 << 20), True),
        ("x" * ((1 << 20) + 1), False),
        ([{"a": "\U0001d11e" * (1 << 19)}], True),
        ([{"a": ["\U0001d11e" * (1 << 19) + "x"]}], False),
        (-(10**999), True),
        ([10**1000], False),
        ({"\U0001d11e" * 512: 1}, True),
        ([{"\U0001d11e" * 512 + "x": 1}], False),
    ],
    ids=range(8),
)
def test_unknown_members_have_limits(table: Path, later: Any, is_sound: bool) -> None:
    """The characters are UTF-16 units, as the engine counts them."""
    edit(manifest_of(table, NEWEST), lambda m: m.update(later=later))
    if is_sound:
        assert zrecord.open(table).version == NEWEST
    else:
        with pytest.raises(zrecord.CorruptDataError, match=r"characters|digits"):
            zrecord.open(table)


def _write_hint(path: Path, **members: Any) -> None:
    newest = json.loads(manifest_of(path, NEWEST).read_bytes())
    hint = {"format": 2, "table": newest["table"], "version": newest["version"], "commit": newest["commit"], **members}
    (path / "manifest" / "latest").write_bytes(sealed(hint))


@pytest.mark.parametrize(
    "members",
    [{}, {"table": "00000000-0000-4000-8000-000000000000", "version": 99}],
    ids=["exact", "of another table"],
)
def test_the_newest_version_is_found_whatever_the_hint(table: Path, members: dict[str, Any]) -> None:
    _write_hint(table, **members)
    assert zrecord.open(table).version == NEWEST


@pytest.mark.parametrize("member", ["table", "commit"])
def test_a_newest_version_that_is_not_that_of_the_hint_is_refused(table: Path, member: str) -> None:
    """It is that of another table, or of a copy of the table that went on by itself."""
    _write_hint(table, **{member: ID})
    for version in (None, NEWEST):
        with pytest.raises(zrecord.CorruptDataError, match=rf"{NEWEST}.json: it .* another copy of the table") as error:
            zrecord.open(table, version=version)
        assert error.value.resource == str(manifest_of(table, NEWEST))
    # Nobody can tell then whether versions before are of the other table as well.
    if member == "commit":
        assert zrecord.open(table, version=NEWEST - 1).version == NEWEST - 1


@pytest.mark.parametrize("is_hinted", [False, True])
def test_a_creation_that_overwrote_the_version_of_a_hint_is_damage(table: Path, is_hinted: bool) -> None:
    """It follows the version before, as a table does that is created where one was dropped."""
    if is_hinted:
        _write_hint(table)
    beginning = {"table": ID, "commit": ID, "oldest": NEWEST, "operation": "create", "tags": []}
    beginning["records"] = {"version": NEWEST, "commit": ID}
    edit(manifest_of(table, NEWEST), lambda m: m.update(beginning))
    if not is_hinted:
        assert zrecord.open(table).version == NEWEST
        return
    for version in (None, NEWEST):
        with pytest.raises(zrecord.CorruptDataError, match=rf"{NEWEST}.json: it .* another copy of the table"):
            zrecord.open(table, version=version)


def test_a_newest_version_that_replaced_several_is_not_that_of_a_hint_behind(table: Path) -> None:
    _write_hint(table, version=NEWEST - 1, commit=ID)
    with pytest.raises(zrecord.CorruptDataError, match=rf"{NEWEST - 1}.json: .* version was published by commit {ID}"):
        zrecord.open(table)


@pytest.mark.parametrize("member", ["table", "commit", "previous"])
@pytest.mark.parametrize("is_hinted", [False, True])
@pytest.mark.parametrize("replaced", [NEWEST - 1, NEWEST])
def test_a_version_that_does_not_follow_the_one_before_is_refused(table: Path, member: str, is_hinted: bool, replaced: int) -> None:
    if is_hinted:
        _write_hint(table)
    edit(manifest_of(table, replaced), lambda m: m.update({member: ID}))
    is_followed = replaced == NEWEST - 1 and member == "previous"
    is_known = replaced == NEWEST and member == "commit" and not is_hinted
    if is_followed or is_known:
        assert zrecord.open(table).version == NEWEST
        return
    with pytest.raises(zrecord.CorruptDataError, match=r"does not follow version|another copy of the table has replaced"):
        zrecord.open(table)
    # The hint knows the version, or the version before confirms it.
    if (member == "previous" and is_hinted) or (member == "commit" and not is_hinted):
        assert zrecord.open(table, version=replaced).version == replaced
        return
    with pytest.raises(zrecord.CorruptDataError, match=f"{replaced}.json"):
        zrecord.open(table, version=replaced)


@pytest.mark.parametrize("member", ["table", "commit"])
def test_an_older_version_of_another_table_or_copy_is_refused(table: Path, member: str) -> None:
    sound = len(zrecord.open(table, version=2))
    edit(manifest_of(table, 1), lambda m: m.update({member: ID}))
    edit(manifest_of(table, 1), lambda m: m.update(records={"version": 1, "commit": m["commit"]}))
    with pytest.raises(zrecord.CorruptDataError, match=r"1.json: it does not fit the versions beside it"):
        zrecord.open(table, version=1)
    assert len(zrecord.open(table, version=2)) == sound
    assert len(zrecord.open(table, version=0)) == 40


def test_what_contradicts_a_version_that_was_expired_meanwhile_is_no_damage(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A publisher that slept has taken the number of the version before, which was expired: there is a newer version by then."""
    read = JsonObject.read
    newest, next_ = manifest_of(table, NEWEST), manifest_of(table, NEWEST + 1)

    def expire_first(path: Path, most: int = MAX_BYTES) -> JsonObject:
        if path == manifest_of(table, NEWEST - 1) and not next_.exists():
            content = json.loads(newest.read_text(encoding="utf-8"))
            content.update(version=NEWEST + 1, previous=content["commit"], commit=ID, oldest=NEWEST)
            next_.write_bytes(sealed(content))
            edit(path, lambda m: m.update(commit=ID))
        return read(path, most)

    monkeypatch.setattr(JsonObject, "read", expire_first)
    assert zrecord.open(table).version == NEWEST + 1


def test_the_newest_version_is_found_above_a_hint(table: Path) -> None:
    before = json.loads(manifest_of(table, NEWEST - 1).read_bytes())
    _write_hint(table, version=before["version"], commit=before["commit"])
    assert zrecord.open(table).version == NEWEST


def test_a_damaged_hint_is_none(table: Path) -> None:
    (table / "manifest" / "latest").write_bytes(b"")
    assert zrecord.open(table).version == NEWEST


def test_a_newest_version_that_was_deleted_is_missed(table: Path) -> None:
    _write_hint(table)
    manifest_of(table, NEWEST).unlink()
    with pytest.raises(zrecord.CorruptDataError, match=f"version {NEWEST} was published, but version {NEWEST - 1} is the newest"):
        zrecord.open(table)
    (table / "manifest" / "latest").unlink()
    assert zrecord.open(table).version == NEWEST - 1


def write_hint(table: Path, version: int, more: dict[str, Any]) -> None:
    manifest = json.loads(manifest_of(table, version).read_bytes())
    members = {"format": 2, **{name: manifest[name] for name in ("table", "version", "commit")}, **more}
    (table / "manifest" / "latest").write_bytes(sealed(members))


def test_a_manifest_that_was_lost_and_replaced_is_damage(table: Path) -> None:
    """The hint leads below the gap, and what follows there does not follow the hint's version."""
    newest = manifest_of(table, NEWEST)
    edit(newest, lambda m: m.update(previous="00000000-0000-4000-8000-000000000000"))
    write_hint(table, NEWEST - 1, {})
    with pytest.raises(zrecord.CorruptDataError, match=f"does not follow version {NEWEST - 1}"):
        zrecord.open(table)


@pytest.mark.parametrize("member", [{"format": 3}, {"features": {"read": ["later"]}}])
def test_a_hint_of_a_later_release_is_none(table: Path, member: dict[str, Any]) -> None:
    expected = len(zrecord.open(table))
    write_hint(table, NEWEST, member)
    assert len(zrecord.open(table)) == expected


def test_a_table_without_manifests_was_lost_if_there_is_a_hint(table: Path) -> None:
    write_hint(table, NEWEST, {})
    for manifest in (table / "manifest").glob("*.json"):
        manifest.unlink()
    with pytest.raises(zrecord.CorruptDataError, match=f"version {NEWEST} was published, but there is no manifest"):
        zrecord.open(table)
    (table / "manifest" / "latest").write_bytes(b"")
    with pytest.raises(zrecord.NotADatasetError):
        zrecord.open(table)


def test_an_older_version_is_read_though_the_newest_was_lost(table: Path) -> None:
    expected = len(zrecord.open(table, version=NEWEST - 1))
    write_hint(table, NEWEST, {})
    manifest_of(table, NEWEST).unlink()
    assert len(zrecord.open(table, version=NEWEST - 1)) == expected
    with pytest.raises(zrecord.CorruptDataError, match="was published"):
        zrecord.open(table, version=NEWEST)


def test_an_older_version_is_read_though_the_newest_cannot_be_told(table: Path) -> None:
    expected = len(zrecord.open(table, version=NEWEST - 1))
    write_hint(table, NEWEST - 1, {})
    edit(manifest_of(table, NEWEST), lambda m: m.update(previous="00000000-0000-4000-8000-000000000000"))
    assert len(zrecord.open(table, version=NEWEST - 1)) == expected
