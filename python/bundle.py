"""Makes an sdist with the jar of the command line, and a wheel of the sdist: ``bundle.py DIRECTORY``. See ``build``."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
_JARS = HERE.parent / "tools" / "target"
_REBUILD = "./mvnw package -pl tools -am -DskipTests -Dunit.skip=true"
# All that is in an sdist: not what editors, tools and tests may have left beside it.
_SOURCES = ("pyproject.toml", "hatch_build.py", "README.md", "src/**/*.py", "src/**/py.typed", "licenses/*.txt")
_PARTS = ("META-INF/MANIFEST.MF", "META-INF/NOTICE", "META-INF/sbom/zrecord.cdx.json")
_LICENSE = re.compile(r"META-INF/(?:[\w-]+-)?(?:LICENSE|NOTICE)(?:\.txt)?")
_APACHE = re.compile(r"^(?=[ \t]*Apache License[ \t]*$)", re.MULTILINE)
_OWN_NOTICE = "zrecord\n\nThe file java/zrecord.jar of the Python package contains the software that is named below.\n"


def only_jar(directory: Path = _JARS) -> Path:
    """Returns the jar of the command line in a directory. Raises ``ValueError`` if there is none, or more than one."""
    jars = sorted(directory.glob("zrecord-tools-*-cli.jar"))
    if len(jars) != 1:
        found = ", ".join(jar.name for jar in jars) or "none"
        raise ValueError(f"{directory} must have one jar of the command line, not {found}; remove what there is and run {_REBUILD}")
    return jars[0]


def bundle(jar: Path, out: Path) -> list[Path]:
    """Returns the sdist and the wheel, which it makes in a directory from a jar of the command line.

    Raises ``ValueError`` if the jar is of another version or was built before it had a list of its parts.
    """
    with tempfile.TemporaryDirectory(prefix="zrecord-bundle-") as directory:
        root = Path(directory) / "project"
        _stage(jar, root)
        out.mkdir(parents=True, exist_ok=True)
        sdist = out / _build(root, "sdist", out)
        with tarfile.open(sdist) as packed:
            packed.extractall(directory, filter="data")
        # Of the sdist, because that is how others make the wheel.
        wheel = out / _build(Path(directory) / sdist.name.removesuffix(".tar.gz"), "wheel", out)
    return [sdist, wheel]


def _build(root: Path, target: str, out: Path) -> str:
    program = f"import sys; from hatchling import build; print(build.build_{target}(sys.argv[1]))"
    command = [sys.executable, "-c", program, str(out.resolve())]
    return subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def _stage(jar: Path, root: Path) -> None:
    """Copies the project, with the jar and what the jar says of its parts, to a directory without a repository around."""
    _copy_sources(HERE, root)
    shutil.copy(HERE.parent / "LICENSE", root)
    java = root / "java"
    java.mkdir()
    shutil.copyfile(jar, java / "zrecord.jar")
    (java / "zrecord.jar.sha256").write_text(f"{hashlib.sha256(jar.read_bytes()).hexdigest()}\n", encoding="ascii")
    with zipfile.ZipFile(jar) as packed:
        missing = set(_PARTS) - set(packed.namelist())
        if missing:
            raise ValueError(f"{jar} has no {sorted(missing)}; build it again: {_REBUILD}")
        manifest, notice, parts = (packed.read(name).decode("utf-8") for name in _PARTS)
        licenses = {name: packed.read(name).decode("utf-8") for name in packed.namelist() if _LICENSE.fullmatch(name)}
    _check_version(jar, manifest, (HERE / "pyproject.toml").read_text(encoding="utf-8"))
    (java / "zrecord.cdx.json").write_text(_corrected(parts), encoding="utf-8")
    del licenses["META-INF/NOTICE"]
    (root / "NOTICE").write_text(f"{_OWN_NOTICE}\n{notice}", encoding="utf-8")
    merged = [licenses.pop(name) for name in ("META-INF/LICENSE", "META-INF/LICENSE.txt")]
    (root / "licenses" / "LICENSE-of-libraries.txt").write_text("\n".join(_each_once(merged)), encoding="utf-8")
    for name, text in licenses.items():
        (root / "licenses" / f"{Path(name).name}.txt").write_text(text, encoding="utf-8")


def _copy_sources(project: Path, root: Path) -> None:
    """Copies the files of an sdist."""
    for pattern in _SOURCES:
        for file in project.glob(pattern):
            copy = root / file.relative_to(project)
            if not any(part.startswith(".") for part in copy.relative_to(root).parts):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)


def _corrected(parts: str) -> str:
    """Returns a list of parts in which JLine has its license: Maven knows it as "BSD" only, and the list guesses four clauses."""
    listed = json.loads(parts)
    for part in listed["components"]:
        if part["group"] == "org.jline":
            part["licenses"] = [{"license": {"id": "BSD-3-Clause"}}]
    return f"{json.dumps(listed, indent=2, ensure_ascii=False)}\n"


def _each_once(merged: Iterable[str]) -> list[str]:
    """Returns the texts of files that dozens of libraries with one license were merged into."""
    texts = (text.strip("\n") + "\n" for file in merged for text in _APACHE.split(file))
    return list(dict.fromkeys(text for text in texts if text.strip()))


def _check_version(jar: Path, manifest: str, project: str) -> None:
    """Raises ``ValueError`` unless the jar is of the project's release, or a snapshot of it if the project is."""
    found = re.search(r"^Implementation-Version: (([\d.]+)\S*)", manifest, re.MULTILINE)
    wanted = re.search(r'^version = "(([\d.]+\d)[^"]*)"', project, re.MULTILINE)
    assert wanted
    if found is None or found[2] != wanted[2] or found[1].endswith("-SNAPSHOT") != (".dev" in wanted[1]):
        raise ValueError(
            f"{jar} is version {found and found[1]}, but pyproject.toml has {wanted[1]}; build this checkout's jar: {_REBUILD}"
        )


if __name__ == "__main__":
    try:
        for made in bundle(only_jar(), Path(sys.argv[1]).resolve()):
            print(made)
    except ValueError as e:
        sys.exit(f"bundle.py: {e}")
