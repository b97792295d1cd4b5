"""spark-submit --jars zrecord-spark.jar write_and_read.py /data/digits"""

import sys

from pyspark.sql import SparkSession

path = sys.argv[1]
spark = SparkSession.builder.appName("write and read").getOrCreate()

records = spark.createDataFrame(
    [(i, i % 10, bytes([i % 256]) * 784, [float(i), 0.5]) for i in range(1000)],
    "id long, label int, image binary, features array<float>",
)
(
    records.write.format("zrecord")
    .option("shape.image", "28,28")
    .option("compression.features", "lz4")
    .mode("overwrite")
    .save(path)
)

back = spark.read.format("zrecord").load(path)
back.printSchema()
back.select("id", "label", "features").show(5)
assert back.count() == 1000
assert back.orderBy("id").collect() == records.orderBy("id").collect()
assert back.schema["image"].metadata["zrecord.shape"] == [28, 28]
print("all as expected")
spark.stop()
