"""Manifests, lists and tags that are damaged or hostile are refused, and versions that are gone are named."""

from __future__ import annotations

import json
import os
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zrecord
from tests.conftest import GOLDEN
from tests.tables import ID, NEWEST, edit, manifest_of, sealed
from zrecord._sealed import MAX_BYTES, JsonObject

RAW = "11111111-1111-4111-8111-111111111111"


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
        with pytest.raises(zrecord.NotADatasetError, match="its table was dropped, or its creation was taken back; check the path"):
            zrecord.open(retracted, version=version)
    # Neither is a retraction that was cut short before version 0 was deleted.
    manifest_of(retracted, 0).write_bytes(b"any")
    for version in (None, 0):
        with pytest.raises(zrecord.NotADatasetError, match="its table was dropped, or its creation was taken back"):
            zrecord.open(retracted, version=version)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes of POSIX")
def test_a_link_is_a_manifest_that_is_refused(table: Path) -> None:
    manifest_of(table, 9).symlink_to(manifest_of(table, NEWEST))
    with pytest.raises(zrecord.ZrecordError, match=r"9.json"):
        zrecord.open(table)


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
