"""Makes the tables of TPC-DS as files of Parquet: data.py SCALE DIRECTORY."""

import importlib.util
import pathlib
import sys

import duckdb


def main(scale: str, directory: str) -> None:
    spec = importlib.util.find_spec("duckdb_extension_tpcds")
    extension = next(pathlib.Path(spec.origin).parent.rglob("tpcds.duckdb_extension"))
    target = pathlib.Path(directory)
    target.mkdir(parents=True)
    with duckdb.connect(":memory:") as made:
        made.execute(f"load '{extension}'")
        made.execute(f"call dsdgen(sf={float(scale)})")
        for (table,) in made.execute("show tables").fetchall():
            made.execute(f"copy {table} to '{target / table}.parquet' (format parquet)")


main(*sys.argv[1:])
