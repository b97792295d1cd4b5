"""Runs the code blocks of pages, in order, in a scratch directory, and compares outputs.

Blocks run by their language: bash, python, java, scala and sql. An indented block is bash. A block of python
that names `spark` or `df` is pyspark, and has a session `spark`. Blocks of one page share a directory,
and those of one language a session. A comment before a block says more:

    <!-- prints -->             the block is the output of the block before
    <!-- prints members -->     the output is a JSON object with the members of that of the block
    <!-- exits 3 -->            the block ends with this exit code
    <!-- file train.py -->      the block is the content of a file
    <!-- not run: REASON -->    the block is not run; the reason is printed
    <!-- page not run: REASON --> no block of the page is run
    <!-- setup bash             code that the page does not show, up to the end of the comment

In expected outputs `…` stands for any text of a line. Times are not compared. The directories /data
and /tmp of a page are directories of the scratch directory. The scratch directory looks like a
checkout, so that `bin/zrecord` and `docs/adr` are found.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "docs" / "pages"
SPARK = ROOT / "examples" / "target" / "venv-4.2.0"
LANGUAGES = ("bash", "python", "pyspark", "java", "scala", "sql")
NEEDS_SPARK = re.compile(r"\b(spark|df)\b")
# What the shell of Scala prints of a block that fails.
SCALA_ERROR = re.compile(r"^(scala> )*\s*((<\w+>:\d+: )?error:|[\w.$]+(Exception|Error)\b)", re.MULTILINE)
COMMENT = re.compile(r"<!-- (.*?) ?-->", re.DOTALL)
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?")
ANY = "…"


@dataclass
class Block:
    """A block of a page, or code of a comment."""

    line: int
    language: str
    text: str
    marks: list[str]

    def mark(self, name: str) -> str | None:
        """The text after a mark, or None if the block does not have the mark."""
        for mark in self.marks:
            if mark == name or mark.startswith((name + " ", name + ":")):
                return mark[len(name) :].lstrip(": ")
        return None


class PageError(Exception):
    """What a page says does not hold."""


def blocks_of(page: Path) -> tuple[list[str], list[Block]]:
    """The marks of a page, and its blocks in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    page_marks: list[str] = []
    blocks: list[Block] = []
    marks: list[str] = []
    i = 0
    while i < len(lines):
        line = lines[i]
        number = i + 1
        if line.startswith("<!-- "):
            text = line
            while "-->" not in text:
                i += 1
                text += "\n" + lines[i]
            match = COMMENT.match(text)
            if not match:
                raise PageError(f"{page}:{number}: no comment as docs/pages/run.py describes them")
            said = match.group(1)
            if said.startswith("page "):
                page_marks.append(said[len("page ") :])
            elif said.startswith("setup "):
                language, _, code = said[len("setup ") :].partition("\n")
                blocks.append(Block(number, language, code, []))
            else:
                marks.append(said)
        elif line.lstrip().startswith("```"):
            indent = len(line) - len(line.lstrip())
            language = line.strip().strip("`")
            code = []
            i += 1
            while not lines[i].lstrip().startswith("```"):
                code.append(lines[i][indent:])
                i += 1
            text = "\n".join(code)
            if language == "python" and NEEDS_SPARK.search(text):
                language = "pyspark"
            blocks.append(Block(number, language, text, marks))
            marks = []
        elif line.startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            code = []
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                code.append(lines[i][4:])
                i += 1
            blocks.append(Block(number, "bash", "\n".join(code).rstrip(), marks))
            marks = []
            continue
        i += 1
    return page_marks, blocks


class Session:
    """A process that runs blocks of one language. A request and an answer are a JSON object on a line."""

    def __init__(self, command: list[str], directory: Path, environment: dict[str, str]) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            command, cwd=directory, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True
        )

    def run(self, code: str, kind: str) -> tuple[bool, str]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"kind": kind, "code": code}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            self.errors.seek(0)
            raise PageError("the session ended: " + self.errors.read().decode(errors="replace")[-4000:])
        said = json.loads(answer)
        return said["ok"], said["output"]

    def close(self) -> None:
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.errors.close()


class ScalaSession(Session):
    """Spark's shell, which reads a block from a file and says when it has done so."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        options = ["--master", "local[2]", "--jars", str(connectors()[0]), "--driver-class-path", str(connectors()[0])]
        command = [str(SPARK / "bin" / "spark-shell"), *options, "--conf", "spark.ui.enabled=false"]
        super().__init__(command, directory, environment | {"TERM": "dumb"})
        self.directory = directory
        self.blocks = 0

    def run(self, code: str, kind: str) -> tuple[bool, str]:
        assert self.process.stdin and self.process.stdout
        self.blocks += 1
        name = f"tmp/block-{self.blocks}.scala"
        (self.directory / name).write_text(code + "\n", encoding="utf-8")
        end = f"end of block {self.blocks}"
        self.process.stdin.write(f':load {name}\nprintln("end of" + " block {self.blocks}")\n')
        self.process.stdin.flush()
        output = ""
        for line in self.process.stdout:
            if end in line:
                return not SCALA_ERROR.search(output), output
            output += line
        raise PageError("Spark's shell ended:\n" + output)


class PageRun:
    """One page in a scratch directory."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.page_marks, self.blocks = blocks_of(page)
        self.directory = Path(tempfile.mkdtemp(prefix="zrecord-page-"))
        for entry in ROOT.iterdir():
            if entry.name not in ("target", ".git"):
                (self.directory / entry.name).symlink_to(entry)
        for jar in connectors():
            (self.directory / jar.name).symlink_to(jar)
        for name in ("data", "tmp"):
            (self.directory / name).mkdir()
        self.environment = os.environ | {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(SPARK / "bin"), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT / "python" / "src"),
            "LC_ALL": "C.UTF-8",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYSPARK_PYTHON": str(SPARK / "bin" / "python"),
        }
        self.sessions: dict[str, Session] = {}
        self.count = Counter[str]()
        self.reasons = Counter[str]()
        self.output: str | None = None
        self.left: str | None = None  # why the block before was not run

    def __enter__(self) -> PageRun:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for session in self.sessions.values():
            session.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def run(self) -> list[str]:
        """Runs the blocks, up to the first that fails, and returns what does not hold."""
        problems = []
        for block in self.blocks:
            try:
                self.run_block(block)
            except PageError as error:
                problems.append(f"{self.page.relative_to(ROOT)}:{block.line}: {error}")
                if block.mark("prints") is None:
                    break
        return problems

    def run_block(self, block: Block) -> None:
        reason = self.reason_not_to(block)
        if reason:
            self.count["not run"] += 1
            self.reasons[reason] += 1
            self.output = None
            self.left = reason
        elif block.mark("prints") is not None:
            self.compare(block)
        elif (name := block.mark("file")) is not None:
            (self.directory / name).write_text(self.moved(block.text) + "\n", encoding="utf-8")
            self.count["files"] += 1
        else:
            self.left = None
            self.execute(block)
            self.count["ran"] += 1

    def reason_not_to(self, block: Block) -> str | None:
        for mark in self.page_marks:
            if mark.startswith("not run: "):
                return mark[len("not run: ") :]
        reason = block.mark("not run")
        if reason is not None:
            return reason
        if block.mark("prints") is not None:
            return self.left
        if block.mark("file") is not None:
            return None
        if block.language not in LANGUAGES:
            raise PageError(f"a block in the language {block.language!r}; name one of {', '.join(LANGUAGES)}, or mark the block")
        needs_spark = block.language in ("pyspark", "scala", "sql") or (block.language == "bash" and "spark-submit" in block.text)
        return spark_is_missing() if needs_spark else None

    def moved(self, text: str) -> str:
        """The text with the directories of the page in the scratch directory."""
        return re.sub(r"(?<![\w/.])/(data|tmp)\b", lambda match: f"{self.directory}/{match.group(1)}", text)

    def execute(self, block: Block) -> None:
        code = self.moved(block.text)
        if block.language == "bash":
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", code],
                cwd=self.directory,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            wanted = int(block.mark("exits") or 0)
            if done.returncode != wanted:
                raise PageError(f"exit code {done.returncode} instead of {wanted} from\n{block.text}\n{done.stdout}{done.stderr}")
            self.output = done.stdout
            return
        kind = "doctest" if block.language == "python" and block.text.startswith(">>>") else block.language
        ok, output = self.session(block.language).run(code, kind)
        self.output = output
        if not ok:
            raise PageError(f"failed:\n{block.text}\n{self.back(output)}")

    def session(self, language: str) -> Session:
        name = "pyspark" if language == "sql" else language
        if name == "scala" and name not in self.sessions:
            self.sessions[name] = ScalaSession(self.directory, self.environment)
        if name not in self.sessions:
            environment = self.environment
            if name == "java":
                jars = [str(jar) for jar in (ROOT / "tools" / "target").glob("*-cli.jar")]
                command = ["java", "-Xmx512m", "-cp", os.pathsep.join(jars), str(HERE / "JavaBlocks.java")]
            elif name == "pyspark":
                environment = environment | {"ZRECORD_CONNECTOR": str(connectors()[0])}
                command = [str(SPARK / "bin" / "python"), str(HERE / "python_blocks.py")]
            else:
                made = self.directory / "tmp" / "venv" / "bin" / "python"  # The one that a tutorial lets its reader make.
                command = [str(made if made.exists() else sys.executable), str(HERE / "python_blocks.py")]
                if made.exists():
                    environment = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
            self.sessions[name] = Session(command, self.directory, environment)
        return self.sessions[name]

    def back(self, text: str) -> str:
        return text.replace(str(self.directory), "")

    def compare(self, block: Block) -> None:
        if self.output is None:
            raise PageError("an output after no block that ran")
        if block.mark("prints") == "members":
            got, wanted = (list(json.loads("".join(text.split("\n")))) for text in (self.output, block.text))
            if got != wanted:
                raise PageError(f"the output has the members {', '.join(got)}")
            self.count["outputs"] += 1
            return
        got = [line.rstrip() for line in TIME.sub("TIME", self.back(self.output)).strip("\n").splitlines()]
        wanted = [line.rstrip() for line in TIME.sub("TIME", block.text).strip("\n").splitlines()]
        alike = len(got) == len(wanted) and all(
            re.fullmatch(".*".join(map(re.escape, line.split(ANY))), real) for line, real in zip(wanted, got)
        )
        if not alike:
            raise PageError(
                "the output is another:\n" + "\n".join(difflib.unified_diff(wanted, got, "the page", "the run", lineterm=""))
            )
        self.count["outputs"] += 1


def connectors() -> list[Path]:
    return list((ROOT / "connector" / "target").glob("zrecord-spark-*.jar"))


def spark_is_missing() -> str | None:
    if not (SPARK / "complete").exists():
        return "Spark is not here; examples/run-all --install fetches it"
    if not connectors():
        return "the connector is not built"
    return None


@dataclass
class Done:
    """What came of a page."""

    line: str
    count: Counter[str]
    reasons: Counter[str]
    problems: list[str]


def run_page(page: Path) -> Done:
    start = time.monotonic()
    with PageRun(page) as run:
        problems = run.run()
    line = (
        f"{'FAILED' if problems else 'ok    '} {page.relative_to(ROOT)}: {run.count['ran']} blocks ran, "
        f"{run.count['outputs']} outputs compared, {run.count['not run']} not run ({time.monotonic() - start:.0f} s)"
    )
    return Done(line, run.count, run.reasons, problems)


def pages_to_run() -> list[Path]:
    return [page for folder in ("tutorial", "how-to") for page in sorted((ROOT / "docs" / folder).glob("*.md"))]


def main() -> None:
    pages = [Path(name).resolve() for name in sys.argv[1:]] or pages_to_run()
    total = Counter[str]()
    reasons = Counter[str]()
    problems = []
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
        for done in threads.map(run_page, pages):
            total += done.count
            reasons += done.reasons
            problems += done.problems
            print(done.line, flush=True)
    print(f"{total['ran']} blocks ran, {total['outputs']} outputs compared, {total['not run']} not run:")
    for reason, count in reasons.most_common():
        print(f"  {count} {reason}")
    if problems:
        sys.exit("\n" + "\n\n".join(problems) + f"\n\n{len(problems)} things that pages say do not hold")


if __name__ == "__main__":
    main()
