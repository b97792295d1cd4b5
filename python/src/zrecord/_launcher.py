"""Finds the command line ``zrecord``, which is Java, and runs it. Reading needs none of this."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from zrecord.errors import LauncherError


def command() -> list[str]:
    """Returns the words that start the command line. Arguments are appended to the words.

    The first of: ``ZRECORD_COMMAND`` (words as in a shell), ``bin/zrecord`` below ``ZRECORD_HOME``, ``bin/zrecord`` of
    the repository from which this package was installed, ``zrecord`` in the ``PATH``.
    """
    words = shlex.split(os.environ.get("ZRECORD_COMMAND", ""))
    if words:
        return words
    home = os.environ.get("ZRECORD_HOME")
    if home:
        launcher = Path(home) / "bin" / "zrecord"
        if not launcher.is_file():
            raise LauncherError(f"ZRECORD_HOME is {home}, but there is no {launcher}; set it to a checkout of zrecord", launcher)
        return [str(launcher)]
    for root in _repositories():
        launcher = root / "bin" / "zrecord"
        if launcher.is_file():
            return [str(launcher)]
    found = shutil.which("zrecord")
    if found:
        return [found]
    raise LauncherError(
        "Cannot find the command line zrecord; set ZRECORD_HOME to a checkout of it, or ZRECORD_COMMAND to a command"
    )


def run(arguments: Sequence[str]) -> str:
    """Runs the command line and returns its output. Raises ``LauncherError`` with its message if it fails."""
    words = [*command(), *arguments]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8")
    except OSError as e:
        raise LauncherError(f"Cannot run {words[0]}: {e}; see ZRECORD_HOME and ZRECORD_COMMAND", words[0]) from e
    if done.returncode:
        raise LauncherError(f"{shlex.join(words)} failed with exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _repositories() -> Iterator[Path]:
    """Returns checkouts from which this package may have come: by its place (editable), and as pip recorded it."""
    yield Path(__file__).resolve().parent.parent.parent.parent
    try:
        recorded = metadata.distribution("zrecord").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return
    url = urlsplit(json.loads(recorded)["url"] if recorded else "")
    if url.scheme == "file":
        yield Path(url2pathname(url.path)).parent
