// After write-and-read.scala:
// spark-shell --jars zrecord-spark.jar --conf spark.example.path=/data/digits -i append-and-time-travel.scala
def example(): Unit = {
  val path = spark.conf.get("spark.example.path")
  val first = spark.read.format("zrecord").load(path)
  first.where("id < 100").write.format("zrecord").mode("append").save(path)

  assert(spark.read.format("zrecord").load(path).count() == 1100)

  val before = spark.read.format("zrecord").option("versionAsOf", 0).load(path)
  assert(before.count() == 1000)
  println("all as expected")
}
sys.exit(scala.util.Try(example()).fold(e => { e.printStackTrace(); 1 }, _ => 0))
