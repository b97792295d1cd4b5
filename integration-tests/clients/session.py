"""Runs files of statements in a session of Python: session.py CLIENT DIRECTORY FILE …

CLIENT is pyspark, or connect, whose server this process starts. Says "passed" at the end.
"""

import os
import sys
import uuid
from pathlib import Path

from pyspark.sql import SparkSession

import statements

client, directory, *paths = sys.argv[1:]
builder = SparkSession.builder
if client == "connect":
    builder = builder.remote("local[2]")
    for setting in os.environ["ZRECORD_SETTINGS"].split("\n"):
        name, value = setting.split("=", 1)
        builder = builder.config(name, value)
spark = builder.getOrCreate()
assert ("connect" in type(spark).__module__) == (client == "connect")
release = tuple(map(int, spark.version.split(".")[:2]))


def cell(value):
    """A value as other clients show it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (bytearray, list, dict, tuple)):
        return "nested or binary"  # Clients show these differently: a query casts them.
    if isinstance(value, float):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(str(value), str(value))
    return str(value)


def problem_of(text, outcome, names):
    """What is wrong with the answer of a statement, or None."""
    try:
        found = [[cell(value) for value in row] for row in spark.sql(text).collect()]
    except Exception as e:
        if outcome is None or outcome.error is None:
            return f"failed, {type(e).__name__}: {str(e)[:2000]}"
        return statements.problem_of_error(f"{type(e).__name__} {e}", outcome, names)
    if outcome is not None and outcome.error is not None:
        return f"{outcome.error} was expected, but there are rows: {found}"
    return outcome and statements.problem_of_rows(text, found, outcome, names)


tried = 0
problems = []
for path in paths:
    file = statements.read(Path(path))
    for tables in statements.HOW_NAMED:
        place = statements.Place(release, tables, client)
        space = "s" + uuid.uuid4().hex
        names = statements.Names(place, f"{directory}/{space}", space)
        chosen = file.chosen(place)
        if not chosen:
            continue
        for text in names.before():
            spark.sql(text)
        for statement in chosen:
            text = names.put_in(statement.text)
            problem = problem_of(text, statement.outcome(place), names)
            tried += 1
            if problem:
                problems.append(f"{file.name}, line {statement.line}, tables by {tables}: {problem}\n{text}")
        for text in names.after():
            spark.sql(text)
print(f"{tried} statements of {len(paths)} files by {client}, {len(problems)} problems")
for problem in problems:
    print("PROBLEM", problem)
if not problems:
    print("passed")
