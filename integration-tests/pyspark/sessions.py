"""Writes and reads with a session that has no configuration but the jar; says "passed" at the end."""

import sys

from pyspark.sql import SparkSession

path = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
# A session that was in use before has built its analyzer.
spark.range(3).selectExpr("id + 1").collect()
spark.range(5).write.format("zrecord").save(path)


def ids():
    return sorted(row.id for row in spark.read.format("zrecord").load(path).collect())


for kept in False, True:
    old = spark.read.format("zrecord").load(path)
    if kept:
        old = old.cache()
    read = old.count()
    spark.range(read, read + 3).write.format("zrecord").mode("append").save(path)
    try:
        old.write.format("zrecord").mode("overwrite").save(path)
    except Exception as e:
        assert "overwriting it would drop what was committed in between" in str(e), e
    else:
        raise AssertionError("an overwrite dropped what was appended since its query read")
    assert ids() == list(range(read + 3)), ids()

name = f"zrecord.`{path}`"
spark.sql(f"insert into {name} values (11)")
spark.sql(f"insert overwrite {name} select id + 1 as id from {name}")
assert ids() == list(range(1, 13)), ids()
print("passed")
