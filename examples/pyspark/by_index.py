"""After write_and_read.py: spark-submit --jars zrecord-spark.jar by_index.py /data/digits"""

import random
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import col

spark = SparkSession.builder.appName("by index").getOrCreate()
records = spark.read.format("zrecord").load(sys.argv[1])

# Exactly these records are read. The plan of the query already knows them.
wanted = random.Random(1).sample(range(1000), 32)
batch = records.where(col("_index").isin(wanted)).select("_index", "label", "image").collect()

assert sorted(row["_index"] for row in batch) == sorted(wanted)
assert all(row["label"] == row["_index"] % 10 for row in batch)
assert all(row["image"] == bytes([row["_index"] % 256]) * 784 for row in batch)
print("all as expected")
spark.stop()
