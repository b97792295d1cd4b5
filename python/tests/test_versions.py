"""Versions are opened by number, tag and time, and listed; paths and pickles mean the same later."""

from __future__ import annotations

import datetime
import json
import os
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests.conftest import GOLDEN
from tests.tables import edit, manifest_of
from zrecord import _launcher
from zrecord.torch import BatchSampler, Dataset

TABLE = GOLDEN / "v2" / "table"
UTC = datetime.timezone.utc
#: When version 0 was committed; each golden version is a millisecond after the one before.
FIRST = datetime.datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)
MILLI = datetime.timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("given", "version"),
    [
        ({}, 3),
        ({"version": 0}, 0),
        ({"version": np.int64(1)}, 1),
        ({"tag": "first"}, 0),
        ({"at": FIRST + MILLI}, 1),
        ({"at": FIRST + 1.9 * MILLI}, 1),
        ({"at": FIRST + datetime.timedelta(days=1)}, 3),
        ({"at": "2026-09-21T14:13:20.002Z"}, 2),
        ({"at": "2026-09-21T16:13:20.002+02:00"}, 2),
        ({"at": np.datetime64("2026-09-21T14:13:20.001999")}, 1),
        ({"at": (FIRST + 2 * MILLI).astimezone(datetime.timezone(datetime.timedelta(hours=-7)))}, 2),
    ],
    ids=str,
)
def test_a_version_is_opened_by_its_number_tag_or_time(given: dict[str, Any], version: int) -> None:
    data = zrecord.open(TABLE, **given)
    assert (data.version, len(data)) == (version, 40 if version == 0 else 120)
    assert Dataset(TABLE, ["i64"], **given).data.version == version
    if given:
        with pytest.raises(ValueError, match=r"are for a path; give them to zrecord\.open"):
            Dataset(data, **given)
    assert pickle.loads(pickle.dumps(data)).version == version


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"version": 1, "tag": "first"}, ValueError, "version=1 and tag='first' name a version each; give one of them"),
        ({"tag": "first", "at": FIRST}, ValueError, "name a version each"),
        ({"version": "first"}, TypeError, "no whole number; for a tag, give tag='first'"),
        ({"version": True}, TypeError, "no whole number"),
        ({"version": 1.0}, TypeError, "no whole number"),
        ({"version": 4}, zrecord.NotADatasetError, "the versions are 0, 1 to 3"),
        ({"tag": "last"}, zrecord.NotADatasetError, "Cannot open tag 'last' of .*: the tags are first"),
        ({"tag": 7}, TypeError, "tag is 7, which is no text"),
        ({"at": FIRST - MILLI}, zrecord.NotADatasetError, "its first version that can be read, 0, is of 2026-09-21 14:13:20"),
        ({"at": FIRST.replace(tzinfo=None)}, ValueError, "no time zone; add one"),
        ({"at": "2026-09-21"}, ValueError, "no time zone"),
        ({"at": "yesterday"}, ValueError, "at is 'yesterday', which is no time"),
        ({"at": 1790000000000}, TypeError, "give a datetime with a time zone"),
        ({"at": np.datetime64("NaT")}, TypeError, "give a datetime with a time zone"),
    ],
    ids=str,
)
def test_what_names_no_version_is_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        zrecord.open(TABLE, **given)


def test_a_store_has_no_versions() -> None:
    store = GOLDEN / "v2-stores" / "clean"
    named: list[dict[str, Any]] = [{"version": 0}, {"tag": "first"}, {"at": FIRST}]
    for given in named:
        with pytest.raises(zrecord.NotADatasetError, match="only tables have versions"):
            zrecord.open(store, **given)
    data = zrecord.open(store)
    for listing in (data.versions, data.tags):
        with pytest.raises(zrecord.NotADatasetError, match="only tables have"):
            listing()


def test_versions_and_tags_are_listed() -> None:
    data = zrecord.open(TABLE, version=1)
    versions = data.versions()
    assert [(v.number, v.operation, v.length, v.tags) for v in versions] == [
        (0, "create", 40, ("first",)),
        (1, "append", 120, ()),
        (2, "tag", 120, ()),
        (3, "expire", 120, ()),
    ]
    assert [v.time for v in versions] == [FIRST + i * MILLI for i in range(4)]
    assert versions[1].commit == data.records_commit
    assert data.tags() == [zrecord.Tag("first", 0, FIRST + 2 * MILLI)]
    assert zrecord.open(GOLDEN / "v2-carried").tags() == []


def test_the_version_of_a_time_that_was_expired_is_not_given(table: Path) -> None:
    """The floor is 2, and version 0 has a tag: at the time of version 1 neither of them was the newest."""
    edit(manifest_of(table, 3), lambda m: m.update(oldest=2))

    manifest_of(table, 1).unlink()
    assert [version.number for version in zrecord.open(table).versions()] == [0, 2, 3]
    assert zrecord.open(table, tag="first").version == 0
    assert zrecord.open(table, at=FIRST + 2 * MILLI).version == 2
    with pytest.raises(zrecord.NotADatasetError, match=r"the version of that time was expired.*give version=0, or a later time"):
        zrecord.open(table, at=FIRST + MILLI)


def test_a_manifest_that_counts_versions_without_end_costs_no_memory(table: Path) -> None:
    newest = 10**18
    shutil.copyfile(manifest_of(table, 3), manifest_of(table, newest))
    edit(manifest_of(table, newest), lambda m: m.update(version=newest, oldest=1))
    shutil.copyfile(manifest_of(table, newest), manifest_of(table, newest - 1))
    edit(manifest_of(table, newest - 1), lambda m: m.update(version=newest - 1, commit=m["previous"]))
    with pytest.raises(zrecord.ZrecordError):
        zrecord.open(table, at=FIRST)


def test_a_relative_path_means_the_directory_of_its_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TABLE, tmp_path / "here" / "train")
    shutil.copytree(GOLDEN / "v2-stores" / "clean", tmp_path / "here" / "store")
    monkeypatch.chdir(tmp_path / "here")
    data, part, store = zrecord.open("train"), zrecord.open(Path("train")).take([1]), zrecord.open("store")
    pickled = pickle.dumps((data, data["i64"], part, store))
    monkeypatch.chdir(tmp_path)
    assert data.path == tmp_path / "here" / "train" and os.fspath(store.path) == str(tmp_path / "here" / "store")
    assert len(data["i64"][:]) == 120 and len(data.versions()) == 4
    again, field, taken, store_again = pickle.loads(pickled)
    assert np.array_equal(again["i64"][:], data["i64"][:]) and np.array_equal(field[:], data["i64"][:])
    assert taken["i64"][0] == data["i64"][1] and len(store_again) == len(store)


def test_a_tag_is_found_in_a_table_behind_a_url(scripted: Any) -> None:
    data = zrecord.open("scripted://v2/table", tag="first")
    assert (data.version, len(data)) == (0, 40)
    assert zrecord.open("scripted://v2/table", at="2026-09-21T14:13:20.001Z").version == 1
    assert [version.number for version in data.versions()] == [0, 1, 2, 3]
    assert [tag.name for tag in data.tags()] == ["first"]


def sampler_of(path: Path, version: int) -> BatchSampler:
    return BatchSampler(zrecord.open(path, version=version), 8, seed=1)


def state_of(path: Path, version: int) -> dict[str, Any]:
    sampler = sampler_of(path, version)
    next(iter(sampler))
    return sampler.state_dict()


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [("v2-carried", 1, 2), ("v2-fields", 0, 1), ("v2-fields", 2, 4), ("v2-declarations", 0, 2), ("v2/table", 1, 3)],
)
def test_a_run_goes_on_after_what_leaves_each_record_its_index(name: str, before: int, after: int) -> None:
    """A rebalance, added fields, changed definitions and care."""
    sampler = sampler_of(GOLDEN / name, after)
    sampler.load_state_dict(state_of(GOLDEN / name, before))
    assert (sampler.epoch * len(zrecord.open(GOLDEN / name, version=after)) + sampler.position) > 0
    again = sampler_of(GOLDEN / name, after)
    again.load_state_dict(json.loads(json.dumps(sampler.state_dict())))
    assert next(iter(again)) == next(iter(sampler))


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("v2-carried", 0, 1),
        ("v2-carried", 1, 3),
        ("v2-fields", 1, 2),
        ("v2-index-map", 0, 1),
        ("v2/table", 0, 3),
        ("v2-carried", 2, 1),
    ],
)
def test_a_run_does_not_go_on_with_other_records(name: str, before: int, after: int) -> None:
    """An update, a rewritten field, a relayout, an append, and an earlier version."""
    sampler = sampler_of(GOLDEN / name, after)
    with pytest.raises(ValueError, match=rf"version of the records {before}, not .*: give Dataset\(path, version={before}\)"):
        sampler.load_state_dict(state_of(GOLDEN / name, before))


def test_a_run_does_not_go_on_if_a_manifest_in_between_is_gone_or_of_another_table(tmp_path: Path) -> None:
    table = Path(shutil.copytree(GOLDEN / "v2-carried", tmp_path / "table"))
    state = state_of(table, 1)
    sampler_of(table, 2).load_state_dict(state)
    forged = {**state, "datasetCommit": "00000000-0000-4000-8000-000000000000"}
    for other in (forged, {**state, "datasetCommit": "x"}):
        with pytest.raises(ValueError, match="version of the records 1, not 2"):
            sampler_of(table, 2).load_state_dict(other)
    sampler = sampler_of(table, 2)
    manifest_of(table, 1).unlink()
    with pytest.raises(ValueError, match="version of the records 1, not 2"):
        sampler.load_state_dict(state)


def test_a_run_goes_on_with_the_same_records_after_the_engine_rebalanced(command_line: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    zrecord.create(table, {"data": np.arange(1000)})
    command = _launcher.command()
    subprocess.run([*command, "delete", str(table), "5", "600"], check=True, capture_output=True)
    before = Dataset(table)
    batches = BatchSampler(before, 64, seed=1)
    running = iter(batches)
    next(running)
    state = json.loads(json.dumps(batches.state_dict()))
    subprocess.run([*command, "rebalance", str(table), "--all"], check=True, capture_output=True)
    after = Dataset(table)
    assert [version.operation for version in after.data.versions()] == ["create", "delete", "rebalance"]
    resumed = BatchSampler(after, 64, seed=1)
    resumed.load_state_dict(state)
    for indices, others in zip(running, resumed, strict=True):
        assert np.array_equal(before[indices]["data"], after[others]["data"])


def test_a_table_that_took_the_place_of_another_is_not_read_for_it(table: Path) -> None:
    data = zrecord.open(table)
    assert data.records_version is not None and data.records_commit is not None
    pickles = [pickle.dumps(each) for each in (data, data["i64"], data.take([3, 1]), data.take([3, 1])["i64"])]
    assert [len(pickle.loads(each)) for each in pickles] == [120, 120, 2, 2]
    assert data.keeps_records_of(data.records_version, data.records_commit)
    commit = "123e4567-e89b-12d3-a456-426614174000"
    for number in range(data.records_version, 4):
        edit(manifest_of(table, number), lambda members: members["records"].update(commit=commit))
    edit(manifest_of(table, data.records_version), lambda members: members.update(commit=commit))
    if data.records_version < 3:
        edit(manifest_of(table, data.records_version + 1), lambda members: members.update(previous=commit))
    assert str(zrecord.open(table, 3).records_commit) == commit
    for each in pickles:
        with pytest.raises(zrecord.NotADatasetError, match=f"and commit {commit} instead of .* and commit {data.records_commit}"):
            pickle.loads(each)
    assert not data.keeps_records_of(data.records_version, data.records_commit)
    assert not data.keeps_records_of(data.records_version, zrecord.open(table, 3).records_commit or data.records_commit)
