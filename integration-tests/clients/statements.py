"""The files of integration-tests/sql: statements, and what each of them answers. sql/README.md describes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

OF_FILE = re.compile(r"-- file (.*)")
IF = re.compile(r"-- if (.*)")
EXPECT = re.compile(r"-- expect(?: (no rows|in any order|among others|words))?(?: if (.*))?")
ERROR = re.compile(r"-- error ([A-Za-z0-9_.]+)(?: if (.*))?")
NAME = re.compile(r"\$\{([a-z_0-9]+)(:argument)?\}")
RELEASE = re.compile(r"spark (<=|<|=|>=|>) (\d+)\.(\d+)")
HOW_NAMED = ("named", "session", "path")


@dataclass(frozen=True)
class Place:
    """A release of Spark, how tables are named, and the client."""

    release: tuple[int, int]
    tables: str
    client: str

    def meets(self, condition: str | None) -> bool:
        """Tells whether a condition such as `spark >= 4.1 and not in path` holds."""
        return condition is None or all(self._meets(part.strip()) for part in condition.split(" and "))

    def _meets(self, part: str) -> bool:
        if part.startswith("not "):
            return not self._meets(part[4:])
        words = part.split(" ")
        if found := RELEASE.fullmatch(part):
            other = (int(found[2]), int(found[3]))
            return {
                "<": self.release < other,
                "<=": self.release <= other,
                "=": self.release == other,
                ">=": self.release >= other,
                ">": self.release > other,
            }[found[1]]
        if words[0] == "in" and set(words[1:]) <= set(HOW_NAMED):
            return self.tables in words[1:]
        if words[0] == "by":
            return self.client in words[1:]
        raise ValueError(f"'{part}' is no condition")


@dataclass(frozen=True)
class Outcome:
    """Rows by a mode, or an error by its name; and the lines below."""

    mode: str
    error: str | None
    condition: str | None
    lines: list[str]


@dataclass(frozen=True)
class Statement:
    """A statement of a file."""

    line: int
    text: str
    conditions: list[str]
    outcomes: list[Outcome]

    def outcome(self, place: Place) -> Outcome | None:
        """The answer that holds in a place, or None if the statement only has to succeed."""
        if not self.outcomes:
            return None
        return next(each for each in self.outcomes if place.meets(each.condition))


@dataclass(frozen=True)
class File:
    """The statements of a file."""

    name: str
    conditions: list[str]
    statements: list[Statement]

    def chosen(self, place: Place) -> list[Statement]:
        """The statements that are for a place."""
        if not all(map(place.meets, self.conditions)):
            return []
        return [each for each in self.statements if all(map(place.meets, each.conditions))]


def read(path: Path) -> File:
    """Reads a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    of_file, conditions, statements = [], [], []
    at = 0

    def block() -> list[str]:
        nonlocal at
        begin = at
        while at < len(lines) and lines[at].startswith("--   "):
            at += 1
        return [line[2:].strip() for line in lines[begin:at]]

    while at < len(lines):
        line = lines[at].strip()
        if found := OF_FILE.fullmatch(line):
            of_file.append(found[1])
            at += 1
        elif found := IF.fullmatch(line):
            conditions.append(found[1])
            at += 1
        elif not line or line.startswith("--"):
            at += 1
        else:
            begin = at
            while not lines[at].strip().endswith(";"):
                at += 1
            at += 1
            text = "\n".join(lines[begin:at]).strip()[:-1]
            outcomes = []
            while at < len(lines):
                line = lines[at].strip()
                if found := EXPECT.fullmatch(line):
                    at += 1
                    outcomes.append(Outcome(found[1] or "", None, found[2], block()))
                elif found := ERROR.fullmatch(line):
                    at += 1
                    outcomes.append(Outcome("", found[1], found[2], block()))
                else:
                    break
            statements.append(Statement(begin + 1, text, conditions, outcomes))
            conditions = []
    return File(path.name, of_file, statements)


class Names:
    """What the names in a file stand for."""

    def __init__(self, place: Place, directory: str, space: str) -> None:
        self.place = place
        self.directory = directory
        self.space = space
        self.catalog = {"named": "lake", "session": "spark_catalog", "path": "zrecord"}[place.tables]
        self.namespace = "zrecord" if place.tables == "path" else f"{self.catalog}.{space}"

    def put_in(self, text: str) -> str:
        """Puts in what names stand for."""
        return NAME.sub(self._meaning, text)

    def _meaning(self, found: re.Match[str]) -> str:
        name = found[1]
        if name in ("catalog", "namespace", "space"):
            return str(getattr(self, name))
        if found[2]:
            return f"{self.directory}/{name}" if self.place.tables == "path" else f"{self.space}.{name}"
        return f"zrecord.`{self.directory}/{name}`" if self.place.tables == "path" else f"{self.namespace}.{name}"

    def before(self) -> list[str]:
        """The statements that make the namespace."""
        if self.place.tables == "path":
            return []
        where = f" location '{self.directory}'" if self.place.tables == "session" else ""
        return [f"create namespace {self.namespace}{where}"]

    def after(self) -> list[str]:
        """The statements that drop it."""
        return [] if self.place.tables == "path" else [f"drop namespace if exists {self.namespace} cascade"]


def problem_of_rows(text: str, found: list[list[str]], outcome: Outcome, names: Names) -> str | None:
    """What is wrong with the rows of a statement, or None."""

    def shown(cell: str) -> str:
        # DESCRIBE shows a comment that is not there as NULL or as nothing, as the release and the client like.
        return "" if cell.strip() == "NULL" and text.startswith("describe") else cell.strip()

    lines = [names.put_in(line) for line in outcome.lines]
    expected = [list(map(shown, line.split("|"))) for line in lines]
    found = [list(map(shown, row)) for row in found]

    def matches(a: list[str], b: list[str]) -> bool:
        return len(a) == len(b) and all(x in ("*", y) for x, y in zip(a, b))

    if outcome.mode == "words":
        text = "\n".join(cell for row in found for cell in row)
        right = all(line in text for line in lines)
    elif outcome.mode == "among others":
        right = all(any(matches(row, other) for other in found) for row in expected)
    elif outcome.mode == "in any order":
        right = sorted(expected) == sorted(found)
    else:
        right = len(expected) == len(found) and all(map(matches, expected, found))
    if right:
        return None
    return "expected {}:\n{}\nfound:\n{}".format(outcome.mode, "\n".join(lines), "\n".join(map(" | ".join, found)))


def problem_of_error(message: str, outcome: Outcome, names: Names) -> str | None:
    """What is wrong with an error, or None."""
    words = [outcome.error or "", *map(names.put_in, outcome.lines)]
    missing = [word for word in words if word not in message]
    return f"{missing} is not in the error: {message[:2000]}" if missing else None
