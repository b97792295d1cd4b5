"""After write_and_read.py: spark-submit --jars zrecord-spark.jar threads.py /data/digits"""

import sys
from concurrent.futures import ThreadPoolExecutor

from pyspark import InheritableThread
from pyspark.sql import SparkSession

path = sys.argv[1]
spark = SparkSession.builder.appName("threads").getOrCreate()


def sum_of_ids(session):
    records = session.read.format("zrecord").load(path)
    return records.where("_index < 1000").selectExpr("sum(id)").first()[0]


def append_and_read(session, copy):
    digits = session.read.format("zrecord").load(path).where("_index < 100")
    digits.write.format("zrecord").mode("append").save(copy)
    return session.sql(f"select count(*) from zrecord.`{copy}`").first()[0]


# Threads of Python that never used Spark before, with the session and with new ones.
with ThreadPoolExecutor(4) as pool:
    sums = [pool.submit(sum_of_ids, spark) for _ in range(4)]
    sums += [pool.submit(sum_of_ids, spark.newSession()) for _ in range(4)]
    assert [future.result() for future in sums] == [499500] * 8
    copies = [pool.submit(append_and_read, spark, f"{path}-copy-{i}") for i in range(4)]
    assert [future.result() for future in copies] == [100] * 4

# A thread that takes local properties along.
results = []
thread = InheritableThread(lambda: results.append(sum_of_ids(spark)))
thread.start()
thread.join()
assert results == [499500]
print("all as expected")
spark.stop()
