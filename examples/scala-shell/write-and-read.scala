// spark-shell --jars zrecord-spark.jar --conf spark.example.path=/data/digits -i write-and-read.scala
def example(): Unit = {
  val path = spark.conf.get("spark.example.path")
  val records = spark
    .range(0, 1000, 1, 4)
    .selectExpr(
      "id",
      "cast(id % 10 as int) as label",
      "unhex(repeat(lpad(hex(id % 256), 2, '0'), 784)) as image"
    )
  records.write
    .format("zrecord")
    .option("shape.image", "28,28")
    .mode("overwrite")
    .save(path)

  val back = spark.read.format("zrecord").load(path)
  back.printSchema()
  back.select("id", "label").show(5)
  assert(back.count() == 1000)
  assert(back.except(records).isEmpty)
  assert(back.where("label = 3").count() == 100)
  println("all as expected")
}
sys.exit(scala.util.Try(example()).fold(e => { e.printStackTrace(); 1 }, _ => 0))
