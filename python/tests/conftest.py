from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import budget, feeds, wheels
from zrecord import _launcher

if TYPE_CHECKING:
    from tests.remotes import ScriptedFileSystem

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "engine" / "core" / "src" / "test" / "resources" / "golden"

#: Returns a directory that the first process of a session to ask for it fills, by its name.
Once = Callable[[str, Callable[[Path], Any]], Path]


def pytest_configure() -> None:
    # A shell that runs the tests in the background lets them ignore interrupts, and what they start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(session.config, "workerinput"):
        reporter.write_line(budget.settings())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        report.sections.append(("replay", f"replay: {budget.replay(item.nodeid)}"))
    return report


@pytest.fixture(scope="session")
def vectors() -> dict[str, Any]:
    """Values of the golden table, with which the engine is tested as well."""
    return read_vectors("v2-values.json")


def read_vectors(name: str) -> dict[str, Any]:
    """Reads values of a golden table from a file beside the table."""
    loaded: dict[str, Any] = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    return loaded


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table whose newest version is found by a list of the directory."""
    copy = Path(shutil.copytree(GOLDEN / "v2" / "table", tmp_path / "table"))
    (copy / "manifest" / "latest").unlink()
    return copy


@pytest.fixture
def unchecked(tmp_path: Path) -> Path:
    """A table of one shard without checksums of values."""
    return Path(shutil.copytree(GOLDEN / "v2" / "unchecked", tmp_path / "unchecked"))


@pytest.fixture
def entries(tmp_path: Path) -> Path:
    """A table of one shard that a store left."""
    return Path(shutil.copytree(GOLDEN / "v2" / "entries", tmp_path / "entries"))


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[ScriptedFileSystem]]:
    """A file system with the golden tables whose faults are scripted."""
    import fsspec

    from tests.remotes import BLOCKS, PATCHES, UNITS, ScriptedFileSystem, put
    from zrecord import _remote

    monkeypatch.setattr(_remote, "_PAUSE_SECONDS", 0)
    fs = fsspec.filesystem("scripted")
    for table in (UNITS, PATCHES, BLOCKS, "v2/table"):
        put(fs, GOLDEN / table, f"/{table}")
    ScriptedFileSystem.log.clear()
    yield ScriptedFileSystem
    ScriptedFileSystem.script = None
    ScriptedFileSystem.store.clear()


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """What takes long to make is made once, and not by each process of pytest-xdist."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    import fcntl

    def make_once(name: str, make: Callable[[Path], Any]) -> Path:
        made, unfinished = root / f"once-{name}", root / f"once-{name}.unfinished"
        with (root / f"once-{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                make(unfinished)
                unfinished.rename(made)
        return made

    return make_once


@pytest.fixture(scope="session")
def images() -> np.ndarray[Any, Any]:
    return budget.random().integers(0, 256, (feeds.RECORDS, 4, 3), np.uint8)


@pytest.fixture(scope="session")
def data(command_line: Path, once: Once, images: np.ndarray[Any, Any]) -> Path:
    """A dataset of 1,003 records with the fields image and label, for feeds."""
    return once("feed", lambda directory: feeds.write(directory, images)) / "data"


@pytest.fixture(scope="session")
def orders() -> dict[str, Any]:
    """The functions of the specification of orders."""
    code = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "spec" / "SAMPLERS.md").read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec("\n".join(code), names)
    return names


@pytest.fixture(scope="session")
def command_line(once: Once) -> Iterator[Path]:
    """The jar of the command line, which starts fast as long as this lasts: by one compiler, and by an archive of its classes."""

    def archive(directory: Path) -> None:
        options = f"{fast} -XX:ArchiveClassesAtExit={directory / 'classes.jsa'}"
        feed = [*_launcher.command(), "feed", str(GOLDEN / "v2-numbers"), "--batch-size=10"]
        with (directory / "log").open("wb") as log:
            # Builds the command line if nobody has.
            subprocess.run(feed, check=True, stdout=log, stderr=log, env={**os.environ, "ZRECORD_JAVA_OPTIONS": options})

    fast = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    archived = once("classes", archive) / "classes.jsa"
    with pytest.MonkeyPatch.context() as environment:
        if "ZRECORD_JAVA_OPTIONS" not in os.environ:
            environment.setenv("ZRECORD_JAVA_OPTIONS", f"{fast} -XX:SharedArchiveFile={archived}")
        yield wheels.jar()
