"""Makes the tables of TPC-DS with DuckDB, and writes them in both formats with Spark."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
import duckdb_extension_tpcds

TEXT = re.compile(r"\b(?:VAR)?CHAR\(\d+\)", re.IGNORECASE)


@dataclass(frozen=True)
class Format:
    """Where the tables of a format stand, and how a table is created."""

    name: str
    namespace: str
    directory: Path
    using: str
    keeps_lengths: bool  # CHAR(n) and VARCHAR(n), which only the session's catalog has

    def table(self, name: str) -> str:
        return f"{self.namespace}.{name}"

    def bytes(self, table: str) -> int:
        paths = (self.directory / table).rglob("*")
        return sum(path.stat().st_size for path in paths if path.is_file())


@dataclass(frozen=True)
class Content:
    """What tells tables apart: counts of rows and NULLs, a sum of hashes in whatever order."""

    rows: int
    hashes: object
    nulls: int


def generate(scale: float, directory: Path) -> dict[str, Path]:
    """The data of each table as a file of Parquet, by the table's name."""
    extension = next(Path(duckdb_extension_tpcds.__file__).parent.rglob("tpcds.duckdb_extension"))
    files = {}
    with duckdb.connect(config={"temp_directory": str(directory)}) as source:
        source.execute(f"load '{extension}'")
        source.execute(f"call dsdgen(sf = {scale})")
        names = source.execute("select table_name from duckdb_tables() order by 1").fetchall()
        for (table,) in names:
            files[table] = directory / f"{table}.parquet"
            source.execute(f"copy {table} to '{files[table]}' (format parquet)")
            source.execute(f"drop table {table}")
    return files


def show_data(spark, table: str, columns: str, file: Path) -> None:
    """Makes the data of a table a temporary view, with the names that SQL declares."""
    frame = spark.read.parquet(str(file))
    names = [column.split(" ")[0] for column in split(columns)]
    # Editions of TPC-DS differ: c_last_review_date, and c_last_review_date_sk.
    if len(names) != len(frame.columns) or not all(map(str.startswith, frame.columns, names)):
        raise AssertionError(f"{table}: columns of Spark {names}, of DuckDB {frame.columns}")
    frame.toDF(*names).createOrReplaceTempView(f"data_{table}")


def write(spark, kind: Format, table: str, columns: str) -> float:
    """Writes a table from the temporary view of its data, and returns the seconds."""
    source = f"select {', '.join(_cast(column) for column in split(columns))} from data_{table}"
    start = time.perf_counter()
    if kind.keeps_lengths:
        spark.sql(f"create table {kind.table(table)} ({columns}) {kind.using}")
        spark.sql(f"insert into {kind.table(table)} {source}")
    else:
        spark.sql(f"create table {kind.table(table)} {kind.using} as {source}")
    return time.perf_counter() - start


def split(columns: str) -> list[str]:
    """The columns of a declaration, whose types may have commas."""
    return [column.strip() for column in re.split(r",(?![^(]*\))", columns)]


def _cast(column: str) -> str:
    name, kind = column.split(" ", 1)
    return f"cast({name} as {TEXT.sub('STRING', kind)}) as {name}"


def content(spark, table: str, columns: str) -> Content:
    names = [column.split(" ")[0] for column in split(columns)]
    hashed = ", ".join(f"{name}, {name} is null" for name in names)
    nulls = " + ".join(f"int({name} is null)" for name in names)
    row = spark.sql(
        f"select count(*), sum(cast(xxhash64({hashed}) as decimal(20, 0))), sum({nulls})"
        f" from {table}"
    ).first()
    return Content(row[0], row[1], row[2] or 0)
