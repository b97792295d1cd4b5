"""Care for tables: tags, expiry, sweep, rebalance and check."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from typing import Any

from zrecord._write.engine import CALL, FAILED, EngineLost, engine
from zrecord._write.failures import exception_of, lost_commit
from zrecord._write.results import Expired, Rebalanced, Swept, Verified
from zrecord._write.writer import checked_options, engine_path

_LEAST_AGE = datetime.timedelta(hours=1)
Path = str | os.PathLike[str]
Options = Mapping[str, str] | None


def _call(call: str, path: Path, options: Options, /, **arguments: Any) -> dict[str, Any]:
    where, checked = engine_path(path), checked_options(options)
    running = engine()
    with running.session() as session:
        try:
            session.send_json(CALL, {"call": call, "path": where, "storageOptions": checked, **arguments})
            answer = session.wait()
        except EngineLost as e:
            raise lost_commit(where, f"the engine has ended, with {running.process.why_it_ended()}", None) from e
    if answer.kind == FAILED:
        raise exception_of(answer.json)
    result: dict[str, Any] = answer.json
    return result


def _seconds(name: str, age: datetime.timedelta) -> int:
    if not isinstance(age, datetime.timedelta):
        raise TypeError(f"{name} is {age!r}; give a datetime.timedelta, such as timedelta(days=7)")
    if age < _LEAST_AGE:
        raise ValueError(f"{name} is {age}; it must be an hour or more: a commit or a reader that goes on may need what is younger")
    return int(age.total_seconds())


def tag(path: Path, name: str, version: int | None = None, *, engine_options: Options = None) -> int:
    """Gives a version of a table a name, which keeps it from being expired, and returns the version.

    :param name: 1 to 64 letters, digits, ``.``, ``_`` and ``-``; no number, and not ``latest``
    :param version: the newest by default

    ``Dataset.tags`` lists the tags. Repeating the call has no effect. Raises ``CommitConflictError`` if another version has the
    name.
    """
    return int(_call("tag", path, engine_options, name=name, version=version)["version"])


def untag(path: Path, name: str, *, engine_options: Options = None) -> None:
    """Removes a tag. Raises ``NotADatasetError`` if there is none of the name."""
    _call("untag", path, engine_options, name=name)


def expire(
    path: Path,
    *,
    keep: int = 1,
    older_than: datetime.timedelta = datetime.timedelta(days=7),
    dry_run: bool = False,
    engine_options: Options = None,
) -> Expired:
    """Removes old versions, except those with a tag. Their files stay until ``sweep``.

    :param keep: number of newest versions that stay
    :param older_than: versions that were the newest at any time since stay; an hour or more
    :param dry_run: only says what would be removed
    """
    seconds = _seconds("older_than", older_than)
    found = _call("expire", path, engine_options, keep=keep, olderThanSeconds=seconds, dryRun=dry_run)
    return Expired(tuple(found["expired"]), found["kept"], found["tagged"])


def sweep(
    path: Path,
    *,
    older_than: datetime.timedelta = datetime.timedelta(hours=72),
    dry_run: bool = False,
    engine_options: Options = None,
) -> Swept:
    """Deletes the files that no version names: of expired versions, and of writes whose process was killed.

    :param older_than: age below which a file stays: longer than any write takes, an hour or more
    :param dry_run: only says what would be deleted
    """
    found = _call("sweep", path, engine_options, olderThanSeconds=_seconds("older_than", older_than), dryRun=dry_run)
    return Swept(found["files"], found["bytes"], found["youngFiles"], found["youngBytes"])


def rebalance(
    path: Path,
    *,
    target_shard_bytes: int | None = None,
    min_utilization: float | None = None,
    engine_options: Options = None,
) -> Rebalanced:
    """Joins small shards, and rewrites those with many dead bytes. Each record keeps its index.

    :param target_shard_bytes: size of new shards, 1 GiB by default
    :param min_utilization: share of live bytes below which a shard is rewritten, 0.8 by default
    """
    found = _call("rebalance", path, engine_options, targetShardBytes=target_shard_bytes, minUtilization=min_utilization)
    return Rebalanced(
        found["version"], found["groups"], found["records"], found["shardsBefore"], found["shardsAfter"], tuple(found["failures"])
    )


def verify(path: Path, *, all_versions: bool = False, engine_options: Options = None) -> Verified:
    """Compares every checksum, and checks every rule of the format. Changes nothing.

    :param all_versions: whether the values of all versions are checked, and not only those of the newest
    """
    found = _call("verify", path, engine_options, allVersions=all_versions)
    return Verified(
        found["sound"],
        found["damageCount"],
        found["badValueCount"],
        found["records"],
        found["values"],
        found["bytes"],
        tuple(found["findings"]),
    )
