"""Archives of loaded classes, with which Java starts faster.

The first start of the command line begins to make an archive in the background, later starts use the archive. An
archive fits one build of Java, one jar and one choice of options. Its name has a digest of these, and the number of
its bytes, because Java is killed by an archive that was cut. Without a directory that can be written to there are no
archives, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from zrecord._java import Java

_SUFFIX = ".jsa"
_KEPT = 4
# An attempt that has not ended after this time has failed, and another one may begin.
_ATTEMPT_SECONDS = 3600.0
_OWN_OPTIONS = ("-Xshare", "-XX:SharedArchiveFile", "-XX:ArchiveClassesAtExit", "-XX:AOT", "-XX:+AutoCreateSharedArchive")
# The first Java that archives classes with their links, and whose log calls archives by another name.
_LINKS = 24
_NICENESS = 10


def options(java: Java, jar: Path, flags: Sequence[str], main: Sequence[str]) -> list[str]:
    """Returns the options that make Java use the archive of a jar: none while there is no archive.

    ``main`` has the class path and the class that is run, ``flags`` what Java is given besides. Never raises: a start
    without an archive is slower, and no error.
    """
    try:
        directory = _directory()
        if directory is None or any(flag.startswith(_OWN_OPTIONS) for flag in flags):
            return []
        digest = directory / _digest(java, jar, [*flags, *main])
        archive = _finished(digest)
        if archive is not None:
            return _use(java, archive)
        if _begins(digest):
            dump = ["-XX:+AOTClassLinking"] if java.version >= _LINKS else []
            _make_in_background(digest, dump, [str(java.executable), *flags, *main])
    except (OSError, RuntimeError):
        # Such as a home that is not known, or a directory of somebody else.
        return []
    return []


def _directory() -> Path | None:
    """Returns the user's directory of archives, or ``None`` if there is to be none."""
    named = os.environ.get("ZRECORD_ARCHIVES")
    if named:
        return None if named == "off" else Path(named).absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        caches = Path(local) if local else Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
        # The specification of these directories asks to ignore a relative one.
        caches = xdg if xdg.is_absolute() else Path.home() / ".cache"
    return caches / "zrecord" / "classes"


def _digest(java: Java, jar: Path, words: Iterable[str]) -> str:
    """Returns a name for all that an archive depends on. Java itself compares the path and the time of the jar."""
    content = jar.with_suffix(".jar.sha256").read_text(encoding="ascii").strip()
    facts = [java.identity, content, str(jar), str(jar.stat().st_mtime_ns), *words]
    return hashlib.sha256("\0".join(facts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _finished(digest: Path) -> Path | None:
    """Returns the archive of a digest if it is whole, and nobody else can have made it."""
    for archive in digest.parent.glob(f"{digest.name}-*{_SUFFIX}"):
        status = archive.stat()
        is_own = not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)
        if is_own and archive == _named(digest, status.st_size):
            return archive
    return None


def _named(digest: Path, length: int) -> Path:
    return digest.with_name(f"{digest.name}-{length}{_SUFFIX}")


def _use(java: Java, archive: Path) -> list[str]:
    # Java compares checksums, and goes on without an archive that is damaged or does not fit, which it need not tell.
    found = ["-Xshare:auto", f"-XX:SharedArchiveFile={archive}", "-XX:+VerifySharedSpaces", "-Xlog:cds*=off:stderr"]
    return [*found, "-Xlog:aot*=off:stderr"] if java.version >= _LINKS else found


def _begins(digest: Path) -> bool:
    """Tells whether this process is to make an archive: no other one has begun lately. Raises ``OSError`` if none can."""
    if not _is_python():
        return False
    digest.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    attempt = _attempt(digest)
    try:
        attempt.touch(exist_ok=False)
        return True
    except FileExistsError:
        if time.time() - attempt.stat().st_mtime < _ATTEMPT_SECONDS:
            return False
        attempt.touch()
        return True


def _is_python() -> bool:
    """Tells whether another Python can be started, which is not so in a frozen or an embedding program."""
    return not getattr(sys, "frozen", False) and Path(sys.executable or "").name.lower().startswith(("python", "pypy"))


def _attempt(digest: Path) -> Path:
    return digest.with_suffix(".begun")


def _make_in_background(digest: Path, dump: Sequence[str], words: Sequence[str]) -> None:
    # The first place where Python looks for modules is then that of this package.
    packages = Path(__file__).resolve().parent.parent
    maker = [sys.executable, "-m", "zrecord._archive", str(digest), shlex.join(dump), *words]
    nothing = subprocess.DEVNULL
    if os.name == "posix":
        # The shell ends at once, so that this process gets no child that it would have to wait for.
        maker = ["/bin/sh", "-c", '"$@" &', "sh", *maker]
        subprocess.run(maker, cwd=packages, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    else:
        subprocess.Popen(maker, cwd=packages, stdin=nothing, stdout=nothing, stderr=nothing)


def make(digest: Path, dump: Sequence[str], words: Sequence[str]) -> None:
    """Makes the archive of a digest, of the classes that a conversion and a feed load.

    ``dump`` has options for that alone, and ``words`` start the command line.
    """
    with tempfile.TemporaryDirectory(prefix="making-", dir=digest.parent) as directory:
        scratch = Path(directory)
        lists = [scratch / "conversion", scratch / "feed"]
        _try_out(scratch / "table", [[words[0], f"-XX:DumpLoadedClassList={file}", *words[1:]] for file in lists])
        classes = scratch / "classes"
        classes.write_text("".join(f"{line}\n" for line in _joined(lists)), encoding="utf-8")
        made = scratch / "made"
        files = [f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={made}"]
        # The last word is the class that would be run.
        subprocess.run([words[0], "-Xshare:dump", *dump, *files, *words[1:-1]], check=True, stdin=subprocess.DEVNULL)
        # Fails if Java cannot use what it has made.
        needed = ["-Xshare:on", f"-XX:SharedArchiveFile={made}", "-XX:+VerifySharedSpaces"]
        subprocess.run([words[0], *needed, *words[1:], "--version"], check=True, stdin=subprocess.DEVNULL)
        made.chmod(0o600)
        made.replace(_named(digest, made.stat().st_size))
    _attempt(digest).unlink(missing_ok=True)
    _remove_old(digest.parent)


def _try_out(table: Path, commands: Sequence[Sequence[str]]) -> None:
    """Converts an array to a table and feeds from the table, with a command line for each."""
    import numpy as np

    import zrecord

    os.environ["ZRECORD_ARCHIVES"] = "off"
    os.environ["ZRECORD_COMMAND"] = shlex.join(commands[0])
    zrecord.converter({"a": np.arange(64), "b": np.zeros((64, 3), np.float32)}, table)
    os.environ["ZRECORD_COMMAND"] = shlex.join(commands[1])
    with zrecord.feed(table, batch_size=16) as batches:
        for _ in batches:
            pass


def _joined(lists: Iterable[Path]) -> list[str]:
    """Returns the lines of several lists of classes, each line once."""
    lines: dict[str, None] = {}
    for file in lists:
        for line in file.read_text(encoding="utf-8").splitlines():
            # The numbers are those of one list. Only classes of other loaders need them.
            if not line.startswith("#") and " source: " not in line:
                lines[line.partition(" id: ")[0]] = None
    return list(lines)


def _remove_old(directory: Path) -> None:
    """Removes all archives but the newest few, such as those of a Java that was updated."""
    newest_first = sorted(directory.glob(f"*{_SUFFIX}"), key=lambda archive: archive.stat().st_mtime_ns, reverse=True)
    for archive in newest_first[_KEPT:]:
        # On Windows an archive that is used cannot be removed.
        with contextlib.suppress(OSError):
            archive.unlink()


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    make(Path(sys.argv[1]), shlex.split(sys.argv[2]), sys.argv[3:])
