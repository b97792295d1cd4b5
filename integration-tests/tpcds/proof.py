"""
Runs the queries of TPC-DS over zrecord and over Parquet, compares the answers and prints the times.
`run` starts it.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import answers
import queries
import tables
from pyspark.sql import SparkSession

CONTROL = ("q9", "q28", "q48", "q88")
"""Queries that aggregate much of store_sales."""

LOGGING = """status = off
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
rootLogger.level = off
rootLogger.appenderRef.console.ref = console
"""


@dataclass
class Run:
    """The answers of one query by both formats."""

    name: str
    seconds: dict[str, list[float]] = field(default_factory=lambda: {"Parquet": [], "zrecord": []})
    rows: int = 0
    problem: str | None = None
    unanswered: str | None = None
    note: str = ""

    def median(self, kind: str) -> float:
        return statistics.median(self.seconds[kind])

    @property
    def is_compared(self) -> bool:
        return self.problem is None and self.unanswered is None

    def verdict(self) -> str:
        if self.problem:
            return f"DIFFERENT: {self.problem}"
        return f"failed with both: {self.unanswered}" if self.unanswered else f"equal{self.note}"


@dataclass(frozen=True)
class Answer:
    seconds: float
    rows: list[tuple]
    types: list[str]
    keys: list[int]
    error: str | None = None


class Proof:
    def __init__(self, spark, formats: list[tables.Format], asked: dict[str, str], rounds: int):
        self.spark = spark
        self.formats = formats
        self.asked = asked
        self.rounds = rounds

    def answer(self, kind: tables.Format, text: str) -> Answer:
        self.spark.sql(f"use {kind.namespace}")
        start = time.perf_counter()
        try:
            frame = self.spark.sql(text)
            rows = [tuple(row) for row in frame.collect()]
        except Exception as e:
            condition = getattr(e, "getCondition", lambda: None)()
            error = condition or " ".join(str(e).split())[:300]
            return Answer(time.perf_counter() - start, [], [], [], error)
        seconds = time.perf_counter() - start
        types = [column.dataType.simpleString() for column in frame.schema.fields]
        return Answer(seconds, rows, types, queries.sort_keys(frame))

    def run(self, name: str, place: int) -> Run:
        run = Run(name)
        for number in range(self.rounds):
            order = self.formats if (place + number) % 2 == 0 else self.formats[::-1]
            found = {kind.name: self.answer(kind, self.asked[name]) for kind in order}
            for kind, answer in found.items():
                run.seconds[kind].append(answer.seconds)
            self.judge(run, found["Parquet"], found["zrecord"])
        return run

    def judge(self, run: Run, parquet: Answer, zrecord: Answer) -> None:
        if parquet.error or zrecord.error:
            if parquet.error == zrecord.error:
                run.unanswered = parquet.error
            else:
                each = (answer.error or "answers" for answer in (parquet, zrecord))
                run.problem = "Parquet {}, zrecord {}".format(*each)
            return
        run.rows = len(parquet.rows)
        if (parquet.types, parquet.keys) != (zrecord.types, zrecord.keys):
            run.problem = f"types of Parquet {parquet.types}, of zrecord {zrecord.types}"
            return
        text = self.asked[run.name]
        found = (parquet.rows, zrecord.rows, parquet.keys)
        is_cut = queries.limit_of(text) == len(parquet.rows)
        problem = answers.difference(*found)
        if problem and is_cut and not answers.difference(*found, is_whole=False):
            # Of rows with equal keys any may be among the first: then all rows decide.
            problem = self.without_limit(text, parquet, zrecord)
            run.note = ", ties at the limit"
        run.problem = run.problem or problem

    def without_limit(self, text: str, parquet: Answer, zrecord: Answer) -> str | None:
        whole = [self.answer(kind, queries.without_limit(text)) for kind in self.formats]
        for all_rows, some in zip(whole, (parquet, zrecord)):
            if all_rows.error:
                return f"without the limit: {all_rows.error}"
            if answers.unmatched(some.rows, all_rows.rows)[0]:
                return "a row of the answer is none of the answer without the limit"
        return answers.difference(whole[0].rows, whole[1].rows, whole[0].keys)

    def control(self, columns: dict[str, str]) -> str | None:
        """Changes tables of zrecord, and says what of it nobody saw."""
        sales, other = (self.formats[1].table(name) for name in ("store_sales", "customer"))
        before = tables.content(self.spark, other, columns["customer"])
        self.spark.sql(f"update {other} set c_login = 'changed' where _index = 17")
        if tables.content(self.spark, other, columns["customer"]) == before:
            return "one changed value left the sum of hashes as it was"
        self.spark.sql(f"delete from {sales} where _index % 100 = 0")
        if all(self.run(name, 0).problem is None for name in CONTROL):
            return "no query saw that a hundredth of the sales was deleted"
        return None


def session(work: Path, jar: str, catalog: str) -> SparkSession:
    (work / "log4j2.properties").write_text(LOGGING)
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", os.environ.get("ZRECORD_TPCDS_MEMORY", "4g"))
        .config(
            "spark.driver.extraJavaOptions",
            f"-Duser.timezone=UTC -Dderby.system.home={work} "
            f"-Dlog4j2.configurationFile={work}/log4j2.properties",
        )
        .config("spark.jars", jar)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", str(work / "local"))
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
        .config("spark.sql.catalog.lake", "io.zrecord.spark.ZRecordCatalog")
        .config("spark.sql.catalog.lake.warehouse", str(work / "lake"))
    )
    if catalog == "session":
        builder = builder.config(
            "spark.sql.catalog.spark_catalog", "io.zrecord.spark.ZRecordSessionCatalog"
        )
    return builder.getOrCreate()


def formats_of(work: Path, catalog: str, properties: list[str]) -> list[tables.Format]:
    named = catalog == "lake"
    pairs = ", ".join("'{}' = '{}'".format(*text.split("=", 1)) for text in properties)
    using = "using zrecord" + (f" tblproperties ({pairs})" if pairs else "")
    parquet = work / "warehouse" / "parquet.db"
    zrecord = work / "lake" / "tpcds" if named else work / "warehouse" / "tpcds.db"
    namespace = "lake.tpcds" if named else "spark_catalog.tpcds"
    return [
        tables.Format("Parquet", "spark_catalog.parquet", parquet, "using parquet", not named),
        tables.Format("zrecord", namespace, zrecord, using, not named),
    ]


def write_tables(
    spark, formats: list[tables.Format], columns: dict[str, str], files: dict[str, Path]
) -> int:
    """Writes all tables in both formats, prints sizes and seconds, and returns how many differ."""
    for kind in formats:
        spark.sql(f"create namespace {kind.namespace}")
    print(
        f"{'table':24} {'rows':>10} {'NULLs':>10}"
        f"  {'Parquet s':>9} {'MiB':>8}  {'zrecord s':>9} {'MiB':>8}"
    )
    totals = [0.0] * 4
    different = 0
    for place, (table, declared) in enumerate(columns.items()):
        tables.show_data(spark, table, declared, files[table])
        figures = {}
        for kind in formats if place % 2 == 0 else formats[::-1]:
            seconds = tables.write(spark, kind, table, declared)
            figures[kind.name] = (seconds, kind.bytes(table) / 2**20)
        figures = [*figures["Parquet"], *figures["zrecord"]]
        totals = [total + figure for total, figure in zip(totals, figures)]
        found = [tables.content(spark, kind.table(table), declared) for kind in formats]
        verdict = "" if found[0] == found[1] else f"  DIFFERENT: {found}"
        different += found[0] != found[1]
        print(_table_line(table, found[0].rows, found[0].nulls, figures) + verdict, flush=True)
    print(_table_line("all", "", "", totals))
    return different


def _table_line(name: str, rows: object, nulls: object, figures: list[float]) -> str:
    parquet, parquet_size, zrecord, zrecord_size = figures
    return (
        f"{name:24} {rows:>10} {nulls:>10}"
        f"  {parquet:9.2f} {parquet_size:8.1f}  {zrecord:9.2f} {zrecord_size:8.1f}"
    )


def _time_line(name: str, parquet: float, zrecord: float) -> str:
    return f"{name:16} {parquet:9.2f} {zrecord:9.2f} {zrecord / parquet:6.2f}"


def print_times(runs: list[Run]) -> None:
    compared = [run for run in runs if run.is_compared]
    if not compared:
        return
    sums = {kind: sum(run.median(kind) for run in compared) for kind in ("Parquet", "zrecord")}
    ratios = [math.log(run.median("zrecord") / run.median("Parquet")) for run in compared]
    print(_time_line("all", sums["Parquet"], sums["zrecord"]))
    print(f"geometric mean of zrecord / Parquet: {math.exp(sum(ratios) / len(ratios)):.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="integration-tests/tpcds/run")
    option = parser.add_argument
    option("scale", nargs="?", type=float, default=0.1, help="scale factor of the data")
    option("--rounds", type=int, default=1, help="runs of each query; the median counts")
    option("--queries", default="", help="regular expression of names: 'q3|v2.7 q14a|modified .*'")
    option("--catalog", choices=["lake", "session"], default="lake", help="where tables are")
    option("--property", action="append", default=[], help="property of each table of zrecord")
    parser.add_argument("--jar", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--queries-jar", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, required=True, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    answers.check()
    asked = queries.queries_of(chosen.queries_jar)
    names = [name for name in asked if re.fullmatch(chosen.queries or ".*", name)]
    if not names:
        parser.error(f"no query has a name like {chosen.queries}")

    start = time.perf_counter()
    (chosen.work / "data").mkdir()
    files = tables.generate(chosen.scale, chosen.work / "data")
    print(f"Scale {chosen.scale:g}, made in {time.perf_counter() - start:.0f} s", flush=True)
    spark = session(chosen.work, chosen.jar, chosen.catalog)
    print(f"Spark {spark.version}, tables in the catalog {chosen.catalog}", flush=True)
    columns = queries.columns_of_tables(spark, chosen.queries_jar)
    if set(columns) != set(files):
        raise AssertionError(f"tables of Spark {sorted(columns)}, of DuckDB {sorted(files)}")
    formats = formats_of(chosen.work, chosen.catalog, chosen.property)
    different = write_tables(spark, formats, columns, files)

    proof = Proof(spark, formats, asked, chosen.rounds)
    print(f"\n{'query':16} {'Parquet s':>9} {'zrecord s':>9} {'ratio':>6} {'rows':>6}", flush=True)
    runs = []
    for place, name in enumerate(names):
        run = proof.run(name, place)
        times = _time_line(name, run.median("Parquet"), run.median("zrecord"))
        print(f"{times} {run.rows:6} {run.verdict()}", flush=True)
        runs.append(run)
    print_times(runs)

    unseen = proof.control(columns)
    print(f"control: {unseen or 'changed values and deleted sales are seen'}")
    problems = sum(run.problem is not None for run in runs)
    unanswered = sum(run.unanswered is not None for run in runs)
    empty = sum(run.is_compared and run.rows == 0 for run in runs)
    print(
        f"{len(columns)} tables, {different} different; {len(runs)} queries, {problems} different, "
        f"{unanswered} failed with both, {empty} without rows; {time.perf_counter() - start:.0f} s"
    )
    spark.stop()
    return int(different > 0 or problems > 0 or unseen is not None or unanswered == len(runs))


if __name__ == "__main__":
    sys.exit(main())
