"""Archives of classes, which the first start of an installed wheel makes for later ones."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Once
from tests.test_wheel import TRAIN, built, installed, wheel
from tests.wheels import Installation, waited_for

__all__ = ["built", "installed", "wheel"]  # fixtures


def archives(caches: Path) -> list[Path]:
    return list((caches / "zrecord" / "classes").glob("*.jsa"))


def begun(caches: Path) -> list[Path]:
    return list((caches / "zrecord" / "classes").glob("*.begun"))


def classes_from_archive(installed: Installation, **more: str | Path) -> int:
    """Returns how many classes of zrecord a start takes from an archive."""
    log = installed.home / "loaded"
    done = installed.run([installed.script, "--version"], JAVA_TOOL_OPTIONS=f"-Xlog:class+load:file={log}", **more)
    assert done.returncode == 0, done.stderr
    lines = log.read_text(encoding="utf-8").splitlines()
    return sum(" io.zrecord." in line and "shared objects file" in line for line in lines)


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    return tmp_path / "caches"


@pytest.fixture
def archive(installed: Installation, caches: Path, once: Once) -> Path:
    """The archive of this test, a copy of one that was made once."""

    def make(directory: Path) -> None:
        installed.run([installed.script, "--version"], XDG_CACHE_HOME=directory)
        waited_for(lambda: archives(directory) and not begun(directory))

    made = once("archive", make)
    shutil.copytree(made, caches)
    return archives(caches)[0]


def test_first_starts_at_once_make_one_archive_which_later_starts_use(installed: Installation, caches: Path) -> None:
    environment = installed.environment({"XDG_CACHE_HOME": caches})
    starts = [
        subprocess.Popen([installed.script, "--version"], env=environment, cwd=installed.home, stdout=subprocess.DEVNULL)
        for _ in range(4)
    ]
    assert [start.wait() for start in starts] == [0] * len(starts)
    assert classes_from_archive(installed, ZRECORD_ARCHIVES="off") == 0
    assert len(begun(caches)) + len(archives(caches)) == 1
    waited_for(lambda: archives(caches) and not begun(caches))
    assert [file.suffix for file in (caches / "zrecord" / "classes").iterdir()] == [".jsa"]
    assert classes_from_archive(installed, XDG_CACHE_HOME=caches) > 10
    assert installed.python_says(TRAIN, XDG_CACHE_HOME=caches) == "[5 1 5]\n"


def test_a_damaged_archive_breaks_no_start(installed: Installation, archive: Path, caches: Path) -> None:
    whole = archive.read_bytes()
    middle = len(whole) // 2
    damaged = {
        "empty": b"",
        "half": whole[:middle],
        "flipped": whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle : middle + 4096]) + whole[middle + 4096 :],
        "another header": bytes(4096) + whole[4096:],
        "no archive": os.urandom(1 << 20),
    }
    assert classes_from_archive(installed, XDG_CACHE_HOME=caches) > 10
    for name, content in damaged.items():
        archive.write_bytes(content)
        done = installed.run([installed.script, "--version"], XDG_CACHE_HOME=caches)
        assert (done.returncode, done.stderr) == (0, ""), name
        assert done.stdout.startswith("zrecord 0."), name
        assert classes_from_archive(installed, XDG_CACHE_HOME=caches) == 0, name
        assert installed.python_says(TRAIN, XDG_CACHE_HOME=caches) == "[5 1 5]\n", name


def test_an_archive_is_for_one_java_one_jar_and_one_choice_of_options(installed: Installation, archive: Path, caches: Path) -> None:
    for more in ({"ZRECORD_JAVA_OPTIONS": "-Xmx1g"}, {"ZRECORD_CLASS_PATH": "/nowhere.jar"}):
        assert classes_from_archive(installed, XDG_CACHE_HOME=caches, **more) == 0
    assert len(begun(caches)) + len(archives(caches)) == 3
    waited_for(lambda: len(archives(caches)) == 3)


def test_an_archive_that_others_can_write_to_is_not_used(installed: Installation, archive: Path, caches: Path) -> None:
    archive.chmod(0o666)
    assert classes_from_archive(installed, XDG_CACHE_HOME=caches) == 0


def test_a_home_that_cannot_be_written_to_is_no_error(installed: Installation, tmp_path: Path) -> None:
    home = tmp_path / "read-only"
    home.mkdir()
    home.chmod(0o555)
    # The superuser may write everywhere, but for this.
    capabilities = "-dac_override,-dac_read_search,-fowner"
    weak = ["setpriv", f"--bounding-set={capabilities}", f"--inh-caps={capabilities}"] if os.geteuid() == 0 else []
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run([*weak, "touch", home / "file"], check=True, capture_output=True)
    for places in ({"HOME": home}, {"HOME": "/dev/null"}, {"XDG_CACHE_HOME": home}):
        done = installed.run([*weak, installed.script, "--version"], **places)
        assert (done.returncode, done.stderr) == (0, ""), places
    assert not list(home.iterdir())
