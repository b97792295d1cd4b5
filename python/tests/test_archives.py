"""Archives of classes, which the first start of an installed wheel makes for later ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import Once
from tests.test_wheel import TRAIN, built, installed, wheel
from tests.wheels import Installation, unprivileged, waited_for
from zrecord import _archive, _archiver
from zrecord._java import Java

__all__ = ["built", "installed", "wheel"]  # fixtures
JAVA = Java(Path("/java/bin/java"), 21, "vendor 21.0.1")
SETTINGS = ("ZRECORD_JAVA_OPTIONS", "ZRECORD_CLASS_PATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
# Lists a class, makes an archive, and takes one, as Java does.
JAVA_THAT_ARCHIVES = """#!/bin/sh
for word; do case $word in
  -Xshare:dump) dumps=yes ;;
  -XX:DumpLoadedClassList=*) echo "java/lang/Object id: 0" >"${word#*=}" ;;
  -XX:SharedArchiveFile=*) [ -z "$dumps" ] || echo archive >"${word#*=}" ;;
esac; done
"""
HOUR_AGO = time.time() - _archive.ATTEMPT_SECONDS - 1


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty directory of archives."""
    made = tmp_path / "directory"
    made.mkdir(mode=0o700)
    monkeypatch.setenv("ZRECORD_ARCHIVES", str(made))
    return made


def jar(file: Path, content: str = "1") -> Path:
    """Makes a jar of no bytes, and of a fixed time."""
    file.touch()
    os.utime(file, (1, 1))
    file.with_suffix(".jar.sha256").write_text(content, encoding="ascii")
    return file


def an_archive(directory: Path, jar: Path) -> Path:
    """Makes the archive of a jar, which is none."""
    file = directory / f"{_archive._digest(JAVA, jar)}-0.jsa"
    file.touch(mode=0o600)
    return file


def executable(file: Path, script: str) -> Path:
    file.write_text(script, encoding="utf-8")
    file.chmod(0o755)
    return file


def is_running(pid: int) -> bool:
    """Tells whether a process runs that may be no child of this one. One that nobody waits for has ended as well."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return state != "" and not state.startswith("Z")


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
    words = json.loads(installed.python_says(command, ZRECORD_ARCHIVES=archives, ZRECORD_JAVA_OPTIONS=""))
    done = installed.run([*words[:-1], f"-Xlog:class+load:file={log}", words[-1], "--version"])
    assert done.stdout.startswith("zrecord 0."), done
    assert done.stderr == ""
    lines = log.read_text(encoding="utf-8").splitlines()
    return sum(" io.zrecord." in line and "shared objects file" in line for line in lines)


@pytest.fixture
def archive(installed: Installation, once: Once, tmp_path: Path) -> Path:
    """The archive of this test, a copy of one that four first starts have made."""

    def make(directory: Path) -> None:
        archives = directory / "archives"
        environment = installed.environment({"ZRECORD_ARCHIVES": archives, "ZRECORD_JAVA_OPTIONS": ""})
        starts = [
            subprocess.Popen([installed.script, "--version"], env=environment, cwd=installed.home, stdout=subprocess.DEVNULL)
            for _ in range(4)
        ]
        assert [start.wait() for start in starts] == [0, 0, 0, 0]
        waited_for(lambda: is_made(archives))

    (made,) = (once("archives", make) / "archives").iterdir()
    copy = tmp_path / "archives" / made.name
    copy.parent.mkdir(mode=0o700)
    copy.write_bytes(made.read_bytes())
    copy.chmod(made.stat().st_mode)
    return copy


def test_first_starts_at_once_make_one_archive_which_later_starts_use(installed: Installation, archive: Path) -> None:
    assert classes_from_archive(installed, archive.parent) > 10
    assert installed.python_says(TRAIN, ZRECORD_ARCHIVES=archive.parent, ZRECORD_JAVA_OPTIONS="") == "[5 1 5]\n"
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
    assert installed.python_says(TRAIN, ZRECORD_ARCHIVES=archive.parent, ZRECORD_JAVA_OPTIONS="") == "[5 1 5]\n"


def test_an_archive_that_others_can_write_to_is_not_used(installed: Installation, archive: Path) -> None:
    begun(archive).touch()
    archive.chmod(0o666)
    assert classes_from_archive(installed, archive.parent) == 0


def test_a_home_that_cannot_be_written_to_is_no_error(installed: Installation, tmp_path: Path) -> None:
    home = tmp_path / "read-only"
    home.mkdir()
    home.chmod(0o555)
    weak = unprivileged()
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run([*weak, "touch", home / "file"], check=True, capture_output=True)
    for place in (home, Path("/dev/null")):
        done = installed.run([*weak, installed.script, "--version"], HOME=place, ZRECORD_ARCHIVES="", ZRECORD_JAVA_OPTIONS="")
        assert (done.returncode, done.stderr) == (0, ""), place
    assert not list(home.iterdir())


@pytest.mark.parametrize("setting", SETTINGS)
def test_options_of_java_mean_that_no_archive_is_made_or_used(
    monkeypatch: pytest.MonkeyPatch, directory: Path, tmp_path: Path, setting: str
) -> None:
    archive = an_archive(directory, jar(tmp_path / "a.jar"))
    assert f"-XX:SharedArchiveFile={archive}" in _archive.options(JAVA, tmp_path / "a.jar", ["false"])
    monkeypatch.setenv(setting, "-XX:AOTMode=off")
    assert _archive.options(JAVA, tmp_path / "a.jar", ["false"]) == []
    archive.unlink()
    assert _archive.options(JAVA, tmp_path / "a.jar", ["false"]) == []
    assert not list(directory.iterdir())


def test_an_option_for_archives_of_a_users_own_breaks_no_start(installed: Installation, archive: Path) -> None:
    for setting in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"):
        for option in ("-XX:SharedArchiveFile=/none", "-XX:+IgnoreUnrecognizedVMOptions -XX:AOTMode=auto"):
            settings = {"ZRECORD_ARCHIVES": archive.parent, "ZRECORD_JAVA_OPTIONS": "", setting: option}
            done = installed.run([installed.script, "--version"], **settings)
            assert done.stdout.startswith("zrecord 0."), (settings, done)


def test_a_command_of_the_maker_ends_with_all_that_it_started(tmp_path: Path) -> None:
    starts = "sleep 1000 & echo $! >child; pwd >where"
    for script, raised in ((f"{starts}; wait", subprocess.TimeoutExpired), (f"{starts}; exit 1", subprocess.CalledProcessError)):
        with pytest.raises(raised):
            _archiver.run(["sh", "-c", script], tmp_path, 1.0)
        waited_for(lambda: not is_running(int((tmp_path / "child").read_text(encoding="ascii"))))
        assert (tmp_path / "where").read_text(encoding="utf-8") == f"{tmp_path}\n"
    _archiver.run(["sh", "-c", starts], tmp_path)
    waited_for(lambda: not is_running(int((tmp_path / "child").read_text(encoding="ascii"))))


def test_a_maker_that_is_to_end_ends_its_java_and_leaves_no_scratch(directory: Path, tmp_path: Path) -> None:
    said = tmp_path / "pid"
    java = executable(tmp_path / "java", f"#!/bin/sh\necho $$ >{said}.new\nmv {said}.new {said}\nexec sleep 1000\n")
    program = "from zrecord import _archiver; _archiver.main()"
    words = [sys.executable, "-c", program, str(directory / "a"), "17", str(java), "-cp", "x", "Main"]
    with subprocess.Popen(words, cwd=Path(_archive.__file__).parents[1]) as maker:
        waited_for(said.exists)
        assert [file.name[:7] for file in directory.iterdir()] == ["making-"]
        maker.send_signal(signal.SIGTERM)
        assert maker.wait() == 128 + signal.SIGTERM
    pid = int(said.read_text(encoding="ascii"))
    waited_for(lambda: not is_running(pid))
    assert not list(directory.iterdir())


def test_an_archive_that_gets_modes_of_a_file_system_is_not_made_at_each_start(
    monkeypatch: pytest.MonkeyPatch, directory: Path, tmp_path: Path
) -> None:
    words = [str(executable(tmp_path / "java", JAVA_THAT_ARCHIVES)), "-cp", "x", "Main"]
    digest = directory / "a"
    assert _archive._begins(digest)
    _archiver.make(digest, 17, words)
    assert [file.name for file in directory.iterdir()] == ["a-8.jsa"]
    (directory / "a-8.jsa").unlink()
    assert _archive._begins(digest)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    before = os.umask(0)
    try:
        _archiver.make(digest, 17, words)
    finally:
        os.umask(before)
    assert [file.name for file in directory.iterdir()] == ["a.begun"]
    assert not _archive._begins(digest)


def test_an_archive_is_a_regular_file_of_the_user_in_a_directory_of_the_user(
    monkeypatch: pytest.MonkeyPatch, directory: Path, tmp_path: Path
) -> None:
    archive = directory / "a-0.jsa"
    archive.touch(mode=0o600)
    assert _archive.finished(directory / "a") == archive
    for mode in (0o770, 0o707):
        directory.chmod(mode)
        assert _archive.finished(directory / "a") is None
        assert not _archive._begins(directory / "b")
    directory.chmod(0o755)
    assert _archive.finished(directory / "a") == archive
    with monkeypatch.context() as somebody:
        somebody.setattr("os.geteuid", lambda: os.getuid() + 1)
        assert _archive.finished(directory / "a") is None
        assert not _archive._begins(directory / "b")
    archive.rename(tmp_path / "elsewhere")
    archive.symlink_to(tmp_path / "elsewhere")
    assert _archive.finished(directory / "a") is None


def test_one_of_many_starts_makes_an_archive(tmp_path: Path) -> None:
    digest = tmp_path / "archives" / "a"
    with ThreadPoolExecutor(16) as threads:
        for _ in range(20):
            assert sum(threads.map(_archive._begins, [digest] * 16)) == 1
            assert not _archive._begins(digest)
            assert [file.name for file in digest.parent.iterdir()] == ["a.begun"]
            os.utime(digest.with_suffix(".begun"), (HOUR_AGO, HOUR_AGO))


def test_what_ended_attempts_left_is_removed_after_an_hour(directory: Path) -> None:
    for age in ("old", "new"):
        (directory / f"making-{age}").mkdir()
        (directory / f"making-{age}" / "classes").touch()
        (directory / f"{age}.begun").touch()
    # That one cannot be removed does not keep others.
    (directory / "a.begun").mkdir()
    for old in (directory / "making-old", directory / "old.begun"):
        os.utime(old, (HOUR_AGO, HOUR_AGO))
    _archiver.remove_expired(directory)
    assert sorted(file.name for file in directory.iterdir()) == ["a.begun", "making-new", "new.begun"]


def test_an_archive_is_for_one_java_and_one_jar(tmp_path: Path) -> None:
    names = [
        _archive._digest(JAVA, jar(tmp_path / "a.jar", "1")),
        _archive._digest(JAVA, jar(tmp_path / "a.jar", "2")),
        _archive._digest(JAVA, jar(tmp_path / "b.jar", "1")),
        _archive._digest(JAVA._replace(identity="vendor 21.0.2"), jar(tmp_path / "a.jar", "1")),
    ]
    os.utime(tmp_path / "a.jar", (2, 2))
    names.append(_archive._digest(JAVA, tmp_path / "a.jar"))
    assert len(set(names)) == len(names)
    assert _archive._digest(JAVA, jar(tmp_path / "a.jar", "1")) == names[0]


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
    for unusual in ("off", "/a:b", "/100%p"):
        monkeypatch.setenv("ZRECORD_ARCHIVES", unusual)
        assert _archive._directory() is None


def test_windows_has_no_archives(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    assert _archive._directory() == directory
    with monkeypatch.context() as windows:
        windows.setattr("os.name", "nt")
        directory_there = _archive._directory()
    assert directory_there is None


def test_the_archives_that_were_used_last_are_kept(directory: Path, tmp_path: Path) -> None:
    used = an_archive(directory, jar(tmp_path / "a.jar"))
    for age in range(5):
        (directory / f"{age}.jsa").touch()
        os.utime(directory / f"{age}.jsa", (1000 - age, 1000 - age))
    os.utime(used, (0, 0))
    assert _archive.options(JAVA, tmp_path / "a.jar", ["false"])
    _archiver.remove_unused(directory)
    assert sorted(file.name for file in directory.iterdir()) == sorted(["0.jsa", "1.jsa", "2.jsa", used.name])


def test_lists_of_classes_are_joined_without_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("# made by a program\njava/lang/Object id: 0\nio/zrecord/A id: 7\n", encoding="utf-8")
    lambdas = "@lambda-proxy io/zrecord/A run ()Ljava/lang/Runnable;\n"
    loaded = "a/Plugin id: 9 super: 0 source: /plugin.jar\n"
    (tmp_path / "b").write_text(f"java/lang/Object id: 1\n{loaded}{lambdas}", encoding="utf-8")
    assert _archiver.joined([tmp_path / "a", tmp_path / "b"]) == ["java/lang/Object", "io/zrecord/A", lambdas.strip()]


def test_programs_that_are_no_python_make_no_archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", "/opt/app/trainer")
    assert not _archive._begins(tmp_path / "a")
    monkeypatch.setattr("sys.executable", "/usr/bin/python3")
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert not _archive._begins(tmp_path / "a")
    assert not list(tmp_path.iterdir())
