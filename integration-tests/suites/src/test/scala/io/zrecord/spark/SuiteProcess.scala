package io.zrecord.spark

import java.io.File
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path, Paths}

import org.apache.spark.sql.SparkSession

/** How suites start other virtual machines: drivers, executors, masters and workers. */
object SuiteProcess {
  private val quietly = Seq("-Xlog:cds=off", "-Xlog:cds+dynamic=off")

  /** An archive of Spark's classes, which halves what starting Spark costs. Java ignores an archive
    * that does not fit its version or the jars.
    */
  private lazy val archive: Path = {
    val directory = Paths.get(System.getProperty("zrecord.test.directory"))
    val file = directory.resolve("classes.jsa")
    if (!Files.exists(file)) {
      Files.createDirectories(directory)
      val written = directory.resolve("classes.jsa.new")
      run(s"-XX:ArchiveClassesAtExit=$written", directory.resolve("classes.log"))
      Files.move(written, file)
    }
    file
  }

  def java: String = new File(System.getProperty("java.home"), "bin/java").getPath

  /** Returns options for machines of suites: those of this one's compiler and collector, and the
    * archive of classes.
    */
  def jvmOptions: Seq[String] =
    inherited.filter(_.startsWith("-XX:")) ++ loadingClasses

  /** Returns a command that runs a main program with this machine's options and the class path of
    * executors.
    */
  def command(mainClass: String, properties: String*): Seq[String] =
    (java +: inherited) ++ loadingClasses ++ properties ++ onClassPath(mainClass)

  private def inherited: Seq[String] =
    ManagementFactory.getRuntimeMXBean.getInputArguments.toArray
      .map(_.toString)
      .toSeq
      .filter(!_.startsWith("-Xm"))

  private def loadingClasses: Seq[String] = s"-XX:SharedArchiveFile=$archive" +: quietly

  /** Spark's jars come first: the class path of an archive must begin those of its users. */
  private def onClassPath(mainClass: String): Seq[String] = {
    val path = Seq(jarsOfSpark, System.getenv("SPARK_DIST_CLASSPATH"))
    Seq("-Xmx1g", "-cp", path.mkString(File.pathSeparator), mainClass)
  }

  private def jarsOfSpark: String = System.getenv("SPARK_HOME") + "/jars/*"

  /** Runs a program of Spark and ends it. The suites' classes are not on the class path then, which
    * may hold no directories.
    */
  private def run(dumping: String, log: Path): Unit = {
    val location = ClassesOfSpark.getClass.getProtectionDomain.getCodeSource.getLocation
    val submit = Seq("org.apache.spark.deploy.SparkSubmit", "--master", "local[2]") ++
      Seq("--class", "io.zrecord.spark.ClassesOfSpark", Paths.get(location.toURI).toString)
    val command = (java +: inherited) ++ (dumping +: quietly) ++
      Seq("-Xmx1g", "-cp", jarsOfSpark) ++ submit
    val exitCode = new ProcessBuilder(command: _*)
      .redirectErrorStream(true)
      .redirectOutput(log.toFile)
      .start()
      .waitFor()
    assert(exitCode == 0, s"Spark's classes were not archived: $log")
  }
}

/** Uses the classes of Spark that drivers and executors of suites use. */
object ClassesOfSpark {
  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().config("spark.ui.enabled", "false").getOrCreate()
    spark.range(100).selectExpr("id", "string(id) text").repartition(2).sort("id").collect()
    spark.stop()
  }
}
