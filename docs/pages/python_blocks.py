"""Runs blocks of Python and SQL, one after the other, in one namespace, as docs/pages/run.py asks for."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import sys
import traceback


def doctests(code: str, names: dict[str, object]) -> tuple[bool, str]:
    """Runs a dialogue; a wrong answer is in the output."""
    out = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    test = doctest.DocTestParser().get_doctest(code + "\n", names, "page", None, 0)
    done = runner.run(test, out=out.write, clear_globs=False)
    names.update(test.globs)
    return done.failed == 0, out.getvalue()


def execute(kind: str, code: str, names: dict[str, object]) -> tuple[bool, str]:
    if kind == "doctest":
        return doctests(code, names)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            if kind == "sql":
                for statement in filter(None, (part.strip() for part in code.split(";\n"))):
                    names["spark"].sql(statement.removesuffix(";")).show()  # type: ignore[attr-defined]
            else:
                exec(compile(code, "page", "exec"), names)
            return True, out.getvalue()
        except BaseException:
            traceback.print_exc()
            return False, out.getvalue()


def main() -> None:
    names: dict[str, object] = {"__name__": "page"}
    # What blocks and their libraries print must not be taken for answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if connector := os.environ.get("ZRECORD_CONNECTOR"):
        from pyspark.sql import SparkSession

        names["spark"] = (
            SparkSession.builder.master("local[2]")
            .config("spark.jars", connector)
            .config("spark.driver.extraClassPath", connector)
            .config("spark.ui.enabled", "false")
            .config("spark.sql.catalog.spark_catalog", "io.zrecord.spark.ZRecordSessionCatalog")
            .config("spark.sql.catalog.lake", "io.zrecord.spark.ZRecordCatalog")
            .config("spark.sql.catalog.lake.warehouse", os.path.abspath("data/lake"))
            .getOrCreate()
        )
    for line in sys.stdin:
        request = json.loads(line)
        ok, output = execute(request["kind"], request["code"], names)
        print(json.dumps({"ok": ok, "output": output}), file=answers, flush=True)


if __name__ == "__main__":
    main()
