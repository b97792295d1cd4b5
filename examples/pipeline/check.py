"""Compares the tables of the pipeline with what they must have after a run: python check.py first | second | refreshed."""

import sys

from pyspark.sql import SparkSession

run = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")


def same(query: str, *expected: tuple) -> None:
    """Fails unless a query has the expected rows."""
    found = sorted(tuple(row) for row in spark.sql(query).collect())
    assert found == sorted(expected), f"{query}: {found}"


first = [(1, 1, "cat"), (2, 1, "cat"), (3, 2, "wolf")]
both = [*first, (4, 2, "dog"), (5, 3, "owl")]
if run == "first":
    same("select * from lake.photos.answers", *first)
    same("select * from lake.photos.labels", (1, "cat", 2), (2, "wolf", 1))
else:
    same("select * from lake.photos.answers", *both)
    same("select * from lake.photos.labels", (1, "cat", 2, 1), (2, "dog", 2, 3), (3, "owl", 1, 5))
    # The first version of a table is empty, and the second one has the rows of the first run.
    same("select * from lake.photos.answers version as of 1", *first)
    same("select * from lake.photos.labels version as of 1", (1, "cat", 2), (2, "wolf", 1))
if run != "first":
    # A run adds what came to the streaming table. It empties the view, adds a column that is new, and fills it.
    answers = [("create", 0), ("append", 3), ("append", 5)]
    labels = [("create", 0), ("append", 2), ("delete", 0), ("addFields", 0), ("append", 3)]
    if run == "refreshed":
        answers += [("delete", 0), ("append", 5)]
        labels += [("delete", 0), ("append", 3)]
    same("select operation, records from lake.photos.answers.versions", *answers)
    same("select operation, records from lake.photos.labels.versions", *labels)
for table in ["answers", "labels"]:
    described = {row.col_name: row.data_type for row in spark.sql(f"describe extended lake.photos.{table}").collect()}
    assert described["Provider"] == "zrecord", described
    if table == "labels":
        assert described["Comment"] == "the last label of each image", described
spark.stop()
print("as expected")
