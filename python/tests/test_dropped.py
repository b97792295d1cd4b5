"""Tables that were dropped while somebody reads them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import fsspec
import pytest

import zrecord
from tests.remotes import put
from tests.tables import ID, NEWEST, edit, manifest_of

OTHER = "2d3f0a52-91a5-4b0e-8a51-0f6d9a1c7b11"


def publish(directory: Path, version: int, **members: Any) -> None:
    """Publishes a version without shards after another one."""
    before = manifest_of(directory, version - 1)
    previous = json.loads(before.read_text(encoding="utf-8"))["commit"]
    shutil.copy(before, manifest_of(directory, version))
    nothing: dict[str, Any] = {"tags": [], "lists": [], "shards": [], "transactions": {}, "length": 0}
    own = {"version": version, "previous": previous, "oldest": version}
    records = {"records": {"version": version, "commit": members["commit"]}}
    edit(manifest_of(directory, version), lambda m: m.update(nothing | own | records | members))


def drop(table: Path) -> None:
    publish(table, NEWEST + 1, commit=ID, operation="retract")
    for version in range(NEWEST + 1):
        manifest_of(table, version).unlink(missing_ok=True)
    for directory in ("shard", "list", "tag"):
        shutil.rmtree(table / directory)


def create(table: Path) -> None:
    publish(table, NEWEST + 2, commit=OTHER, table=OTHER, operation="create")


def test_who_misses_a_file_is_told_that_the_table_was_dropped(table: Path) -> None:
    dataset = zrecord.open(table)
    drop(table)
    with pytest.raises(zrecord.CorruptDataError, match=r"it is gone, and the table at .* was dropped$"):
        dataset["zstd-3"][119]
    with pytest.raises(zrecord.NotADatasetError, match="its table was dropped"):
        zrecord.open(table)
    create(table)
    assert len(zrecord.open(table)) == 0
    told = r"may have been dropped: version 5 of .* is the first of another table; open the dataset again"
    with pytest.raises(zrecord.CorruptDataError, match=told):
        dataset["zstd-3"][119]


def test_so_it_is_with_a_remote_table(table: Path) -> None:
    memory = fsspec.filesystem("memory")
    put(memory, table, "/dropped")
    try:
        dataset = zrecord.open("memory://dropped")
        drop(table)
        memory.rm("/dropped", recursive=True)
        put(memory, table, "/dropped")
        with pytest.raises(zrecord.CorruptDataError, match="it is gone, and the table at memory://dropped was dropped"):
            dataset["zstd-3"][119]
    finally:
        memory.rm("/dropped", recursive=True)


def test_a_file_of_a_table_that_is_there_is_missing(table: Path) -> None:
    dataset = zrecord.open(table)
    shutil.rmtree(table / "shard")
    with pytest.raises(zrecord.CorruptDataError, match="the file is missing; restore it from a copy"):
        dataset["zstd-3"][119]
