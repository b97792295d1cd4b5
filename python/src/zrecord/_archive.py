"""Archives of loaded classes, with which Java starts faster.

The first start of the command line begins to make an archive in the background, later starts use the archive. An
archive fits one build of Java and one jar. Its name has a digest of these, and the number of its bytes, because Java is
killed by an archive that was cut. An archive is a convenience: where anything is unusual there is none, and no message.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from zrecord._java import Java

SUFFIX = ".jsa"
# An attempt that has not ended after this time has failed, and another one may begin.
ATTEMPT_SECONDS = 3600.0
# The first Java that archives classes with their links, and whose log calls archives by another name.
LINKS = 24
# Java may get options of its own from each of these. With those of an archive they can keep Java from starting.
_SETTINGS = ("ZRECORD_JAVA_OPTIONS", "ZRECORD_CLASS_PATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")


def options(java: Java, jar: Path, words: Sequence[str]) -> list[str]:
    """Returns the options that make Java use the archive of a jar: none while there is no archive.

    ``words`` start the command line without an archive. Never raises: a start without an archive is slower, and no error.
    """
    try:
        directory = _directory()
        if directory is None or any(os.environ.get(name) for name in _SETTINGS):
            return []
        digest = directory / _digest(java, jar)
        archive = finished(digest)
        if archive is not None:
            # Archives that were not used for longest are removed first.
            with contextlib.suppress(OSError):
                os.utime(archive)
            return _use(java, archive)
        if _begins(digest):
            _make_in_background(digest, java, words)
    except (OSError, RuntimeError):
        # Such as a home that is not known, or that cannot be written to.
        return []
    return []


def _directory() -> Path | None:
    """Returns the user's directory of archives, or ``None`` if there is to be none."""
    if os.name != "posix":
        return None
    named = os.environ.get("ZRECORD_ARCHIVES")
    if named:
        directory = None if named == "off" else Path(named).absolute()
    elif sys.platform == "darwin":
        directory = Path.home() / "Library" / "Caches" / "zrecord" / "classes"
    else:
        xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
        # The specification of these directories asks to ignore a relative one.
        directory = (xdg if xdg.is_absolute() else Path.home() / ".cache") / "zrecord" / "classes"
    # Java takes a path with a colon for the paths of two archives, and replaces signs after a "%" in some options.
    return None if directory is None or {":", "%"} & set(str(directory)) else directory


def _digest(java: Java, jar: Path) -> str:
    """Returns a name for all that an archive depends on. Java itself compares the path and the time of the jar."""
    content = jar.with_suffix(".jar.sha256").read_text(encoding="ascii").strip()
    facts = [java.identity, content, str(jar), str(jar.stat().st_mtime_ns)]
    return hashlib.sha256("\0".join(facts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def finished(digest: Path) -> Path | None:
    """Returns the archive of a digest if it is whole, and nobody else can have made it."""
    if not digest.parent.is_dir() or not _is_own(digest.parent.stat()):
        return None
    for archive in digest.parent.glob(f"{digest.name}-*{SUFFIX}"):
        status = archive.lstat()
        if stat.S_ISREG(status.st_mode) and _is_own(status) and archive == named(digest, status.st_size):
            return archive
    return None


def _is_own(status: os.stat_result) -> bool:
    """Tells whether a file belongs to this user, and nobody else can write to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def named(digest: Path, length: int) -> Path:
    """Returns the path of an archive of some bytes."""
    return digest.with_name(f"{digest.name}-{length}{SUFFIX}")


def _use(java: Java, archive: Path) -> list[str]:
    # Java compares checksums, and goes on without an archive that is damaged or does not fit, which it need not tell.
    found = ["-Xshare:auto", f"-XX:SharedArchiveFile={archive}", "-XX:+VerifySharedSpaces", "-Xlog:cds*=off:stderr"]
    return [*found, "-Xlog:aot*=off:stderr"] if java.version >= LINKS else found


def _begins(digest: Path) -> bool:
    """Tells whether this process is to make an archive: no other one has begun lately. Raises ``OSError`` if none can."""
    if not _is_python():
        return False
    digest.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_own(digest.parent.stat()):
        return False
    begun = attempt(digest)
    try:
        begun.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return takes_over(begun)
    return True


def _is_python() -> bool:
    """Tells whether another Python can be started, which is not so in a frozen or an embedding program."""
    return not getattr(sys, "frozen", False) and Path(sys.executable or "").name.lower().startswith(("python", "pypy"))


def attempt(digest: Path) -> Path:
    """Returns the file that says since when somebody makes an archive."""
    return digest.with_suffix(".begun")


def is_expired(status: os.stat_result) -> bool:
    """Tells whether a file is so old, or so far in the future, that whoever made it has ended."""
    return abs(time.time() - status.st_mtime) > ATTEMPT_SECONDS


def takes_over(begun: Path) -> bool:
    """Renews the file of an attempt that has expired. Tells whether this process, and no other one, has done so."""
    # Windows has no such module, and no archives.
    import fcntl

    with begun.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        status = os.fstat(file.fileno())
        if status.st_nlink == 0 or not is_expired(status):
            return False
        os.utime(file.fileno())
        return True


def _make_in_background(digest: Path, java: Java, words: Sequence[str]) -> None:
    # The maker finds the modules of this package first, wherever it runs.
    program = "import sys; sys.path.insert(0, sys.argv.pop(1)); from zrecord import _archiver; _archiver.main()"
    packages = Path(__file__).resolve().parent.parent
    maker = [sys.executable, "-c", program, str(packages), str(digest), str(java.version), *words]
    nothing = subprocess.DEVNULL
    # The shell ends at once, so that this process gets no child that it would have to wait for.
    shell = ["/bin/sh", "-c", '"$@" &', "sh", *maker]
    subprocess.run(shell, cwd=digest.parent, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
