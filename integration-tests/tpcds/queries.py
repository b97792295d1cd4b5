"""Runs the queries of TPC-DS on tables of zrecord and on files of Parquet.

queries.py DATA TEST-JAR WORK [QUERY ...]
"""

import math
import pathlib
import re
import sys
import time
import zipfile

from pyspark.sql import SparkSession


def queries_of(jar: str) -> dict[str, str]:
    """Returns the texts of the queries of versions 1.4 and 2.7 by their names."""
    found = {}
    with zipfile.ZipFile(jar) as files:
        for name in files.namelist():
            match = re.fullmatch(r"(tpcds|tpcds-v2\.7\.0)/(q\w+)\.sql", name)
            if match:
                suffix = "" if match[1] == "tpcds" else "-v2.7"
                found[match[2] + suffix] = files.read(name).decode()
    return dict(sorted(found.items(), key=lambda item: (len(item[0]), item[0])))


def without_limit(query: str) -> str:
    """Leaves out the last LIMIT, which may choose among records that are equal for the order."""
    return re.sub(r"(?is)\s+limit\s+\d+\s*;?\s*$", "", query)


def answer(spark: SparkSession, query: str) -> list[tuple]:
    rows = [tuple(row) for row in spark.sql(query).collect()]
    return sorted(rows, key=lambda row: [(value is None, str(value)) for value in row])


def is_same(one: object, other: object) -> bool:
    """Tells whether values are equal, fractions up to the order in which they were added."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9) or (math.isnan(one) and math.isnan(other))
    return one == other


def difference(expected: list[tuple], found: list[tuple]) -> str:
    if len(expected) != len(found):
        return f"{len(expected)} rows of Parquet, {len(found)} of zrecord"
    for row, other in zip(expected, found):
        if not all(map(is_same, row, other)):
            return f"{row} of Parquet, {other} of zrecord"
    return ""


def main(data: str, jar: str, work: str, *wanted: str) -> None:
    builder = SparkSession.builder.config(
        "spark.sql.catalog.lake", "io.zrecord.spark.ZRecordCatalog"
    )
    settings = {
        "spark.sql.catalog.lake.warehouse": f"{work}/lake",
        "spark.sql.warehouse.dir": f"{work}/warehouse",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.extensions": "io.zrecord.spark.ZRecordSessionExtensions",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql("create namespace lake.tpcds")
    spark.sql("create database plain")
    for file in sorted(pathlib.Path(data).glob("*.parquet")):
        spark.sql(f"create table plain.{file.stem} using parquet location '{file}'")
        spark.sql(f"create table lake.tpcds.{file.stem} as select * from plain.{file.stem}")
    failed = []
    seconds = {"spark_catalog.plain": 0.0, "lake.tpcds": 0.0}
    rows = 0
    chosen = {
        name: text for name, text in queries_of(jar).items() if not wanted or name in wanted
    }
    for number, (name, text) in enumerate(chosen.items()):
        query = without_limit(text)
        answers = {}
        # They take turns to be the first, which has to read the query for both.
        order = sorted(seconds, reverse=number % 2 == 0)
        try:
            for catalog in order:
                spark.sql(f"use {catalog}")
                start = time.monotonic()
                answers[catalog] = answer(spark, query)
                seconds[catalog] += time.monotonic() - start
            problem = difference(answers["spark_catalog.plain"], answers["lake.tpcds"])
            rows += len(answers["lake.tpcds"])
        except Exception as e:  # Each query is tried.
            problem = f"with {catalog}: {str(e)[:2000]}"
        if problem:
            failed.append(name)
            print(f"FAILED  {name}: {problem}", flush=True)
    print(f"{len(chosen)} queries, {rows} rows, {len(failed)} failed: {' '.join(failed)}")
    for catalog, sum_of in seconds.items():
        print(f"{catalog}: {sum_of:.1f} s")
    if failed or not chosen:
        sys.exit(1)
    print("passed")


main(*sys.argv[1:])
