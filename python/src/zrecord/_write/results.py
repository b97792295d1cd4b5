"""What a write returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Committed:
    """A commit that took effect.

    ``version`` is the version that it published, and ``length`` the number of records of that version. ``records`` is the
    number of records that were written, changed or deleted. ``transaction`` names the attempt. ``repeated`` tells that an
    earlier attempt with the same transaction had taken effect, so that nothing was written now; then ``records`` is 0.
    """

    version: int
    length: int
    records: int
    transaction: str
    repeated: bool = False


@dataclass(frozen=True)
class Expired:
    """Versions that were removed, or would be. ``kept`` versions are left, of which ``tagged`` are old but have a tag."""

    versions: tuple[int, ...]
    kept: int
    tagged: int


@dataclass(frozen=True)
class Swept:
    """Files that no version names and that were deleted, or would be, and those that are too young."""

    files: int
    bytes: int
    young_files: int
    young_bytes: int


@dataclass(frozen=True)
class Rebalanced:
    """Groups of shards that were rewritten, and why others stayed as they were. ``version`` is the newest afterwards."""

    version: int
    groups: int
    records: int
    shards_before: int
    shards_after: int
    failures: tuple[str, ...]


@dataclass(frozen=True)
class Verified:
    """The result of a check. ``findings`` has at most 1,000 of the findings, damage or not."""

    sound: bool
    damage_count: int
    bad_value_count: int
    records: int
    values: int
    bytes: int
    findings: tuple[str, ...]
