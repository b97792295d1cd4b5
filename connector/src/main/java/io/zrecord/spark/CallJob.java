package io.zrecord.spark;

import io.zrecord.cli.console.ExitCodes;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Calls a procedure, for {@code spark-submit}. */
@Command(
    name = "spark-submit --class io.zrecord.spark.Call JAR",
    description = {
      "Calls a procedure, as CALL does in SQL from Spark 4 on: rebalance, relayout, expire, sweep,"
          + " tag, untag, rollback_to, changes, verify, repair.",
      "The standard output has a line of JSON for each row of the answer."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done, or nothing was to be done",
      "2:called wrongly, or no such procedure, argument or table",
      "3:it failed otherwise"
    })
final class CallJob implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "PROCEDURE", description = "name of the procedure")
  private String procedure = "";

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "NAME=VALUE",
      description =
          "arguments, such as table=/data/train older_than=14d; a map is an object of JSON")
  private List<String> arguments = new ArrayList<>();

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "print this help")
  @SuppressWarnings("unused") // The parser handles the option itself.
  private boolean printsHelp;

  @Spec
  @SuppressWarnings("NullAway.Init")
  private CommandSpec spec;

  @Override
  public Integer call() {
    Call call = Call.of(SparkSession.builder().getOrCreate(), procedure);
    for (String argument : arguments) {
      String[] parts = argument.split("=", 2);
      if (parts.length < 2) {
        throw new IllegalArgumentException(
            "'" + argument + "' is no argument; give arguments as name=value");
      }
      call.set(parts[0], parts[1]);
    }
    PrintWriter out = spec.commandLine().getOut();
    call.run().toJSON().collectAsList().forEach(out::println);
    out.flush();
    return ExitCodes.DONE;
  }
}
