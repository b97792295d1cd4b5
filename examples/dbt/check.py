"""Compares the tables of the project with what they must have after a build: check.py first | second | broken | refreshed."""

import json
import sys

from pyspark.sql import SparkSession

build = sys.argv[1]
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
spark.sparkContext.setLogLevel("OFF")
spark.sql("use photos")


def rows(query: str) -> list[tuple]:
    """The rows of a query, sorted."""
    return sorted((tuple(row) for row in spark.sql(query).collect()), key=str)


def same(query: str, *expected: tuple) -> None:
    """Fails unless a query has the expected rows."""
    found = rows(query)
    assert found == sorted(expected, key=str), f"{query}: {found}"


answers = [(1, "cat", "Ann"), (2, "cat", "Bob"), (3, "wolf", "Bob"), (4, "owl", "Ann")]
labels = [(1, "cat", 2), (2, "wolf", 1), (3, "owl", 1)]
if build == "first":
    same("select answer_id, label, person from latest_answers", *answers)
    same("select * from labels", *labels)
    same("select image_id, label, dbt_valid_to from label_history", (1, "cat", None), (2, "wolf", None), (3, "owl", None))
    same("select month, answers from answers_by_month", ("2026-01", 3), ("2026-02", 1))
else:
    # One row was updated and one inserted. The rows from before the new column have no value of it, unless all were computed again.
    older = True if build == "refreshed" else None
    same(
        "select answer_id, label, sure from latest_answers",
        *[(1, "cat", older), (2, "cat", older), (3, "dog", False), (4, "owl", older), (5, "fox", True)],
    )
    assert "person" not in spark.table("latest_answers").columns
    # The table was merged into, and not made anew: its first version is there.
    same("select answer_id, label, person from latest_answers version as of 0", *answers)
    # So is that of the table which was replaced.
    same("select * from labels", (1, "cat", 2), (2, "dog", 1), (3, "owl", 1), (4, "fox", 1))
    same("select * from labels version as of 0", *labels)
    same(
        "select image_id, label, dbt_valid_to is null from label_history",
        *[(1, "cat", True), (2, "wolf", False), (2, "dog", True), (3, "owl", True), (4, "fox", True)],
    )
    same(
        """select old.label, new.label from label_history old join label_history new
           on new.image_id = old.image_id and new.dbt_valid_from = old.dbt_valid_to""",
        ("wolf", "dog"),
    )
    same("select month, answers from answers_by_month", ("2026-01", 3), ("2026-02", 2))

for table in ["images", "answers", "latest_answers", "labels", "label_history", "answers_by_month"]:
    provider = [row.data_type for row in spark.sql(f"describe extended {table}").collect() if row.col_name == "Provider"]
    assert provider == ["zrecord"], f"{table}: {provider}"
described = rows("describe extended labels")
assert ("image_id", "bigint", "The image's number") in described, described
assert ("Comment", "The last label that somebody gave to each image", "") in described, described

with open("target/run_results.json", encoding="utf-8") as file:
    results = {result["unique_id"].split(".", 2)[2]: result["status"] for result in json.load(file)["results"]}
tests = [name for name in results if name.split("_")[0] in ("unique", "not", "relationships", "is", "every")]
assert len(tests) == 9, tests
if build == "broken":
    failed = [name for name, status in results.items() if status not in ("success", "pass", "skipped")]
    assert len(failed) == 1 and failed[0].startswith("relationships_answers_image_id"), results
    assert results["labels"] == "skipped", results
else:
    assert set(results.values()) == {"success", "pass"}, results
print("as expected")
