"""The versions and tags of a table, and which of them a name or a time means (FORMAT.md section 11.3)."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload
from uuid import UUID

import numpy as np

from zrecord._location import Location
from zrecord._table import CARE, Manifest, find, readable, reading, require_table
from zrecord.errors import NotADatasetError

#: A moment: text in ISO form or a datetime, both with a time zone, or ``datetime64`` in UTC.
Time = str | datetime.datetime | np.datetime64
#: Operations that leave each record its index and its values.
_KEEP_RECORDS = (*CARE, "rebalance", "addFields", "schema")
_UTC = datetime.timezone.utc


@dataclass(frozen=True)
class Tag:
    """A name of a version. The version can be read as long as the name is there."""

    name: str
    version: int
    time: datetime.datetime  #: when the tag was made, in UTC


@dataclass(frozen=True)
class Version:
    """A version of a table that can be read."""

    number: int
    time: datetime.datetime  #: when the version was committed, in UTC
    operation: str  #: what the commit did, such as ``append``
    length: int  #: the number of records
    commit: UUID
    tags: tuple[str, ...]  #: the names of the version, in order


def list_versions(path: Location) -> list[Version]:
    """Reads the versions that can be read now, from the oldest to the newest."""

    def read(newest: Manifest) -> list[Version]:
        require_table(path, newest)
        return [_version(find(path, newest, number), newest) for number in _Numbers(newest)]

    return reading(path, read)


def list_tags(path: Location) -> list[Tag]:
    """Reads the tags that a table has now, by name."""

    def read(newest: Manifest) -> list[Tag]:
        require_table(path, newest)
        return [Tag(tag.name, tag.version, _time(tag.millis)) for tag in newest.tags]

    return reading(path, read)


def tagged(path: Location, name: str) -> int:
    """Returns the version that a tag names. Raises ``NotADatasetError`` if there is no such tag."""
    if not isinstance(name, str):
        raise TypeError(f"tag is {name!r}, which is no text; give the name of a tag, or version={name!r}")
    tags = {tag.name: tag.version for tag in list_tags(path)}
    if name not in tags:
        known = f"the tags are {', '.join(tags)}" if tags else "it has no tags"
        raise NotADatasetError(f"Cannot open tag {name!r} of {path}: {known}", path)
    return tags[name]


def newest_at(path: Location, time: Time) -> int:
    """Returns the version that was the newest at a time.

    Raises ``NotADatasetError`` if that version was expired, or if the time is before all versions.
    """
    millis = _millis(time)

    def read(newest: Manifest) -> int:
        require_table(path, newest)
        numbers = _Numbers(newest)
        least, most = 0, len(numbers)  # the versions before `least` are not after the time, and those from `most` on are
        while least < most:
            middle = (least + most) // 2
            is_after = find(path, newest, numbers[middle]).millis > millis
            least, most = (least, middle) if is_after else (middle + 1, most)
        first = find(path, newest, numbers[0])
        if least == 0:
            raise NotADatasetError(
                f"Cannot open {path} at {_time(millis)}: its first version that can be read, {first.version}, is of "
                f"{_time(first.millis)}; give a later time",
                path,
            )
        found = numbers[least - 1]
        if found < newest.oldest and (least == len(numbers) or numbers[least] != found + 1):
            raise NotADatasetError(
                f"Cannot open {path} at {_time(millis)}: the version of that time was expired; the versions before it that can be "
                f"read end with {found}, which has a tag; give version={found}, or a later time",
                path,
            )
        return found

    return reading(path, read)


def keeps_records(path: Location, version: int, records: tuple[int | None, UUID | None], before: int, commit: UUID) -> bool:
    """Tells whether a version, which has these ``records``, has the same ones at the same indices as an earlier version.

    That is known if all versions from the one to the other can be read, each follows the one before, and none changed, moved,
    added or removed a record, as rebalances do not.
    """
    later = readable(path, version)
    if later is None or later.records != records:
        return False  # another table took its place
    while later is not None and later.version > before:
        if later.json.string("operation") not in _KEEP_RECORDS:
            return False
        earlier = readable(path, later.version - 1)
        if earlier is None or not later.follows(earlier):
            return False
        later = earlier
    return later is not None and later.version == before and later.commit == commit


class _Numbers(Sequence[int]):
    """The numbers of the versions that can be read, however many a manifest says there are: tagged ones, and all from the floor."""

    def __init__(self, newest: Manifest) -> None:
        self._tagged = sorted({tag.version for tag in newest.tags if tag.version < newest.oldest})
        self._retained = range(newest.oldest, newest.version + 1)

    def __len__(self) -> int:
        return len(self._tagged) + len(self._retained)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...

    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index - len(self._tagged)
        return self._tagged[index] if at < 0 else self._retained[at]


def _version(manifest: Manifest, newest: Manifest) -> Version:
    json = manifest.json
    tags = tuple(tag.name for tag in newest.tags if tag.version == manifest.version)
    operation, length = json.string("operation"), json.integer("length")
    return Version(manifest.version, _time(manifest.millis), operation, length, manifest.commit, tags)


def _time(millis: int) -> datetime.datetime:
    """Returns a moment in UTC; the last one that ``datetime`` has for those after it."""
    most = datetime.datetime.max.replace(tzinfo=_UTC)
    try:
        return datetime.datetime(1970, 1, 1, tzinfo=_UTC) + datetime.timedelta(milliseconds=millis)
    except OverflowError:
        return most


def _millis(time: object) -> int:
    """Returns Unix time, rounded down."""
    if isinstance(time, str):
        try:
            time = datetime.datetime.fromisoformat(time[:-1] + "+00:00" if time[-1:] in ("Z", "z") else time)
        except ValueError as e:
            raise ValueError(f"at is {time!r}, which is no time: {e}; give one like '2026-11-01T12:00:00+00:00'") from None
    if isinstance(time, np.datetime64) and not np.isnat(time):
        return int(time.astype("datetime64[ms]").astype(np.int64))
    if not isinstance(time, datetime.datetime):
        raise TypeError(f"at is {time!r:.60}; give a datetime with a time zone, a text in ISO form, or np.datetime64 in UTC")
    if time.tzinfo is None:
        raise ValueError(f"at is {time}, which has no time zone; add one, such as '+00:00' or tzinfo=timezone.utc")
    return (time - datetime.datetime(1970, 1, 1, tzinfo=_UTC)) // datetime.timedelta(milliseconds=1)
