"""Values, tables and chunks that are damaged or hostile are refused, and never handed out."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from tests.tables import NEWEST, TablesOnDisk, edit, manifest_of
from tests.values import exact
from zrecord._binding import Kind
from zrecord._crc32c import crc32c
from zrecord._open import Verify
from zrecord._tables import ENTRY

RAW = "11111111-1111-4111-8111-111111111111"
UNCHECKED = "33333333-3333-4333-8333-333333333333"
ENTRIES = "77777777-7777-4777-8777-777777777777"


def id_of(table: Path, name: str) -> int:
    return zrecord.open(table).fields[name].id


def everything(path: Path, verify: Verify = "first") -> Any:
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
def test_ends_outside_of_their_run_are_refused(unchecked: Path, end: int, verify: Verify) -> None:
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
