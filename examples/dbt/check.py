"""Checks the tables that dbt has built: check.py WAREHOUSE."""

import sys

from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.enableHiveSupport()
    .config("spark.sql.catalog.spark_catalog", "io.zrecord.spark.ZRecordSessionCatalog")
    .config("spark.sql.warehouse.dir", sys.argv[1])
    .getOrCreate()
)


def rows(query: str) -> list[tuple]:
    return [tuple(row) for row in spark.sql(query).collect()]


def require(found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"{found} instead of {expected}")


require(
    rows("select id, file, label from photos.labels order by id"),
    [
        (1, "a.jpg", "cat"),
        (2, "b.jpg", "fox"),
        (3, "c.jpg", "cat"),
        (4, "d.jpg", "bird"),
        (5, "e.jpg", "dog"),
    ],
)
require(
    rows("select label, photos from photos.counts order by label"),
    [("bird", 1), ("cat", 2), ("dog", 1), ("fox", 1)],
)
require(
    rows("select label, dbt_valid_to is null from photos.history where id = 2 order by dbt_valid_from"),
    [("dog", False), ("fox", True)],
)
require(rows("select count(*), count_if(dbt_valid_to is null) from photos.history"), [(6, 5)])
for table in ("imported", "labels", "counts", "history"):
    described = dict(
        (row[0], row[1]) for row in rows(f"describe table extended photos.{table}")
    )
    require(described["Provider"], "zrecord")
print("passed")
