package io.zrecord.spark;

import io.zrecord.cli.console.ErrorLines;
import org.apache.spark.sql.SparkSession;
import scala.Option;

/** Runs a command as the main program of {@code spark-submit}. */
final class SubmittedCommand {
  private SubmittedCommand() {}

  /** Runs the command, stops Spark, and ends the process with the command's exit code. */
  static void run(Object command, String... args) {
    int exitCode = execute(command, args);
    Option<SparkSession> spark = SparkSession.getDefaultSession();
    if (spark.isDefined()) {
      spark.get().stop();
    }
    // On YARN, a driver that exits by itself counts as failed, whatever its exit code.
    if (exitCode != 0) {
      System.exit(exitCode);
    }
  }

  /** Runs the command in this process. Prints errors as lines on the standard error. */
  static int execute(Object command, String... args) {
    return ErrorLines.execute(ErrorLines.commandLine(command), args);
  }
}
