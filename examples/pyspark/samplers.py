"""After write_and_read.py: spark-submit --jars zrecord-spark.jar samplers.py /data/digits"""

import sys

from pyspark.sql import SparkSession

path = sys.argv[1]
spark = SparkSession.builder.appName("samplers").getOrCreate()


def ordered(**options):
    return spark.read.format("zrecord").options(**options).load(path)


# An epoch in random order, one partition in memory at a time.
epoch = ordered(sampler="shuffle", seed=7, epoch=3, numPartitions=10)
order = [row["id"] for row in epoch.select("id").toLocalIterator()]
assert order != sorted(order) and sorted(order) == list(range(1000))
assert [row["id"] for row in epoch.where("_position < 5").select("id").collect()] == order[:5]

# Two processes share an epoch, position by position.
shares = [
    [row["id"] for row in ordered(sampler="shuffle", seed=7, epoch=3, rank=rank, worldSize=2).select("id").collect()]
    for rank in range(2)
]
assert shares == [order[0::2], order[1::2]]

# Batches of 20 with every label twice.
balanced = ordered(sampler="balanced", labelsField="label", batchSize=20, numSamples=2000)
labels = [row["label"] for row in balanced.select("label").collect()]
assert all(sorted(labels[i : i + 20]) == sorted(list(range(10)) * 2) for i in range(0, 2000, 20))

# Of a sample, only the drawn records are read.
some = spark.read.format("zrecord").load(path).sample(fraction=0.1, seed=1)
assert some.count() == len(some.collect())
print(some.count(), "of 1000 records drawn")
print("all as expected")
spark.stop()
