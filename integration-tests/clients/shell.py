"""Files of statements for a shell, spark-sql or beeline: shell.py CLIENT RELEASE DIRECTORY SCRIPT [OUTPUT] FILE …

Without OUTPUT this writes the script. With OUTPUT this compares what the shell has printed, and says "passed" at the end.
"""

import re
import sys
from pathlib import Path

import statements

# What a shell says besides answers; and what beeline draws for its progress.
PROGRESS = re.compile(r"(\rnull {20,}\rnull)+\n?")
CHATTER = re.compile(r"Time taken: |\d\d/\d\d/\d\d \d\d:\d\d:\d\d (WARN|INFO|ERROR) ")

client, release, directory, script, output, *paths = sys.argv[1:]
release = tuple(map(int, release.split(".")[:2]))


def runs():
    """Each statement with its number, place, file and names; those around a file have no statement."""
    number = 0
    for path in paths:
        file = statements.read(Path(path))
        for tables in statements.HOW_NAMED:
            place = statements.Place(release, tables, client)
            chosen = file.chosen(place)
            if not chosen:
                continue
            space = "_".join([client.replace("-", "_"), file.name.removesuffix(".sql"), tables])
            names = statements.Names(place, f"{directory}/{space}", space)
            around = [(text, None) for text in names.before()]
            around += [(names.put_in(each.text), each) for each in chosen]
            around += [(text, None) for text in names.after()]
            for text, statement in around:
                number += 1
                yield number, place, file, names, text, statement


def mark(number):
    return f"statement {number} begins"


if output == "-":
    with open(script, "w", encoding="utf-8") as file:
        for number, _, _, _, text, _ in runs():
            file.write(f"select '{mark(number)}';\n{text};\n")
    sys.exit()

with open(output, encoding="utf-8", errors="replace", newline="") as file:
    lines = PROGRESS.sub("", file.read()).split("\n")
printed = [line for line in lines if not CHATTER.match(line)]
begins = {line.strip(): at for at, line in enumerate(printed) if line.strip().startswith("statement ")}


def answer(number):
    """What was printed for a statement, or None if the shell did not get there."""
    begin = begins.get(mark(number))
    if begin is None:
        return None
    return printed[begin + 1 : begins.get(mark(number + 1), len(printed))]


def is_error(lines):
    return any(line.startswith(("Error", "org.apache.spark", "java.")) or "Exception" in line for line in lines)


def problem_of(lines, outcome, names, text):
    if lines is None:
        return "the shell did not get here"
    found = "\n".join(lines)
    if outcome is not None and outcome.error is not None:
        if not any(map(str.strip, lines)):
            return f"{outcome.error} was expected, but nothing was printed"
        # A shell prints conditions of Spark. The class of an exception need not be there.
        words = f"{outcome.error} {found}" if re.search("[a-z]", outcome.error) else found
        return statements.problem_of_error(words, outcome, names)
    if is_error(lines):
        return f"failed, {found[:2000]}"
    if outcome is None:
        return None
    rows = [line.split("\t") for line in lines]
    while rows and len(rows) > len(outcome.lines) and rows[-1] == [""]:
        rows.pop()
    return statements.problem_of_rows(text, rows, outcome, names)


tried = 0
problems = []
for number, place, file, names, text, statement in runs():
    if statement is None:
        continue
    tried += 1
    problem = problem_of(answer(number), statement.outcome(place), names, text)
    if problem:
        problems.append(f"{file.name}, line {statement.line}, tables by {place.tables}: {problem}\n{text}")
print(f"{tried} statements of {len(paths)} files by {client}, {len(problems)} problems")
for problem in problems:
    print("PROBLEM", problem)
if not problems:
    print("passed")
