"""Archives of classes, which the first start of an installed wheel makes for later ones."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import Once
from tests.test_wheel import TRAIN, built, installed, wheel
from tests.wheels import Installation, waited_for
from zrecord import _archive
from zrecord._java import Java

__all__ = ["built", "installed", "wheel"]  # fixtures
JAVA = Java(Path("/java/bin/java"), 21, "vendor 21.0.1")


def is_made(directory: Path) -> bool:
    """Tells whether an archive is there, and nobody makes one."""
    return {file.suffix for file in directory.iterdir()} == {".jsa"}


def begun(archive: Path) -> Path:
    """Returns the file that says that somebody makes an archive."""
    return archive.with_name(f"{archive.name.partition('-')[0]}.begun")


def classes_from_archive(installed: Installation, archives: Path) -> int:
    """Returns how many classes of zrecord a start takes from an archive. The start says nothing of the archive."""
    log = installed.home / "loaded"
    command = "import json; from zrecord import _launcher; print(json.dumps(_launcher.command()))"
    words = json.loads(installed.python_says(command, ZRECORD_ARCHIVES=archives))
    done = installed.run([*words[:-1], f"-Xlog:class+load:file={log}", words[-1], "--version"])
    assert done.stdout.startswith("zrecord 0."), done
    assert done.stderr == ""
    lines = log.read_text(encoding="utf-8").splitlines()
    return sum(" io.zrecord." in line and "shared objects file" in line for line in lines)


@pytest.fixture
def archive(installed: Installation, once: Once, tmp_path: Path) -> Path:
    """The archive of this test, a copy of one that four first starts have made."""

    def make(directory: Path) -> None:
        environment = installed.environment({"ZRECORD_ARCHIVES": directory})
        starts = [
            subprocess.Popen([installed.script, "--version"], env=environment, cwd=installed.home, stdout=subprocess.DEVNULL)
            for _ in range(4)
        ]
        assert [start.wait() for start in starts] == [0, 0, 0, 0]
        waited_for(lambda: is_made(directory))

    (made,) = once("archives", make).iterdir()
    copy = tmp_path / "archives" / made.name
    copy.parent.mkdir()
    copy.write_bytes(made.read_bytes())
    copy.chmod(made.stat().st_mode)
    return copy


def test_first_starts_at_once_make_one_archive_which_later_starts_use(installed: Installation, archive: Path) -> None:
    assert classes_from_archive(installed, archive.parent) > 10
    assert installed.python_says(TRAIN, ZRECORD_ARCHIVES=archive.parent) == "[5 1 5]\n"
    assert list(archive.parent.iterdir()) == [archive]


def test_a_damaged_archive_breaks_no_start(installed: Installation, archive: Path) -> None:
    whole = archive.read_bytes()
    middle = len(whole) // 2
    damaged = {
        "empty": b"",
        "half": whole[:middle],
        "another header": bytes(4096) + whole[4096:],
        "no archive": os.urandom(len(whole)),
        "flipped": whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle : middle + 4096]) + whole[middle + 4096 :],
    }
    # No other archive is made meanwhile.
    begun(archive).touch()
    for name, content in damaged.items():
        archive.write_bytes(content)
        assert classes_from_archive(installed, archive.parent) == 0, name
    assert installed.python_says(TRAIN, ZRECORD_ARCHIVES=archive.parent) == "[5 1 5]\n"


def test_an_archive_that_others_can_write_to_is_not_used(installed: Installation, archive: Path) -> None:
    begun(archive).touch()
    archive.chmod(0o666)
    assert classes_from_archive(installed, archive.parent) == 0


def test_a_home_that_cannot_be_written_to_is_no_error(installed: Installation, tmp_path: Path) -> None:
    home = tmp_path / "read-only"
    home.mkdir()
    home.chmod(0o555)
    # The superuser may write everywhere, but for this.
    capabilities = "-dac_override,-dac_read_search,-fowner"
    weak = ["setpriv", f"--bounding-set={capabilities}", f"--inh-caps={capabilities}"] if os.geteuid() == 0 else []
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run([*weak, "touch", home / "file"], check=True, capture_output=True)
    for place in (home, Path("/dev/null")):
        done = installed.run([*weak, installed.script, "--version"], HOME=place, ZRECORD_ARCHIVES="")
        assert (done.returncode, done.stderr) == (0, ""), place
    assert not list(home.iterdir())


def test_one_of_many_starts_makes_an_archive(tmp_path: Path) -> None:
    digest = tmp_path / "archives" / "a"
    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(_archive._begins, [digest] * 16)) == 1
    long_ago = digest.with_suffix(".begun").stat().st_mtime - _archive._ATTEMPT_SECONDS - 1
    os.utime(digest.with_suffix(".begun"), (long_ago, long_ago))
    assert [_archive._begins(digest), _archive._begins(digest)] == [True, False]


def test_an_archive_is_for_one_java_one_jar_and_one_choice_of_options(tmp_path: Path) -> None:
    def jar(name: str, digest: str) -> Path:
        file = tmp_path / name
        file.touch()
        os.utime(file, (1, 1))
        file.with_suffix(".jar.sha256").write_text(digest, encoding="ascii")
        return file

    words = ["-Xmx1g", "-cp", "a.jar", "Main"]
    names = [
        _archive._digest(JAVA, jar("a.jar", "1"), words),
        _archive._digest(JAVA, jar("a.jar", "2"), words),
        _archive._digest(JAVA, jar("b.jar", "1"), words),
        _archive._digest(JAVA._replace(identity="vendor 21.0.2"), jar("a.jar", "1"), words),
        _archive._digest(JAVA, jar("a.jar", "1"), ["-Xmx2g", *words[1:]]),
    ]
    os.utime(jar("a.jar", "1"), (2, 2))
    names.append(_archive._digest(JAVA, tmp_path / "a.jar", words))
    assert len(set(names)) == len(names)
    assert _archive._digest(JAVA, jar("a.jar", "1"), words) == names[0]


def test_archives_are_in_the_caches_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("ZRECORD_ARCHIVES", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _archive._directory() == tmp_path / ".cache" / "zrecord" / "classes"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert _archive._directory() == tmp_path / ".cache" / "zrecord" / "classes"
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert _archive._directory() == Path("/caches/zrecord/classes")
    monkeypatch.setenv("ZRECORD_ARCHIVES", str(tmp_path / "own"))
    assert _archive._directory() == tmp_path / "own"
    monkeypatch.setenv("ZRECORD_ARCHIVES", "off")
    assert _archive._directory() is None


def test_the_newest_archives_are_kept(tmp_path: Path) -> None:
    for age in range(6):
        (tmp_path / f"{age}.jsa").touch()
        os.utime(tmp_path / f"{age}.jsa", (1000 - age, 1000 - age))
    _archive._remove_old(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0.jsa", "1.jsa", "2.jsa", "3.jsa"]


def test_lists_of_classes_are_joined_without_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("# made by a program\njava/lang/Object id: 0\nio/zrecord/A id: 7\n", encoding="utf-8")
    lambdas = "@lambda-proxy io/zrecord/A run ()Ljava/lang/Runnable;\n"
    loaded = "a/Plugin id: 9 super: 0 source: /plugin.jar\n"
    (tmp_path / "b").write_text(f"java/lang/Object id: 1\n{loaded}{lambdas}", encoding="utf-8")
    assert _archive._joined([tmp_path / "a", tmp_path / "b"]) == ["java/lang/Object", "io/zrecord/A", lambdas.strip()]


def test_programs_that_are_no_python_make_no_archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", "/opt/app/trainer")
    assert not _archive._begins(tmp_path / "a")
    monkeypatch.setattr("sys.executable", "/usr/bin/python3")
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert not _archive._begins(tmp_path / "a")
    assert not list(tmp_path.iterdir())
