"""Changes of records and fields, and care, from Python."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pytest

import zrecord
from zrecord._write.engine import DONE, Answer, EngineLost, Session

pytestmark = pytest.mark.usefixtures("command_line")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table = tmp_path / "table"
    zrecord.create(table, {"x": np.arange(10, dtype=np.int32), "t": [str(i) for i in range(10)]})
    zrecord.append(table, {"x": np.arange(10, 20, dtype=np.int32), "t": [None] * 10})
    return table


def test_records_get_other_values(path: Path) -> None:
    done = zrecord.update(path, [3, 12], {"x": [-3, None], "t": ["three", "twelve"]}, version=1)
    assert (done.version, done.length, done.records) == (2, 20, 2)
    data = zrecord.open(path)
    assert (data[3], data[12]) == ({"x": -3, "t": "three"}, {"x": None, "t": "twelve"})
    assert [int(data["x"][i]) for i in range(20) if i not in (3, 12)] == [i for i in range(20) if i not in (3, 12)]


def test_records_are_deleted(path: Path) -> None:
    done = zrecord.delete(path, np.array([0, 19, 5]), version=1)
    assert (done.version, done.length, done.records) == (2, 17, 3)
    assert zrecord.open(path)["x"][:].tolist() == [i for i in range(20) if i not in (0, 5, 19)]


def test_indices_are_those_of_the_version_that_is_named(path: Path) -> None:
    zrecord.delete(path, [0], version=1)
    zrecord.update(path, [7], {"x": [700]}, version=1)
    assert zrecord.open(path)["x"][6] == 700
    with pytest.raises(zrecord.CommitConflictError):
        zrecord.update(path, [0], {"x": [1]}, version=1)
    assert zrecord.open(path).version == 3


def test_wrong_changes_are_refused(path: Path) -> None:
    with pytest.raises(IndexError, match=r"Index 20 is out of range for version 1 of .*, which has 20 records"):
        zrecord.delete(path, [3, 20], version=1)
    with pytest.raises(IndexError, match="Index -1 is out of range"):
        zrecord.update(path, [-1], {"x": [1]}, version=1)
    with pytest.raises(ValueError, match="indices name a record twice"):
        zrecord.update(path, [1, 1], {"x": [1, 2]}, version=1)
    with pytest.raises(ValueError, match="There are no indices"):
        zrecord.delete(path, [], version=1)
    with pytest.raises(ValueError, match="whole numbers"):
        zrecord.delete(path, [True, False], version=1)
    with pytest.raises(ValueError, match="Field 'x' has 1 values for 2 indices"):
        zrecord.update(path, [1, 2], {"x": [1]}, version=1)
    with pytest.raises(zrecord.SchemaMismatchError, match="Field 'y' is not in"):
        zrecord.update(path, [1], {"y": [1]}, version=1)
    with pytest.raises(zrecord.SchemaMismatchError, match="Field 'x' is i32, and value 0"):
        zrecord.update(path, [1], {"x": ["a"]}, version=1)
    with pytest.raises(zrecord.NotADatasetError, match="version 9"):
        zrecord.delete(path, [1], version=9)
    assert zrecord.open(path).version == 1


def test_a_field_is_added(path: Path) -> None:
    zrecord.delete(path, [4], version=1)
    scores = np.arange(19, dtype=np.float32)
    assert zrecord.add_field(path, "score", scores).version == 3
    parts = ([None if i % 3 else i for i in range(first, min(19, first + 7))] for first in range(0, 19, 7))
    zrecord.add_field(path, "third", parts, type="i16")
    data = zrecord.open(path)
    assert np.array_equal(data["score"][:], scores)
    assert [data["third"][i] for i in range(19)] == [None if i % 3 else i for i in range(19)]
    with pytest.raises(ValueError, match="There are 3 values of the new fields, but 19 records"):
        zrecord.add_field(path, "short", [1, 2, 3])
    with pytest.raises(ValueError, match="There are 20 or more values of the new fields, but 19 records"):
        zrecord.add_field(path, "long", list(range(20)))
    with pytest.raises(zrecord.SchemaMismatchError, match="score"):
        zrecord.add_field(path, "score", scores)
    assert zrecord.open(path).version == 4 and zrecord.verify(path).sound


def test_tags_keep_versions(path: Path) -> None:
    assert zrecord.tag(path, "first", 0) == 0
    assert zrecord.tag(path, "now") == 2, "a tag is a commit"
    assert {tag.name: tag.version for tag in zrecord.open(path).tags()} == {"first": 0, "now": 2}
    zrecord.untag(path, "now")
    assert [tag.name for tag in zrecord.open(path).tags()] == ["first"]
    with pytest.raises(zrecord.NotADatasetError):
        zrecord.untag(path, "now")
    with pytest.raises(ValueError):
        zrecord.tag(path, "no spaces")
    with pytest.raises(zrecord.CommitConflictError):
        zrecord.tag(path, "first", 1)


def test_care_says_what_it_did(path: Path) -> None:
    expired = zrecord.expire(path, older_than=datetime.timedelta(hours=1), dry_run=True)
    assert expired.versions == () and expired.kept == 2
    assert zrecord.sweep(path, dry_run=True).files == 0
    with pytest.raises(ValueError, match="older_than is 0:00:01; it must be an hour or more"):
        zrecord.sweep(path, older_than=datetime.timedelta(seconds=1))
    with pytest.raises(TypeError, match=r"give a datetime\.timedelta"):
        zrecord.expire(path, older_than=7)  # type: ignore[arg-type]
    done = zrecord.rebalance(path)
    assert (done.groups, done.records, done.shards_before, done.shards_after, done.failures) == (1, 20, 2, 1, ())
    assert zrecord.open(path).version == done.version
    assert zrecord.open(path)["x"][:].tolist() == list(range(20))


def test_a_check_finds_damage(path: Path) -> None:
    found = zrecord.verify(path)
    assert found.sound and found.records == 20 and found.values == 40 and not found.findings
    chunk = max((path / "shard").rglob("*.zr"), key=lambda file: file.stat().st_size)
    content = bytearray(chunk.read_bytes())
    content[70] ^= 1
    chunk.write_bytes(content)
    found = zrecord.verify(path)
    assert not found.sound and found.damage_count > 0 and found.findings
    with pytest.raises(zrecord.NotADatasetError):
        zrecord.verify(path / "nothing")


def test_a_lost_change_names_no_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zrecord.create(tmp_path / "t", {"x": np.arange(3)})
    wait = Session.wait

    def lose(self: Session, timeout: float | None = None) -> Answer:
        answer = wait(self, timeout)
        if answer.kind == DONE:
            raise EngineLost
        return answer

    monkeypatch.setattr(Session, "wait", lose)
    with pytest.raises(zrecord.CommitOutcomeUnknown, match="look at the newest version") as e:
        zrecord.delete(tmp_path / "t", [0], version=0)
    assert e.value.transaction is None


def test_a_text_is_no_values_of_several_records(tmp_path: Path) -> None:
    zrecord.create(tmp_path / "t", {"x": ["p", "q"]})
    with pytest.raises(ValueError, match="Field 'x' has 'ab' instead of a value for each record"):
        zrecord.update(tmp_path / "t", [0, 1], {"x": "ab"}, version=0)
