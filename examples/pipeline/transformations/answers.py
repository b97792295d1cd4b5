from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

spark = SparkSession.active()


@dp.table(format="zrecord", comment="each answer that arrived")
def answers() -> DataFrame:
    return (
        spark.readStream.schema("answer_id bigint, image_id bigint, label string")
        .option("header", True)
        .csv("/data/arrived")
    )
