package io.zrecord.spark

import java.io.{ByteArrayOutputStream, PrintStream}
import java.nio.charset.StandardCharsets.UTF_8

/** What a command for spark-submit said in this process, where Spark runs already. */
final case class CommandInProcess(exitCode: Int, out: String, err: String)

object CommandInProcess {

  /** Runs a command with the active session. */
  def run(command: AnyRef, arguments: String*): CommandInProcess = synchronized {
    val (out, err) = (System.out, System.err)
    val (said, complained) = (new ByteArrayOutputStream(), new ByteArrayOutputStream())
    System.setOut(new PrintStream(said, true, "UTF-8"))
    System.setErr(new PrintStream(complained, true, "UTF-8"))
    val exitCode =
      try SubmittedCommand.execute(command, arguments: _*)
      finally {
        System.setOut(out)
        System.setErr(err)
      }
    CommandInProcess(
      exitCode,
      new String(said.toByteArray, UTF_8),
      new String(complained.toByteArray, UTF_8)
    )
  }
}
