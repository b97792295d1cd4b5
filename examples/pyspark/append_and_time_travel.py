"""After write_and_read.py: spark-submit --jars zrecord-spark.jar append_and_time_travel.py /data/digits"""

import sys

from pyspark.sql import SparkSession

path = sys.argv[1]
spark = SparkSession.builder.appName("append and time travel").getOrCreate()

before = spark.read.format("zrecord").load(path)
before.where("label = 7").write.format("zrecord").mode("append").save(path)

assert spark.read.format("zrecord").load(path).count() == 1100
assert spark.read.format("zrecord").option("versionAsOf", 0).load(path).count() == 1000

# New columns are null in the earlier records.
with_split = before.limit(10).selectExpr("*", "'train' as split")
with_split.write.format("zrecord").option("mergeSchema", True).mode("append").save(path)
now = spark.read.format("zrecord").load(path)
assert now.where("split is null").count() == 1100
assert now.where("split = 'train'").count() == 10
print("all as expected")
spark.stop()
