"""After write_and_read.py: spark-submit --jars zrecord-spark.jar python_function.py /data/digits"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

path = sys.argv[1]
# With PyArrow 26, Spark 4.2.0 hangs in functions that get their arguments as Arrow, whatever the source.
spark = (
    SparkSession.builder.appName("Python function")
    .config("spark.sql.execution.pythonUDF.arrow.enabled", "false")
    .getOrCreate()
)


@udf("int")
def brightness(image):
    return sum(image) // len(image)


records = spark.read.format("zrecord").option("batchRows", 16).load(path)
lit = records.where("_index < 1000").select("id", brightness("image").alias("brightness"))
assert all(row.brightness == row.id % 256 for row in lit.collect())

# A limit ends tasks while their rows are still on the way to Python.
for limit in (1, 5, 150):
    some = lit.limit(limit).collect()
    assert len(some) == limit
    assert all(row.brightness == row.id % 256 for row in some)
assert len(lit.where("brightness > 3").limit(7).collect()) == 7
print("all as expected")
spark.stop()
