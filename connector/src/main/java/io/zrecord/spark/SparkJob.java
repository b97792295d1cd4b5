package io.zrecord.spark;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Base of all commands for {@code spark-submit}: a table, help, and where to print. */
@Command(exitCodeListHeading = "%nExit codes:%n")
abstract class SparkJob implements Callable<Integer> {
  @Parameters(paramLabel = "PATH", description = "path of the table, as in load(PATH)")
  private String path = "";

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "print this help")
  @SuppressWarnings("unused") // The parser handles the option itself.
  private boolean printsHelp;

  @Spec
  @SuppressWarnings("NullAway.Init")
  private CommandSpec spec;

  String path() {
    return path;
  }

  PrintWriter out() {
    return spec.commandLine().getOut();
  }

  PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** Returns the command as it was called. */
  CommandLine commandLine() {
    return spec.commandLine();
  }
}
