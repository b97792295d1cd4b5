"""Reads the queries and the schema of TPC-DS from the jar of Spark's tests."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

NAME = re.compile(r"(tpcds|tpcds-v2\.7\.0|tpcds-modifiedQueries)/(\w+)\.sql")
SETS = {"tpcds": "", "tpcds-v2.7.0": "v2.7 ", "tpcds-modifiedQueries": "modified "}
END = re.compile(r"(\s|;|--[^\n]*)*\Z")
LIMIT = re.compile(r"\blimit\s+(\d+)\s*$", re.IGNORECASE)


def queries_of(jar: Path) -> dict[str, str]:
    """The text of each query by its name, such as q14a, v2.7 q14a and modified q3, in order."""
    found = {}
    with ZipFile(jar) as files:
        for path in files.namelist():
            if matched := NAME.fullmatch(path):
                text = END.sub("", files.read(path).decode())
                found[SETS[matched[1]] + matched[2]] = text
    return dict(sorted(found.items(), key=lambda query: _place(query[0])))


def _place(name: str) -> tuple:
    *kind, query = name.split(" ")
    number = re.search(r"\d+", query)
    return ["", "v2.7", "modified"].index("".join(kind)), int(number[0]) if number else 0, query


def limit_of(text: str) -> int | None:
    """How many rows the query asks for at most."""
    found = LIMIT.search(text)
    return int(found[1]) if found else None


def without_limit(text: str) -> str:
    return LIMIT.sub("", text)


def columns_of_tables(spark, jar: Path) -> dict[str, str]:
    """The columns of each table as SQL declares them, which a class of Spark's tests has."""
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    urls = gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(str(jar)).toURI().toURL()
    # In a class loader of its own: the jar would bring data sources and extensions of tests.
    loader = jvm.java.net.URLClassLoader(urls, spark._jsparkSession.getClass().getClassLoader())
    arguments = gateway.new_array(jvm.java.lang.Object, 3)
    arguments[0], arguments[1], arguments[2] = spark._jsparkSession, "", 1
    tables = loader.loadClass("org.apache.spark.sql.TPCDSTables").getConstructors()[0]
    each = tables.newInstance(arguments).tableColumns().iterator()
    found = {}
    while each.hasNext():
        table = each.next()
        found[table._1()] = " ".join(table._2().replace("`", "").split())
    return dict(sorted(found.items()))


def sort_keys(frame) -> list[int]:
    """The columns of the answer that the query sorts by, and not those that the answer lacks."""
    analyzed = frame._jdf.queryExecution().analyzed()
    plan = analyzed
    while True:
        kind = plan.getClass().getSimpleName()
        if kind == "Sort":
            break
        if kind == "WithCTE":
            plan = plan.plan()
        elif kind in ("GlobalLimit", "LocalLimit", "Project", "SubqueryAlias"):
            plan = plan.child()
        else:
            return []
    outputs = analyzed.output()
    numbers = {outputs.apply(place).exprId().id(): place for place in range(outputs.size())}
    order = plan.order()
    keys = []
    for place in range(order.size()):
        key = order.apply(place).child()
        if key.getClass().getSimpleName() == "AttributeReference" and key.exprId().id() in numbers:
            keys.append(numbers[key.exprId().id()])
    return keys
