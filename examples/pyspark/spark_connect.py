"""After write_and_read.py, with a server of its own: python spark_connect.py zrecord-spark.jar /data/digits

Against a server that runs elsewhere: SparkSession.builder.remote("sc://host:15002"); the server is started with the jar:
sbin/start-connect-server.sh --jars zrecord-spark.jar
"""

import sys

from pyspark.sql import SparkSession

jar, path = sys.argv[1:]
spark = (
    SparkSession.builder.remote("local[2]")
    .config("spark.jars", jar)
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.extensions", "io.zrecord.spark.ZRecordSessionExtensions")
    .config("spark.sql.catalog.spark_catalog", "io.zrecord.spark.ZRecordSessionCatalog")
    .config("spark.sql.warehouse.dir", f"{path}-warehouse")
    .getOrCreate()
)
assert "connect" in type(spark).__module__

records = spark.read.format("zrecord").load(path)
assert records.where("_index < 1000").count() == 1000
assert [row.id for row in records.where("_index in (3, 500)").orderBy("id").collect()] == [3, 500]

copy = f"{path}-connect"
first = records.where("_index < 100")
first.write.format("zrecord").option("shape.image", "28,28").save(copy)
first.write.format("zrecord").mode("append").save(copy)
assert spark.sql(f"select count(*) from zrecord.`{copy}`").first()[0] == 200
assert spark.read.format("zrecord").option("versionAsOf", 0).load(copy).count() == 100

spark.sql("create table digits using zrecord as select id, label from zrecord.`%s`" % copy)
spark.sql("create or replace table digits using zrecord as select * from digits where label = 7")
assert spark.table("digits").count() == 20
spark.sql("drop table digits")

# What is wrong is said to the client.
try:
    spark.read.format("zrecord").option("verson", 1).load(copy).count()
    raise AssertionError("an option that does not exist was taken")
except Exception as e:  # noqa: BLE001 - the client has several classes of them
    assert "verson" in str(e), e
print("all as expected")
spark.stop()
