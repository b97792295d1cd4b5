// After write-and-read.scala:
// spark-shell --jars zrecord-spark.jar --conf spark.example.path=/data/digits -i by-index.scala
def example(): Unit = {
  val records = spark.read.format("zrecord").load(spark.conf.get("spark.example.path"))

  // Exactly these records are read. The plan of the query already knows them.
  val some = records.where($"_index".isin(999, 3, 500)).orderBy("_index").select("_index", "id")
  some.show()
  assert(some.as[(Long, Long)].collect().toSeq == Seq(3L -> 3L, 500L -> 500L, 999L -> 999L))

  assert(records.where("_index between 100 and 199").count() == 100)
  assert(records.offset(990).count() == 10)
  println("all as expected")
}
sys.exit(scala.util.Try(example()).fold(e => { e.printStackTrace(); 1 }, _ => 0))
