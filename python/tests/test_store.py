"""Stores that the engine writes, meanwhile and after the death of their writer."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests.conftest import GOLDEN, Once
from zrecord import _journal, _launcher, _mounts, _shard, _store
from zrecord._binding import Binding
from zrecord._files import map_bytes

TYPES: dict[str, tuple[str, list[Any]]] = {
    "bool": ("bool", [True, False, None, True]),
    "i8": ("i8", [-128, 127, None, 0]),
    "u16": ("u16", [0, 65535, None, 1]),
    "i64": ("i64:zstd", [-(2**63), 2**63 - 1, None, 0]),
    "u64": ("u64", [0, 2**64 - 1, None, 5]),
    "f32": ("f32", [0.5, -2.0, None, 1e30]),
    "f64": ("f64:lz4", [0.1, -2.0, None, 1e300]),
    "image": ("u8:2,3", [[[1, 2, 3], [4, 5, 6]], [[0, 0, 0], [0, 0, 0]], None, [[7, 8, 9], [9, 8, 7]]]),
    "points": ("i32:-1,2:flate", [[[1, 2]], [], None, [[1, 2], [3, 4], [5, 6]]]),
    "text": ("utf8:zstd", ["", "é😀" * 100, None, "a"]),
    "lz4": ("utf8:lz4", ["x" * 1000, "b", None, ""]),
    "flate": ("bytes:flate", [b"", b"abc" * 500, None, bytes(range(256))]),
    "bytes": ("bytes", [b"", b"abc", None, bytes(1000)]),
}


def as_json(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def as_python(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def test_every_codec_and_most_types_come_back(command_line: Path, tmp_path: Path) -> None:
    """What the command line makes of JSON; the engine's own JSON is tested there."""
    store = tmp_path / "store"
    _launcher.run(["create", *(f"--field={name}:{spec}" for name, (spec, _) in TYPES.items()), str(store)])
    empty = zrecord.open(store)
    assert len(empty) == 0 and empty["image"][:].shape == (0, 2, 3) and empty["text"][:] == [] and not empty["i8"].validity().size
    with pytest.raises(IndexError, match="Index 0 is out of range"):
        empty["image"][[0]]
    lines = [json.dumps({name: as_json(values[i]) for name, (_, values) in TYPES.items()}) for i in range(4)]
    (tmp_path / "records.jsonl").write_text("\n".join(lines), encoding="utf-8")
    _launcher.run(["append", f"--jsonl={tmp_path / 'records.jsonl'}", str(store)])
    dataset = zrecord.open(store)
    assert (len(dataset), dataset.version) == (4, None)
    for name, (spec, values) in TYPES.items():
        field = dataset[name]
        assert dataset.fields[name].codec == (spec.split(":")[-1] if spec.split(":")[-1] in zrecord._schema.CODECS else "raw")
        for i, value in enumerate(values):
            wanted = float(np.float32(value)) if name == "f32" and value is not None else value
            assert as_python(field[i]) == wanted, name
            if wanted is not None:
                assert as_python(field[[3, i]][1]) == wanted, name
        assert field.validity().tolist() == [True, True, False, True]
        assert np.asarray(field).shape[0] == 4
        if isinstance(field[:], np.ndarray):
            assert not field[2:3].any()


@pytest.mark.parametrize("content", ["", ".nfs0001", "1.json"])
def test_a_directory_manifest_without_a_version_does_not_hide_a_store(tmp_path: Path, content: str) -> None:
    store = Path(shutil.copytree(GOLDEN / "v2-stores" / "clean", tmp_path / "store"))
    (store / "manifest").mkdir()
    if content:
        (store / "manifest" / content).write_text("{}")
    dataset = zrecord.open(store)
    assert (dataset.version, dataset["text"][:]) == (None, ["uno", "four", ""])


@pytest.fixture(scope="session")
def writer_command(command_line: Path, once: Once) -> list[str]:
    """The words that start a writer, before the path of its store."""
    bin_ = str(Path(os.environ["JAVA_HOME"]) / "bin") + "/" if "JAVA_HOME" in os.environ else ""
    program = Path(__file__).with_name("StoreWriter.java")

    def compile_writer(directory: Path) -> None:
        subprocess.run([f"{bin_}javac", "-cp", str(command_line), "-d", str(directory), str(program)], check=True)

    classes = once("writer", compile_writer)
    options = os.environ["ZRECORD_JAVA_OPTIONS"].split()
    return [f"{bin_}java", *options, "-cp", f"{command_line}{os.pathsep}{classes}", program.stem]


@contextmanager
def writing(command: list[str], store: Path) -> Iterator[subprocess.Popen[str]]:
    """Runs a writer, which is killed at the end."""
    process = subprocess.Popen([*command, str(store)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def writer(writer_command: list[str], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with writing(writer_command, tmp_path / "store") as process:
        yield process


@pytest.fixture
def copied(writer_command: list[str], once: Once, tmp_path: Path) -> Path:
    """A copy of a store whose writer was killed, with changes that only the journal has."""

    def write_and_kill(directory: Path) -> None:
        store = directory / "store"
        with writing(writer_command, store) as process:
            while (store / "journal").stat().st_size < 1 << 18:
                assert process.poll() is None

    return Path(shutil.copytree(once("killed", write_and_kill) / "store", tmp_path / "store"))


@pytest.fixture
def killed(copied: Path) -> Path:
    """A store whose writer was killed, and lost what tells copies, as a loss of power may do."""
    for token in copied.glob("writer-*"):
        token.write_bytes(b"")
    return copied


def test_a_copy_of_a_store_that_was_not_closed_is_recognized(copied: Path) -> None:
    with pytest.raises(zrecord.CorruptDataError, match=r"copied while a writer had the store open.*zrecord backup") as error:
        zrecord.open(copied)
    assert error.value.resource == str(copied)
    (token,) = copied.glob("writer-*")
    token.write_text(str(token.stat().st_ino), encoding="ascii")
    assert generation(copied) >= 0
    # A loss of power may leave bytes that were never written.
    token.write_bytes(b"\0\0\0\0")
    assert generation(copied) >= 0


def test_a_copy_is_not_looked_for_where_files_change_their_numbers(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_store, "keeps_file_numbers", lambda root: False)
    assert generation(copied) >= 0


def test_the_file_system_of_a_path_is_found_among_the_mounts() -> None:
    """With the texts that the engine is tested with."""
    texts = GOLDEN.parent / "mounts"
    mounts = (texts / "mountinfo").read_bytes()
    for row in json.loads((texts / "types.json").read_text(encoding="ascii")):
        assert _mounts.file_system(row["path"].encode(), mounts) == row["type"], row["path"]
    assert _mounts.file_system(b"/x", b"") == ""
    assert _mounts.file_system(b"/x", b"40 22 0:40 / /data rw - xfs /dev/sdb rw\n") == ""
    assert _mounts.file_system(b"/data/x", b"40 22 0:40 / /data rw - xfs /dev/sdb rw\n") == "xfs"
    # The first of all is mounted on itself.
    assert _mounts.file_system(b"/x", b"1 1 0:1 / / rw - ext4 /dev/sdb rw\n") == "ext4"


@pytest.mark.parametrize(("kind", "counts"), [("xfs", True), ("nfs4", False), ("fuse.ext4", False)])
def test_the_number_of_a_file_counts_by_what_is_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, counts: bool
) -> None:
    directory = tmp_path / "a b"
    directory.mkdir()
    (tmp_path / "link").symlink_to(directory)
    point = os.path.realpath(directory).replace(" ", r"\040")
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / {point} rw - {kind} source rw\n", encoding="ascii")
    monkeypatch.setattr(_mounts, "_MOUNTS", mounts)
    assert _mounts.keeps_file_numbers(directory) == counts
    assert _mounts.keeps_file_numbers(tmp_path / "link") == counts
    monkeypatch.setattr(_mounts, "_MOUNTS", tmp_path / "absent")
    assert _mounts.keeps_file_numbers(directory)


def generation(store: Path) -> int:
    """The one that all records of a store have, in both fields; each commit changes all of them."""
    dataset = zrecord.open(store)
    number, text = dataset["number"][:], dataset["text"][:]
    assert dataset["number"].validity().all()
    assert number.size == len(text) == 100 + number[0] % 7
    assert set(number.tolist()) == {int(number[0])}
    assert set(text) == {str(number[0]) * 50}
    return int(number[0])


def test_one_state_is_read_while_a_store_is_written_and_after_a_crash(writer: subprocess.Popen[str], tmp_path: Path) -> None:
    generations = [0]
    while len(set(generations)) < 30:
        assert writer.poll() is None
        generations.append(generation(tmp_path / "store"))
    assert generations == sorted(generations)
    writer.kill()
    writer.wait()
    last = generation(tmp_path / "store")
    assert last >= generations[-1]
    assert generation(tmp_path / "store") == last


def test_without_the_journal_states_are_torn(
    writer: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the test above."""
    monkeypatch.setattr(_store, "replay", lambda *_: 2**63)
    with pytest.raises((AssertionError, IndexError, zrecord.CorruptDataError)):
        while writer.poll() is None:
            generation(tmp_path / "store")
    assert writer.poll() is None


@pytest.mark.parametrize("keeps_length", [False, True])
def test_values_that_only_the_journal_has_are_found(killed: Path, monkeypatch: pytest.MonkeyPatch, keeps_length: bool) -> None:
    """As after a loss of power, which leaves of the chunks what was forced."""
    store = killed
    last = generation(store)
    carried = _store._state(store, _store._meta(store)).carried
    assert carried
    for number, parts in carried.items():
        chunk = store / "chunk" / f"{number}.zr"
        content = chunk.read_bytes()
        forced = content[: min(at for at, _ in parts)]
        chunk.write_bytes(forced.ljust(len(content), b"\0") if keeps_length else forced)
    assert generation(store) == last
    monkeypatch.setattr(_shard, "map_carried", lambda path, length, _: map_bytes(path, length))
    with pytest.raises(zrecord.CorruptDataError):
        generation(store)


def test_a_journal_below_64_bytes_is_damaged(tmp_path: Path) -> None:
    store = Path(shutil.copytree(GOLDEN / "v2-stores" / "clean", tmp_path / "store"))
    journal = (store / "journal").read_bytes()
    assert len(journal) == 64
    for length in (0, 1, 63):
        (store / "journal").write_bytes(journal[:length])
        with pytest.raises(zrecord.CorruptDataError, match="its header is damaged"):
            zrecord.open(store)


def test_a_damaged_record_of_the_journal_is_not_the_end_of_it(killed: Path) -> None:
    store = killed
    journal = store / "journal"
    content = journal.read_bytes()
    meta = zrecord._store._meta(store)
    sequence = meta.journal_sequence or 0
    binding = Binding(meta.uuid, 0)
    assert generation(store) > 0
    journal.write_bytes(content + content[64:100])  # a record that is not whole, as by a crash
    assert generation(store) > 0
    first = _journal._whole(content, 64, binding)
    assert first is not None and int(first["sequence"]) <= sequence + 1
    at = 64
    while int(first["sequence"]) <= sequence:
        at += int(first["bytes"])
        first = _journal._whole(content, at, binding)
        assert first is not None
    journal.write_bytes(content[: at + 60] + bytes([content[at + 60] ^ 1]) + content[at + 61 :])
    with pytest.raises(zrecord.CorruptDataError, match=r"journal: record \d+ at byte \d+ is damaged"):
        zrecord.open(store)
