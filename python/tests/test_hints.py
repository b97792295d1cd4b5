"""The newest version is found whatever the hint says, and damage that the hint shows is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import zrecord
from tests.tables import ID, NEWEST, edit, manifest_of, sealed
from zrecord._sealed import MAX_BYTES, JsonObject


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
