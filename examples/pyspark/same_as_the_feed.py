"""After write_and_read.py, with pip install ./python: spark-submit --jars zrecord-spark.jar same_as_the_feed.py /data/digits

Spark reads what the feed in Python delivers to training, record by record, say to see what the third epoch of a rank held.
"""

import sys

from pyspark.sql import SparkSession

import zrecord

path = sys.argv[1]
spark = SparkSession.builder.appName("same as the feed").getOrCreate()

order = {"sampler": "shuffle", "seed": 7, "rank": 1, "worldSize": 2}
epochs = [
    spark.read.format("zrecord").options(epoch=epoch, **order).load(path).select("_index", "label", "features").collect()
    for epoch in range(2)
]

delivered = [[], []]
with zrecord.feed(path, fields=["label", "features"], batch_size=64, epochs=2, seed=7, rank=1, world_size=2) as feed:
    for epoch in feed.remaining_epochs():
        for batch in feed:
            features = batch["features"]
            for i, index in enumerate(batch.index):
                delivered[epoch].append((int(index), int(batch["label"][i]), features[i].tolist()))
assert delivered == [[tuple(row) for row in epoch] for epoch in epochs]

# The same dataset, by index.
labels = zrecord.open(path)["label"]
assert [row["label"] for row in epochs[0]] == labels[[row["_index"] for row in epochs[0]]].tolist()
print(len(delivered[0]), "records of each epoch, as the feed delivers them")
print("all as expected")
spark.stop()
