"""A wheel of this checkout, installed where there is no checkout around."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import bundle
import numpy as np
import pytest

PROJECT = Path(__file__).resolve().parents[1]
_JARS = PROJECT.parent / "tools" / "target"
_HANG_SECONDS = 300.0
_OF_SHORT_PROCESSES = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def jar() -> Path:
    """Returns the jar of the command line, or skips a test."""
    if not any(_JARS.glob("zrecord-tools-*-cli.jar")):
        pytest.skip(f"there is no jar of the command line in {_JARS}; build it: ./mvnw package -pl tools -am -DskipTests")
    return bundle.only_jar()


def build(directory: Path) -> None:
    """Makes the sdist and the wheel."""
    subprocess.run([sys.executable, PROJECT / "bundle.py", directory], check=True)


def install(wheel: Path, directory: Path) -> None:
    """Makes a virtual environment with a wheel and NumPy, and nothing else."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
    python = directory / "bin" / "python"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    subprocess.run([*pip, "install", "-q", "--no-deps", "--no-index", wheel], check=True)
    packages = next((directory / "lib").glob("python*/site-packages"))
    for part in Path(np.__file__).parents[1].glob("numpy*"):
        (packages / part.name).symlink_to(part)


class Installation:
    """A virtual environment with the wheel, whose processes see nothing of the checkout and of its settings."""

    def __init__(self, directory: Path, home: Path) -> None:
        self.home = home
        self.python = directory / "bin" / "python"
        self.script = directory / "bin" / "zrecord"
        home.mkdir(parents=True, exist_ok=True)

    def environment(self, more: Mapping[str, str | Path]) -> dict[str, str]:
        """Returns variables of a process: few, with a home of its own, and those given. Makes no archives by itself."""
        kept = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}
        own = {"HOME": str(self.home), "ZRECORD_ARCHIVES": "off", "ZRECORD_JAVA_OPTIONS": _OF_SHORT_PROCESSES}
        return {**kept, **own, **{name: str(value) for name, value in more.items()}}

    def run(self, words: Sequence[str | Path], **more: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs a command in the home and returns what it said."""
        return subprocess.run(
            words,
            cwd=self.home,
            env=self.environment(more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_HANG_SECONDS,
        )

    def python_says(self, program: str, **more: str | Path) -> str:
        """Runs a program of Python and returns its output. Fails if the program does."""
        done = self.run([self.python, "-c", program], **more)
        assert done.returncode == 0, done.stderr
        return done.stdout


def waited_for(state: Callable[[], Any]) -> Any:
    """Returns what a call returns when that is true at last."""
    deadline = time.monotonic() + _HANG_SECONDS
    while not (found := state()):
        assert time.monotonic() < deadline, f"{state} is still {found}"
        time.sleep(0.05)
    return found


def unprivileged() -> list[str]:
    """Returns the words that run a command for which the modes of files hold, also if the superuser runs it."""
    capabilities = "-dac_override,-dac_read_search,-fowner"
    return ["setpriv", f"--bounding-set={capabilities}", f"--inh-caps={capabilities}"] if os.geteuid() == 0 else []


def java_script(directory: Path, said: str, code: int = 0) -> Path:
    """Makes a home of Java whose ``java`` says something and ends. Returns the home."""
    script = directory / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit {code}\n", encoding="utf-8")
    script.chmod(0o755)
    return directory
