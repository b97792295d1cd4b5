from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wheels import java_script, unprivileged
from zrecord import __main__, _bundle, _engine, _java, _launcher, feed
from zrecord.errors import CorruptDataError, FeedError, LauncherError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZRECORD_COMMAND", raising=False)
    monkeypatch.delenv("ZRECORD_HOME", raising=False)
    monkeypatch.delenv("ZRECORD_STARTED", raising=False)


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


def test_what_this_package_starts_takes_its_own_command_line_or_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "zrecord").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "zrecord").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_launcher, "_repository_of_sources", lambda: tmp_path / "checkout")
    for name in ("ZRECORD_COMMAND", "ZRECORD_HOME"):
        monkeypatch.setenv(name, "zrecord")
    assert _launcher.command() == ["zrecord"]
    monkeypatch.setattr("os.environ", _launcher.environment())
    assert _launcher.command() == [str(tmp_path / "checkout")]
    monkeypatch.setattr(_launcher, "_repository_of_sources", lambda: None)
    monkeypatch.setattr(_bundle, "JAR", tmp_path / "none.jar")
    with pytest.raises(LauncherError, match="is this package again, which has no command line; set ZRECORD_HOME to a checkout"):
        _launcher.command()


def test_scripts_that_lead_back_to_this_package_are_started_once(tmp_path: Path) -> None:
    """A shim of pyenv in the ``PATH``, and a ``bin/zrecord`` that runs this package."""
    shim = tmp_path / "bin" / "zrecord"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\necho again\nexec {shlex.join([sys.executable, "-m", "zrecord"])} "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    # A package without a jar and without a checkout around.
    package = tmp_path / "packages" / "zrecord"
    package.parent.mkdir()
    shutil.copytree(Path(_launcher.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "java"))
    about = package.parent / "zrecord-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: zrecord\nVersion: 0\n", encoding="utf-8")
    base = {"PATH": os.environ["PATH"], "PYTHONPATH": str(package.parent)}
    for setting in ({"PATH": f"{shim.parent}:{base['PATH']}"}, {"ZRECORD_HOME": str(tmp_path)}, {"ZRECORD_COMMAND": str(shim)}):
        done = subprocess.run([shim, "--version"], env={**base, **setting}, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (3, "again\nagain\n"), done
        assert "is this package again" in done.stderr and len(done.stderr.splitlines()) == 1


def test_no_message_has_a_property_of_java(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    java = tmp_path / "java"
    options = "echo Picked up JAVA_TOOL_OPTIONS: -Dkey=secret >&2; echo NOTE: Picked up JDK_JAVA_OPTIONS: -Dkey=secret >&2"
    java.write_text(f"#!/bin/sh\n{options}\necho zrecord: broken >&2\nexit 3\n", encoding="utf-8")
    messages = []
    for mode in (0o644, 0o755):
        java.chmod(mode)
        monkeypatch.setenv("ZRECORD_COMMAND", f"{java} -Dkey=secret")
        for call in (lambda: _launcher.run(["info"]), lambda: next(feed("/data"))):
            with pytest.raises((LauncherError, FeedError)) as raised:
                call()
            messages.append(str(raised.value))
    assert messages[2] == "zrecord info failed with exit code 3: zrecord: broken"
    assert messages[3] == "The engine ended with exit code 3: broken"
    monkeypatch.setenv("ZRECORD_COMMAND", "java '-Dkey=secret")
    assert __main__.main() == 3
    messages.append(capsys.readouterr().err)
    assert "No closing quotation" in messages[-1]
    assert not [message for message in messages if "secret" in message]


def test_a_directory_that_cannot_be_searched_is_no_traceback(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    words = [*unprivileged(), sys.executable, "-c"]
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run([*words, f"import os; os.stat('{closed}/bin')"], check=True, capture_output=True)
    environment = {**os.environ, "JAVA_HOME": str(closed), "ZRECORD_HOME": str(closed)}
    for program, said in (
        ("import zrecord.__main__ as main; print(main.main())", f"zrecord: ZRECORD_HOME is {closed}, but there is no {closed}"),
        ("from zrecord import _java; print(next(_java._places())[0])", f"JAVA_HOME has no {closed}/bin/java"),
    ):
        done = subprocess.run([*words, program], env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and said in done.stdout + done.stderr, done


def test_an_error_before_there_is_a_command_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(terminal: bool) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_launcher, "command", fail)
    assert __main__.main() == 3
    assert capsys.readouterr().err.startswith("zrecord: Cannot run zrecord: Permission denied; see JAVA_HOME")


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


def test_a_checkout_with_several_jars_runs_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "bin" / "zrecord", tmp_path / "bin")
    java = java_script(tmp_path / "java", "ran")
    jars = [tmp_path / "tools" / "target" / f"zrecord-tools-{version}-cli.jar" for version in ("0.1.0", "0.2.0")]
    jars[0].parent.mkdir(parents=True)
    for jar, code, said in ((jars[0], 0, "ran\n"), (jars[1], 3, f"of other versions:\n{jars[0]}\n{jars[1]}\n")):
        jar.touch()
        environment = {**os.environ, "JAVA_HOME": str(java)}
        done = subprocess.run([tmp_path / "bin" / "zrecord"], env=environment, capture_output=True, text=True)
        assert done.returncode == code and done.stderr.endswith(said), done


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


def test_a_java_whose_file_of_its_release_does_not_suit_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def home(name: str, machine: str, code: int, mode: int = 0o755) -> _java.Java | None:
        java = java_script(tmp_path / name, 'openjdk version "17.0.1"', code)
        (java / "release").write_text(f'JAVA_VERSION="21.0.2"\nOS_ARCH="{machine}"\n', encoding="utf-8")
        (java / "bin" / "java").chmod(mode)
        return _java._identified(java / "bin" / "java")

    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    for name, machine in (("same", "arm64"), ("other name", "aarch64")):
        suits = home(name, machine, 1)
        assert suits is not None and suits.version == 21
    translated = home("translated", "x86_64", 0)
    assert translated is not None and translated.version == 17
    assert home("foreign", "x86_64", 1) is None
    assert home("not executable", "aarch64", 0, 0o644) is None


def test_a_feed_says_which_systems_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as windows, pytest.raises(LauncherError, match=r"needs a POSIX system .* this is win32; use Linux"):
        windows.setattr("os.name", "nt")
        windows.setattr("sys.platform", "win32")
        _engine.Engine([], 8, False)
