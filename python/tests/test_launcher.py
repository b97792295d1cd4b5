from __future__ import annotations

from pathlib import Path

import pytest

from zrecord import _launcher
from zrecord.errors import LauncherError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZRECORD_COMMAND", raising=False)
    monkeypatch.delenv("ZRECORD_HOME", raising=False)


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
