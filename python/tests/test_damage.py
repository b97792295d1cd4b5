"""What is damaged or hostile is refused, and never handed out."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests.conftest import GOLDEN
from zrecord._crc32c import crc32c
from zrecord._sealed import JsonObject


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN / "v1" / "table", tmp_path / "table"))


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN / "v1" / "shard", tmp_path / "shard"))


def everything(path: Path, verify: str = "first") -> str:
    """All values, as a text that tells them apart."""
    dataset = zrecord.open(path, verify=verify)
    values = []
    for name in dataset.fields:
        field = dataset[name]
        found = field[:]
        values.append((name, field.validity().tobytes(), found.tobytes() if isinstance(found, np.ndarray) else repr(found)))
    return repr(values)


def files_of(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file())


def test_no_flipped_bit_is_handed_out(table: Path) -> None:
    """Any bit of any file: an error of this package, or the same values. Without verification, others come out."""
    sound = everything(table)
    random = np.random.default_rng(11)
    files = files_of(table)
    refused = unverified = 0
    for round_ in range(80):
        file = files[round_ % len(files)] if round_ < len(files) else files[int(random.integers(len(files)))]
        content = bytearray(file.read_bytes())
        if "00000.json" in file.name or not content:
            continue  # of the version that is not read
        sound_content = bytes(content)
        bit = int(random.integers(8 * len(content)))
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        try:
            assert everything(table) == sound, (file, bit)
        except zrecord.ZrecordError as e:
            refused += 1
            assert e.resource is not None and str(e.resource) in str(e)
        with contextlib.suppress(zrecord.ZrecordError):
            unverified += everything(table, verify="never") != sound
        file.write_bytes(sound_content)
    assert refused > 30
    assert unverified > 5


def test_no_shorter_file_is_mapped(table: Path) -> None:
    sound = everything(table)
    for file in files_of(table):
        if "00000.json" in file.name:
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


def test_a_flipped_value_is_named(table: Path) -> None:
    dataset = zrecord.open(table)
    column = dataset._fields["bytes"]._sources[0].column(dataset.fields["bytes"], "first")
    entry = column._entries[6]  # type: ignore[attr-defined]
    chunk = table / "shard" / "11111111-1111-4111-8111-111111111111" / "chunk" / f"{entry['chunk']}.zr"
    content = bytearray(chunk.read_bytes())
    content[int(entry["offset"])] ^= 1
    chunk.write_bytes(content)
    with pytest.raises(zrecord.CorruptDataError, match=r"record 6 of the shard in field 'bytes': it fails its checksum"):
        zrecord.open(table)["bytes"][6]
    assert zrecord.open(table)["bytes"][7] is not None
    assert zrecord.open(table, verify="never")["bytes"][6] is not None


def test_first_checks_once_and_always_checks_again(table: Path) -> None:
    once, always = zrecord.open(table), zrecord.open(table, verify="always")
    for dataset in (once, always):
        dataset["dense"][:40]
        dataset["bytes"][:40]
    for chunk in table.glob("shard/1*/chunk/*.zr"):
        with chunk.open("r+b") as file:  # the same file, as maps show it
            content = file.read()
            file.seek(64)
            file.write(bytes(b ^ 1 for b in content[64:]))
    for name in ("dense", "bytes"):
        once[name][:40]
        for key in (slice(0, 40), [1, 2, 3], 1):
            with pytest.raises(zrecord.CorruptDataError, match="checksum"):
                always[name][key]


def sealed(members: dict[str, Any]) -> bytes:
    members.pop("crc32c", None)
    text = json.dumps(members, separators=(",", ":"))[:-1].encode()
    return text + f',"crc32c":"{crc32c(text):08x}"}}\n'.encode()


def edit(file: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    members = json.loads(file.read_text(encoding="utf-8"))
    change(members)
    file.write_bytes(sealed(members))


def test_resealing_alone_changes_nothing(shard: Path) -> None:
    sound = everything(shard)
    edit(shard / "meta.json", lambda m: m.update(unknown={"x": [1]}))
    assert everything(shard) == sound


HOSTILE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "member 'stem'": lambda m: m["fields"][0].update(stem="../../x"),
    "member 'length'": lambda m: m.update(length=2**62),
    "member 'layout'": lambda m: m["fields"][0].update(layout="heap"),
    "member 'checksum'": lambda m: m.update(checksum="md5"),
    "member 'uuid'": lambda m: m.update(uuid="x"),
    "unknown dtype 'u128'": lambda m: m["fields"][0].update(dtype="u128"),
    "unknown codec 'brotli'": lambda m: m["fields"][0].update(compress="brotli"),
    "shape": lambda m: m["fields"][0].update(shape=[2, -1]),
    "more than 2147483647 bytes": lambda m: m["fields"][0].update(shape=[2**31 - 1, 2]),
    "appears twice": lambda m: m["fields"][1].update(name="bool"),
    "no common width": lambda m: m["fields"][0].update(compress="flate"),
    "rising order": lambda m: m["chunks"]["closed"].reverse(),
    "counts 9 chunks": lambda m: m["chunks"].update(num=9),
    "still being written": lambda m: m["chunks"].update(unfull=[[3, 64, 0]], num=4),
    "not an integer": lambda m: m.update(length=40.5),
    "levels": lambda m: m.update(deep=json.loads("[" * 40 + "]" * 40)),
    "not allowed as the name": lambda m: m["fields"][0].update(name="a\0b"),
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_sealed_metadata_is_not_trusted(shard: Path, reason: str) -> None:
    edit(shard / "meta.json", HOSTILE[reason])
    with pytest.raises(zrecord.CorruptDataError, match=reason) as error:
        zrecord.open(shard)
    assert error.value.resource == str(shard / "meta.json")


def test_longer_lengths_than_the_files_are_refused(shard: Path) -> None:
    edit(shard / "meta.json", lambda m: m.update(length=2**40))
    dataset = zrecord.open(shard)
    for name in dataset.fields:
        with pytest.raises(zrecord.CorruptDataError):
            dataset[name][0]


def test_entries_outside_of_their_chunk_are_refused(shard: Path) -> None:
    """This shard has no checksums, so that the entry itself is looked at."""
    file = shard / "bytes.offset"
    entries = np.fromfile(file, zrecord._entries.ENTRY)
    assert zrecord.open(shard)["bytes"][3] is not None
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
        changed = entries.copy()
        for name, value in change.items():
            changed[3][name] = value
        changed.tofile(file)
        with pytest.raises(zrecord.CorruptDataError, match=r"record 3 of the shard in field 'bytes': its entry .* not within"):
            zrecord.open(shard)["bytes"][:5]
        assert zrecord.open(shard)["bytes"][[2, 4]]


def test_later_versions_of_the_format_ask_for_an_upgrade(shard: Path) -> None:
    runs = shard / "i32.runs"
    content = bytearray(runs.read_bytes())
    content[8] = 2
    content[-4:] = crc32c(bytes(content[:-4])).to_bytes(4, "little")
    runs.write_bytes(content)
    with pytest.raises(zrecord.FormatError, match=r"i32.runs: format version 2 is newer than 1; upgrade zrecord"):
        zrecord.open(shard)["i32"][0]
    edit(shard / "meta.json", lambda m: m.update(format=2))
    with pytest.raises(zrecord.FormatError, match=r"meta.json: format version 2 is newer than 1; upgrade zrecord"):
        zrecord.open(shard)


def test_a_manifest_cannot_name_another_shard_or_leave_the_table(table: Path) -> None:
    manifest = table / "manifest" / f"{1:020d}.json"
    sound = manifest.read_bytes()
    edit(manifest, lambda m: m["lists"][0].update(file="list/../../../etc/passwd"))
    with pytest.raises(zrecord.CorruptDataError, match="member 'file'"):
        zrecord.open(table)
    manifest.write_bytes(sound)
    edit(manifest, lambda m: m["shards"][0].update(uuid="11111111-1111-4111-8111-111111111111"))
    with pytest.raises(zrecord.CorruptDataError, match="not the file that the manifest names"):
        zrecord.open(table)["dense"][119]
    manifest.write_bytes(sound)
    edit(manifest, lambda m: m.update(length=121))
    with pytest.raises(zrecord.CorruptDataError, match="says 121 records, but its shards have 120"):
        zrecord.open(table)


def test_a_version_that_is_set_aside_is_read_until_it_is_gone(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = table / "manifest" / f"{0:020d}.json"
    aside = manifest.with_name(manifest.name + ".123e4567-e89b-12d3-a456-426614174000.expiring")
    length = len(zrecord.open(table, version=0))
    manifest.rename(aside)
    assert len(zrecord.open(table, version=0)) == length
    read = JsonObject.read
    looked: list[Path] = []

    def put_back_first(path: Path) -> JsonObject:
        if path == aside and not looked:
            looked.append(path)
            aside.rename(manifest)
        return read(path)

    monkeypatch.setattr(JsonObject, "read", put_back_first)
    assert len(zrecord.open(table, version=0)) == length
    assert looked
    manifest.unlink()
    with pytest.raises(zrecord.NotADatasetError, match=r"version 0 of .*: it has 1 versions from 1 to 1"):
        zrecord.open(table, version=0)
    aside.write_bytes(b"damaged")
    with pytest.raises(zrecord.CorruptDataError, match="expiring"):
        zrecord.open(table, version=0)


def test_a_version_that_is_put_back_after_a_failed_read_is_not_damaged(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = table / "manifest" / f"{0:020d}.json"
    aside = manifest.with_name(manifest.name + ".123e4567-e89b-12d3-a456-426614174000.expiring")
    length = len(zrecord.open(table, version=0))
    manifest.rename(aside)
    read = JsonObject.read
    missed: list[Path] = []

    def put_back_afterwards(path: Path) -> JsonObject:
        try:
            return read(path)
        except zrecord.CorruptDataError:
            missed.append(path)
            aside.rename(manifest)
            raise

    monkeypatch.setattr(JsonObject, "read", put_back_afterwards)
    assert len(zrecord.open(table, version=0)) == length
    assert missed == [manifest]


def test_the_newest_version_is_looked_for_again_when_it_was_expired(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = table / "manifest" / f"{1:020d}.json"
    content = newest.read_bytes()
    length = len(zrecord.open(table))
    read = JsonObject.read
    looked: list[Path] = []

    def expire_first(path: Path) -> JsonObject:
        if path == newest and not looked:
            looked.append(path)
            newest.rename(newest.with_name(f"{2:020d}.json"))
            edit(newest.with_name(f"{2:020d}.json"), lambda m: m.update(version=2))
        return read(path)

    monkeypatch.setattr(JsonObject, "read", expire_first)
    dataset = zrecord.open(table)
    assert (dataset.version, len(dataset)) == (2, length)
    newest.write_bytes(content)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes of POSIX")
def test_links_and_pipes_are_not_followed(shard: Path, tmp_path: Path) -> None:
    chunk = shard / "chunk" / "0.zr"
    chunk.rename(tmp_path / "elsewhere")
    chunk.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(zrecord.ZrecordError, match=r"0.zr"):
        zrecord.open(shard)["dense"][0]
    chunk.unlink()
    os.mkfifo(chunk)
    with pytest.raises(zrecord.CorruptDataError, match="not a regular file"):
        zrecord.open(shard)["dense"][0]


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
