"""What a program of Python catches: errors.py PATH [JAR]; with a jar by Spark Connect, whose server this process starts.

Says "passed" at the end.
"""

import os
import sys
import threading
import time

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

builder = SparkSession.builder
if len(sys.argv) > 2:
    builder = (
        builder.remote("local[2]")
        .config("spark.jars", sys.argv[2])
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
spark = builder.getOrCreate()
is_connect = "connect" in type(spark).__module__
assert is_connect == (len(sys.argv) > 2)
if is_connect:
    from pyspark.errors.exceptions.connect import AnalysisException, SparkRuntimeException
else:
    from pyspark.errors.exceptions.captured import AnalysisException, SparkRuntimeException

path = sys.argv[1]
nowhere = path + "-nowhere"
name = f"zrecord.`{path}`"
spark.range(3).write.format("zrecord").save(path)


def read(of, **options):
    # The client of Connect asks the server for the columns, or for the rows.
    return spark.read.format("zrecord").options(**options).load(of).collect()


def append(data, to=path):
    data.write.format("zrecord").mode("append").save(to)


# By condition and SQL state: what the message says can be done, or what there is, and the action.
expected = {
    ("PATH_NOT_FOUND", "42K03"): [
        ("Check the path", lambda: read(nowhere)),
        ("Check the pattern", lambda: read(nowhere + "*")),
        ("Check the path", lambda: read(nowhere, versionAsOf=0)),
        ("Check the path", lambda: read(nowhere, view="shards")),
        ("Check the path", lambda: spark.sql(f"select * from zrecord.`{nowhere}`").collect()),
        ("Check the path", lambda: spark.table(f"zrecord.`{nowhere}`").collect()),
    ],
    ("TABLE_OR_VIEW_NOT_FOUND", "42P01"): [
        ("versions are 0", lambda: read(path, versionAsOf=7)),
        ("has no tags", lambda: read(path, tag="release")),
        ("versions are 0", lambda: read(path, timestampAsOf="2001-01-01")),
        ("versions are 0", lambda: spark.sql(f"select * from {name} version as of 7").collect()),
        ("has no tags", lambda: spark.sql(f"select * from {name} version as of 'release'").collect()),
        ("versions are 0", lambda: spark.sql(f"select * from {name} timestamp as of '2001-01-01'").collect()),
        ("has no tags", lambda: spark.read.option("tag", "release").table(name).collect()),
    ],
    ("INCOMPATIBLE_DATA_FOR_TABLE", "KD000"): [
        ("mergeSchema=true", lambda: append(spark.range(3).selectExpr("cast(id as string) id", "1 more"))),
        ("leave it out", lambda: append(spark.sql("select interval '1' day id"))),
        ("leave it out", lambda: append(spark.sql("select interval '1' day id"), nowhere)),
        ("leave it out", lambda: spark.sql(f"create table zrecord.`{nowhere}` (id interval day)")),
        ("leave it out", lambda: spark.sql(f"create or replace table {name} (id interval day)")),
    ],
}
if not spark.version.startswith("3."):
    # Spark 3 has no tables of zrecord in its own session catalog.
    expected["PATH_NOT_FOUND", "42K03"].append(
        ("Check the path", lambda: spark.sql(f"create table t using zrecord location '{nowhere}'"))
    )
tried = 0
for (condition, state), actions in expected.items():
    for number, (remedy, action) in enumerate(actions):
        try:
            action()
        except AnalysisException as e:
            which = f"{condition} {number}: {type(e)} {e}"
            found = e.getCondition() if hasattr(e, "getCondition") else e.getErrorClass()
            assert found == condition, which
            assert e.getSqlState() == state, which
            assert path in str(e) and remedy in str(e), which
            tried += 1
        else:
            raise AssertionError(f"{condition} {number} was not refused")
assert tried == sum(map(len, expected.values()))


def refused(action, condition, state, *words):
    """Requires an exception that is no mistake of the query, with its condition where the client has conditions."""
    try:
        action()
    except SparkRuntimeException as e:
        assert condition in str(e) and all(word in str(e) for word in (state, *words)), e
        if not (is_connect and spark.version.startswith("3.")):
            found = e.getCondition() if hasattr(e, "getCondition") else e.getErrorClass()
            assert (found, e.getSqlState()) == (condition, state), e
    else:
        raise AssertionError(f"{condition} was not refused")


conflict = ("ZRECORD_COMMIT_CONFLICT", "40001")
refused(
    lambda: spark.range(1).write.format("zrecord").mode("append").option("expectedVersion", 7).save(path),
    *conflict,
    "version 7 was expected",
)
# An overwrite that is under way when another commit comes.
started, going = path + "-started", path + "-going"


@udf("bigint")
def wait(number):
    open(started, "w").close()
    for _ in range(1200):
        if os.path.exists(going):
            return number
        time.sleep(0.05)
    raise AssertionError("nobody committed")


found = []


def overwrite():
    try:
        refused(
            lambda: spark.range(1).select(wait("id").alias("id")).write.format("zrecord").mode("overwrite").save(path),
            *conflict,
            "overwriting it would drop what it added",
        )
    except BaseException as e:
        found.append(e)


writing = threading.Thread(target=overwrite)
writing.start()
while not os.path.exists(started) and writing.is_alive():
    time.sleep(0.05)
spark.range(3, 5).write.format("zrecord").mode("append").save(path)
open(going, "w").close()
writing.join()
assert not found, found
assert spark.read.format("zrecord").load(path).count() == 5
# An overwrite whose query reads an older version of its target.
old = spark.read.format("zrecord").option("versionAsOf", 0).load(path)
old.createOrReplaceTempView("old")
for overwrite_of_itself in (
    lambda: old.write.format("zrecord").mode("overwrite").save(path),
    lambda: old.writeTo(name).overwritePartitions(),
    lambda: spark.sql(f"insert overwrite {name} select id from old").collect(),
):
    refused(overwrite_of_itself, *conflict, "its query reads version 0")

damaged = path + "-damaged"
spark.range(3).write.format("zrecord").save(damaged)
for manifest in os.listdir(damaged + "/manifest"):
    with open(f"{damaged}/manifest/{manifest}", "r+b") as file:
        file.seek(100)
        file.write(b"damage")
refused(lambda: read(damaged), "ZRECORD_DATA_DAMAGED", "XX001", damaged)
refused(lambda: append(spark.range(1), damaged), "ZRECORD_DATA_DAMAGED", "XX001", damaged)
# What a task finds is no mistake of the query, but has our words.
try:
    spark.sql(f"select raise_error(concat('x', string(id))) from {name}").collect()
except Exception as e:
    assert not isinstance(e, AnalysisException), e
else:
    raise AssertionError("an error of a task was lost")
assert spark.read.format("zrecord").load(path).count() == 5
print("passed")
