"""Makes an archive of loaded classes, in a process of its own that ``zrecord._archive`` starts."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from zrecord._archive import ATTEMPT_SECONDS, LINKS, SUFFIX, attempt, finished, is_expired, named, takes_over

_KEPT = 4
_NICENESS = 10
# Five steps of this time end before the attempt expires.
_STEP_SECONDS = 120.0
assert 5 * _STEP_SECONDS < ATTEMPT_SECONDS


def main() -> None:
    """Makes the archive of the digest that the first argument names, for the Java whose release is the second.

    The other arguments start the command line. A signal to end also ends the Java that runs.
    """
    os.nice(_NICENESS)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda ended_by, _: sys.exit(128 + ended_by))
    make(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])


def make(digest: Path, version: int, words: Sequence[str]) -> None:
    """Makes the archive of a digest, of the classes that a conversion and a feed load.

    ``words`` start the command line with a Java of a version. The attempt goes on to count if the archive cannot be
    used, such as where a file system gives modes of its own: no other attempt begins at the next start.
    """
    remove_expired(digest.parent)
    with tempfile.TemporaryDirectory(prefix="making-", dir=digest.parent) as directory:
        scratch = Path(directory)
        lists = _lists(scratch, words)
        classes = scratch / "classes"
        classes.write_text("".join(f"{line}\n" for line in joined(lists)), encoding="utf-8")
        made = scratch / "made"
        dump = ["-XX:+AOTClassLinking"] if version >= LINKS else []
        files = [f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={made}"]
        # The last word is the class that would be run.
        run([words[0], "-Xshare:dump", *dump, *files, *words[1:-1]], scratch)
        # Fails if Java cannot use what it has made.
        needed = ["-Xshare:on", f"-XX:SharedArchiveFile={made}", "-XX:+VerifySharedSpaces"]
        run([words[0], *needed, *words[1:], "--version"], scratch)
        made.chmod(0o600)
        archive = named(digest, made.stat().st_size)
        made.replace(archive)
    if finished(digest) is None:
        archive.unlink()
        return
    attempt(digest).unlink(missing_ok=True)
    remove_unused(digest.parent)


def _lists(scratch: Path, words: Sequence[str]) -> list[Path]:
    """Converts two arrays to a table and feeds from the table. Returns the lists of the classes that each loads."""
    import numpy as np

    np.save(scratch / "a.npy", np.arange(64))
    np.save(scratch / "b.npy", np.zeros((64, 3), np.float32))
    for name in ("memory", "messages"):
        (scratch / name).touch()
    commands = {
        "conversion": ["import", "npy", "a=a.npy", "b=b.npy", "table", "--align-bytes=8"],
        "feed": ["feed", "table", "--epochs=1", "--batch-size=16", "--share=memory", "--messages=messages"],
    }
    for name, command in commands.items():
        run([words[0], f"-XX:DumpLoadedClassList={scratch / name}", *words[1:], *command], scratch)
    return [scratch / name for name in commands]


def run(words: Sequence[str], scratch: Path, seconds: float = _STEP_SECONDS) -> None:
    """Runs a command in a directory, in a group of processes that is killed when the command has ended.

    Raises ``subprocess.TimeoutExpired`` when the command takes too long, ``CalledProcessError`` when it fails.
    """
    # A feed ends when its standard input does, which is therefore kept open.
    with subprocess.Popen(words, cwd=scratch, stdin=subprocess.PIPE, start_new_session=True) as process:
        try:
            code = process.wait(seconds)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    if code:
        raise subprocess.CalledProcessError(code, words)


def joined(lists: Iterable[Path]) -> list[str]:
    """Returns the lines of several lists of classes, each line once."""
    lines: dict[str, None] = {}
    for file in lists:
        for line in file.read_text(encoding="utf-8").splitlines():
            # The numbers are those of one list. Only classes of other loaders need them.
            if not line.startswith("#") and " source: " not in line:
                lines[line.partition(" id: ")[0]] = None
    return list(lines)


def remove_unused(directory: Path) -> None:
    """Removes all archives but the few that were used last. Those of a Java that was updated go so."""
    archives = {archive: archive.lstat().st_mtime_ns for archive in directory.glob(f"*{SUFFIX}")}
    for archive in sorted(archives, key=lambda archive: archives[archive], reverse=True)[_KEPT:]:
        archive.unlink(missing_ok=True)


def remove_expired(directory: Path) -> None:
    """Removes what attempts left that were ended from outside."""
    for begun in directory.glob("*.begun"):
        with contextlib.suppress(OSError):
            if takes_over(begun):
                begun.unlink()
    for scratch in directory.glob("making-*"):
        with contextlib.suppress(OSError):
            if is_expired(scratch.lstat()):
                shutil.rmtree(scratch)
