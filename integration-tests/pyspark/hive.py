"""Keeps tables in a Hive metastore: hive.py DIRECTORY; says "passed" at the end.

A managed table owns its files: a rename moves them, and a drop deletes them, whoever made the table.
"""

import os
import sys

from pyspark.sql import SparkSession

work = sys.argv[1]
warehouse = os.path.join(work, "warehouse")
os.makedirs(work)
spark = (
    SparkSession.builder.enableHiveSupport()
    .config("spark.sql.warehouse.dir", warehouse)
    .config("spark.sql.catalog.spark_catalog", "io.zrecord.spark.ZRecordSessionCatalog")
    .config("spark.hadoop.javax.jdo.option.ConnectionURL", f"jdbc:derby:;databaseName={work}/metastore;create=true")
    .getOrCreate()
)
assert spark.conf.get("spark.sql.catalogImplementation") == "hive"
spark.sql("create database other")


def ids(name):
    return sorted(row[0] for row in spark.sql(f"select id from {name}").collect())


def location(name):
    rows = spark.sql(f"describe table extended {name}").where("col_name = 'Location'").collect()
    return rows[0][1].replace("file:", "")


def made(name, way):
    if way == "as select":
        spark.sql(f"create table {name} using zrecord as select id from range(3)")
    elif way == "or replace as select":
        spark.sql(f"create or replace table {name} using zrecord as select id from range(3)")
    elif way == "saveAsTable":
        spark.range(3).write.format("zrecord").saveAsTable(name)
    else:
        partitions = " partitioned by (id)" if way == "partitioned" else ""
        spark.sql(f"create table {name} (id bigint not null, v char(3)) using zrecord{partitions}")
        spark.sql(f"insert into {name} values (0, 'a'), (1, 'b'), (2, 'c')")


ways = "as select", "or replace as select", "saveAsTable", "columns", "partitioned"
for number, way in enumerate(ways):
    # The name must be free again after a drop.
    for database in ("default", "default", "other") if number == 0 else ("other",):
        name, renamed = f"{database}.t{number}", f"{database}.r{number}"
        made(name, way)
        assert ids(name) == [0, 1, 2], (way, ids(name))
        spark.sql(f"alter table {name} add column more int default 7")
        spark.sql(f"create or replace table {name} using zrecord as select id + 1 id from {name}")
        assert ids(name) == [1, 2, 3], (way, ids(name))
        before = location(name)
        assert os.listdir(before), (way, before)
        spark.sql(f"alter table {name} rename to {renamed}")
        after = location(renamed)
        assert after != before and not os.path.exists(before), (way, before, after)
        assert ids(renamed) == [1, 2, 3], (way, ids(renamed))
        spark.sql(f"insert into {renamed} values (9)")
        spark.sql(f"drop table {renamed}")
        assert not os.path.exists(after), (way, after, os.listdir(after))
        made(name, way)
        spark.sql(f"drop table {name}")
        assert not os.path.exists(before), (way, before, os.listdir(before))

# Files of a table with a LOCATION are not the table's to delete.
files = os.path.join(work, "files")
spark.sql(f"create table outside using zrecord location '{files}' as select id from range(4)")
spark.sql("drop table outside")
assert os.listdir(files)
spark.sql(f"create table outside using zrecord location '{files}'")
assert ids("outside") == [0, 1, 2, 3]
spark.sql("drop database other cascade")
assert not [name for name in os.listdir(warehouse) if "PLACEHOLDER" in name], os.listdir(warehouse)
print("passed")
