"""Finds the command line ``zrecord``, which is Java, and runs it. Reading needs none of this."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from zrecord import _bundle
from zrecord._java import is_file
from zrecord.errors import LauncherError

# Set for whatever this package starts, which may be this package again: through a script that looks for it, for instance.
_STARTED = "ZRECORD_STARTED"
_SCRIPT_BYTES = 1 << 20
_PICKED_UP = re.compile(r"^(?:NOTE: )?Picked up \w+:.*\n?", re.MULTILINE)


def command(terminal: bool = False) -> list[str]:
    """Returns the words that start the command line. Arguments are appended to the words.

    The first of: ``ZRECORD_COMMAND`` (words as in a shell), ``bin/zrecord`` below ``ZRECORD_HOME``, ``bin/zrecord`` of
    the repository that has this package's sources, the jar in this package, ``bin/zrecord`` of the repository from
    which this package was installed, ``zrecord`` in the ``PATH`` unless it is this package's script. A process that
    this package started takes only the sources or the jar, so that the package does not start itself for ever. With
    ``terminal``, the standard error of the command is a terminal. Raises ``LauncherError`` if there is no command.
    """
    is_started = bool(os.environ.get(_STARTED))
    named = [] if is_started else _named_by_settings()
    if named:
        return named
    sources = _repository_of_sources()
    if sources:
        return [str(sources)]
    if _bundle.is_present():
        return _bundle.command(terminal)
    if is_started:
        raise LauncherError(
            "The command that the Python package zrecord has started is this package again, which has no command line; set"
            " ZRECORD_HOME to a checkout of zrecord, or ZRECORD_COMMAND to a command that does not lead back to the package,"
            f" or unset {_STARTED} if nothing has started this process"
        )
    launchers = [*_repository_installed_from(), *_in_path()]
    if launchers:
        return [str(launchers[0])]
    raise LauncherError(
        "Cannot find the command line zrecord, which this installation does not contain; install a wheel of zrecord,"
        " or set ZRECORD_HOME to a checkout of it, or ZRECORD_COMMAND to a command"
    )


def _named_by_settings() -> list[str]:
    """Returns the words of ``ZRECORD_COMMAND`` or ``ZRECORD_HOME``: none if neither is set."""
    named = os.environ.get("ZRECORD_COMMAND", "")
    try:
        words = shlex.split(named)
    except ValueError as e:
        # Not its value, which can hold secrets.
        raise LauncherError(f"ZRECORD_COMMAND cannot be split into words: {e}; quote the words as in a shell") from e
    home = os.environ.get("ZRECORD_HOME")
    if words or not home:
        return words
    launcher = Path(home) / "bin" / "zrecord"
    if not is_file(launcher) or _is_own_script(launcher):
        raise LauncherError(
            f"ZRECORD_HOME is {home}, but there is no {launcher} of a checkout; set it to a checkout of zrecord", launcher
        )
    return [str(launcher)]


def environment() -> dict[str, str]:
    """Returns the environment of the command line."""
    variables = {**os.environ, _STARTED: "1"}
    # Java decodes names of files by the locale, and the one of a bare environment knows ASCII only.
    locale = next((variables[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if variables.get(name)), "")
    if "utf8" not in locale.lower().replace("-", ""):
        variables["LC_ALL"] = "C.UTF-8"
    return variables


def run(arguments: Sequence[str]) -> str:
    """Runs the command line and returns its output. Raises ``LauncherError`` with its message if it fails."""
    words = [*command(), *arguments]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", errors="replace", env=environment()
        )
    except OSError as e:
        raise LauncherError(f"Cannot run {words[0]}: {e}; see JAVA_HOME, ZRECORD_HOME and ZRECORD_COMMAND", words[0]) from e
    if done.returncode:
        # Other words can hold secrets, such as the value of a property of Java.
        called = shlex.join(["zrecord", *arguments])
        raise LauncherError(f"{called} failed with exit code {done.returncode}: {without_options(done.stderr)}")
    return done.stdout


def without_options(said: str) -> str:
    """Returns what a command said, without the lines in which Java tells the options that it got, which can hold secrets."""
    return _PICKED_UP.sub("", said).strip()


def _repository_of_sources() -> Path | None:
    """Returns ``bin/zrecord`` of the checkout in which this package lies, as an editable installation does."""
    package = Path(__file__).resolve().parent
    root = package.parents[2]
    launcher = root / "bin" / "zrecord"
    return launcher if package == root / "python" / "src" / "zrecord" and is_file(launcher) else None


def _repository_installed_from() -> Iterator[Path]:
    """Returns ``bin/zrecord`` of the checkout that pip recorded as the directory that it installed this package from."""
    # Few starts come here, and the module needs 20 ms to be imported.
    from importlib import metadata

    try:
        recorded = json.loads(metadata.distribution("zrecord").read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        return
    url = urlsplit(recorded.get("url", ""))
    if url.scheme == "file" and "dir_info" in recorded:
        launcher = Path(url2pathname(url.path)).parent / "bin" / "zrecord"
        if is_file(launcher):
            yield launcher


def _in_path() -> Iterator[Path]:
    """Returns each ``zrecord`` in the ``PATH`` but scripts of this package, which would look here again."""
    for directory in os.get_exec_path():
        found = Path(directory) / ("zrecord.exe" if sys.platform == "win32" else "zrecord")
        if directory and is_file(found) and os.access(found, os.X_OK) and not _is_own_script(found):
            yield found


def _is_own_script(file: Path) -> bool:
    """Tells whether a file is the script that an installer makes for ``zrecord.__main__``."""
    try:
        with file.open("rb") as script:
            return b"zrecord.__main__" in script.read(_SCRIPT_BYTES)
    except OSError:
        return False
