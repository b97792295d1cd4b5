from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.wheels import java_script
from zrecord import _bundle, _engine, _java, _launcher, feed
from zrecord.errors import CorruptDataError, FeedError, LauncherError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZRECORD_COMMAND", raising=False)
    monkeypatch.delenv("ZRECORD_HOME", raising=False)
    monkeypatch.delenv("ZRECORD_COMMAND_STARTED", raising=False)


def test_finds_the_repository_it_was_installed_from() -> None:
    assert _launcher.command() == [str(ROOT / "bin" / "zrecord")]


def test_settings_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "zrecord").touch()
    monkeypatch.setenv("ZRECORD_HOME", str(tmp_path))
    assert _launcher.command() == [str(tmp_path / "bin" / "zrecord")]
    monkeypatch.setenv("ZRECORD_COMMAND", "java -jar 'a b.jar'")
    assert _launcher.command() == ["java", "-jar", "a b.jar"]


def test_says_where_it_looked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ZRECORD_HOME", str(tmp_path))
    with pytest.raises(LauncherError, match=r"ZRECORD_HOME is .* no .*zrecord"):
        _launcher.command()


def test_failures_carry_the_message_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZRECORD_COMMAND", "sh -c 'echo no such thing >&2; exit 3'")
    with pytest.raises(LauncherError, match="exit code 3: no such thing"):
        _launcher.run([])


def test_the_path_is_searched_last_and_never_for_the_script_of_this_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_launcher, "_repository_of_sources", lambda: None)
    monkeypatch.setattr(_launcher, "_repository_installed_from", lambda: iter(()))
    monkeypatch.setattr(_bundle, "JAR", tmp_path / "none.jar")
    for name, text in {"own": "#!/bin/sh\n'''exec' python\nfrom zrecord.__main__ import main\n", "other": "#!/bin/sh\n"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "zrecord").write_text(text, encoding="utf-8")
        (tmp_path / name / "zrecord").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'own'}:{tmp_path / 'other'}")
    assert _launcher.command() == [str(tmp_path / "other" / "zrecord")]
    monkeypatch.setenv("PATH", str(tmp_path / "own"))
    with pytest.raises(LauncherError, match="does not contain; install a wheel of zrecord"):
        _launcher.command()
    monkeypatch.setenv("ZRECORD_HOME", str(tmp_path))
    (tmp_path / "own").rename(tmp_path / "bin")
    with pytest.raises(LauncherError, match="set it to a checkout"):
        _launcher.command()


def test_a_command_that_is_this_package_again_does_not_start_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZRECORD_COMMAND", "zrecord")
    assert _launcher.command() == ["zrecord"]
    for name, value in _launcher.environment().items():
        monkeypatch.setenv(name, value)
    assert _launcher.command() == [str(ROOT / "bin" / "zrecord")]
    monkeypatch.setenv("ZRECORD_COMMAND", "another")
    assert _launcher.command() == ["another"]


def test_java_gets_a_locale_that_knows_every_name_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert _launcher.environment()["LC_ALL"] == "C.UTF-8"
    monkeypatch.setenv("LANG", "de_DE.utf8")
    assert "LC_ALL" not in _launcher.environment()
    monkeypatch.setenv("LC_CTYPE", "POSIX")
    assert _launcher.environment()["LC_ALL"] == "C.UTF-8"


def test_a_checkout_without_java_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    done = subprocess.run([ROOT / "bin" / "zrecord", "--version"], capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr.startswith(f"zrecord: Java 17 or later is needed, but there is no {tmp_path}/bin/java;")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo Error: Could not create the Java Virtual Machine. >&2; exit 1", LauncherError),
        ("echo java.lang.UnsupportedClassVersionError: io/zrecord/cli/Zrecord >&2; exit 1", LauncherError),
        ("echo exec: java: not found >&2; exit 127", LauncherError),
        ("exit 0", LauncherError),
        ("echo zrecord: Cannot read a shard >&2; exit 1", CorruptDataError),
        ("echo warning: zrecord: x >&2; echo zrecord: Cannot read a shard >&2; exit 1", CorruptDataError),
        ("echo zrecord: No such field >&2; exit 2", ValueError),
        ("echo zrecord: The disk is full >&2; exit 3", FeedError),
    ],
)
def test_an_engine_that_ends_early_is_damage_only_if_it_says_so(
    monkeypatch: pytest.MonkeyPatch, command: str, expected: type[Exception]
) -> None:
    monkeypatch.setenv("ZRECORD_COMMAND", shlex.join(["sh", "-c", command]))
    with pytest.raises(expected) as raised:
        next(feed("/data"))
    assert type(raised.value) is expected
    if expected is LauncherError:
        assert "did not start" in str(raised.value) and "ZRECORD_JAVA_OPTIONS" in str(raised.value)
    else:
        assert "zrecord: " not in str(raised.value)


@pytest.mark.parametrize(
    ("said", "version"), [('openjdk version "11.0.2"', 11), ('java version "1.8.0_292"', 8), ('x version "21-ea"', 21)]
)
def test_a_java_without_a_file_of_its_release_is_asked(tmp_path: Path, said: str, version: int) -> None:
    java = _java._identified(java_script(tmp_path / "java", said) / "bin" / "java")
    assert java is not None and java.version == version


def test_a_feed_says_which_systems_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as windows, pytest.raises(LauncherError, match=r"needs a POSIX system .* this is win32; use Linux"):
        windows.setattr("os.name", "nt")
        windows.setattr("sys.platform", "win32")
        _engine.Engine([], 8, False)
