package io.zrecord.spark

import java.nio.charset.StandardCharsets
import java.nio.file.{Files, Path, Paths}
import java.util.UUID

/** A separate driver, as spark-submit starts it: the main program of a class, on the class path of
  * executors. Its output goes to files.
  */
final class SubmittedProcess private (process: Process, output: Path, errors: Path) {

  /** Waits for the end of the process. */
  def exitCode(): Int = process.waitFor()

  def isAlive: Boolean = process.isAlive

  /** Returns the output so far. */
  def out: String = new String(Files.readAllBytes(output), StandardCharsets.UTF_8)

  def err: String = new String(Files.readAllBytes(errors), StandardCharsets.UTF_8)

  /** Sends SIGKILL. */
  def kill(): Unit = {
    process.toHandle.destroyForcibly()
    process.waitFor()
  }
}

object SubmittedProcess {
  def start(mainClass: String, arguments: String*): SubmittedProcess = {
    val settings = TestBase.current.settings ++ Map(
      "spark.master" -> "local[2]",
      "spark.app.name" -> mainClass,
      "spark.ui.enabled" -> "false"
    )
    val properties = settings.map { case (name, value) => s"-D$name=$value" }.toSeq
    val command = SuiteProcess.command(mainClass, properties: _*) ++ arguments
    val directory = Paths.get(System.getProperty("zrecord.test.directory"))
    Files.createDirectories(directory)
    val output = directory.resolve("out-" + UUID.randomUUID())
    val errors = directory.resolve("err-" + UUID.randomUUID())
    val process = new ProcessBuilder(command: _*)
      .redirectOutput(output.toFile)
      .redirectError(errors.toFile)
      .start()
    new SubmittedProcess(process, output, errors)
  }
}
