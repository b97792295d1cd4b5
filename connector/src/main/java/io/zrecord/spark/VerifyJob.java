package io.zrecord.spark;

import io.zrecord.cli.ExitCodes;
import io.zrecord.cli.Printable;
import io.zrecord.cli.Terminal;
import io.zrecord.verify.CheckSummary;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command behind {@link Verify#main}. */
@Command(
    name = "spark-submit --class io.zrecord.spark.Verify JAR",
    description = {
      "Checks every checksum of a table and every rule of the format. Changes nothing. The values of"
          + " the newest version are checked unless said otherwise, and the files of all versions.",
      "The standard output has one line of JSON, the standard error the first 100 findings."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:no damage",
      "1:data are damaged",
      "2:called wrongly, or no such table, version or tag",
      "3:it failed otherwise"
    })
final class VerifyJob implements Callable<Integer> {
  private static final String PROGRESS = "spark.ui.showConsoleProgress";

  @Parameters(paramLabel = "PATH", description = "path of the table, as in load(PATH)")
  private String path = "";

  @ArgGroup
  private Versions versions = new Versions();

  @Option(
      names = "--bad-values",
      paramLabel = "DIR",
      description = "if data are damaged, check again and write all bad values as lines of JSON"
          + " to a new directory")
  private @Nullable String badValues;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "print this")
  @SuppressWarnings("unused") // The parser looks at the option itself.
  private boolean printsHelp;

  @Spec
  @SuppressWarnings("NullAway.Init")
  private CommandSpec spec;

  /** Which values are checked. */
  static final class Versions {
    @Option(names = "--version", paramLabel = "V", description = "check that version")
    private @Nullable Long version;

    @Option(names = "--tag", paramLabel = "TAG", description = "check the version with that tag")
    private @Nullable String tag;

    @Option(names = "--all-versions", description = "check all versions")
    private boolean all;

    private Verify of(Verify verify) {
      if (version != null) {
        return verify.version(version);
      }
      if (tag != null) {
        return verify.tag(tag);
      }
      return all ? verify.allVersions() : verify;
    }
  }

  /** On a terminal Spark shows how far the job is. */
  private static SparkSession session() {
    SparkSession.Builder builder = SparkSession.builder();
    if (Terminal.isStandardError() && !new SparkConf().contains(PROGRESS)) {
      builder.config(PROGRESS, "true");
    }
    return builder.getOrCreate();
  }

  @Override
  public Integer call() {
    Verify verify = versions.of(Verify.of(session(), path));
    PrintWriter err = spec.commandLine().getErr();
    CheckSummary summary =
        verify.run(found -> err.println(Printable.of(found.finding().toString())));
    spec.commandLine().getOut().println(summary.toJson());
    spec.commandLine().getOut().flush();
    err.flush();
    if (badValues != null && !summary.isSound()) {
      verify.badValues().write().json(badValues);
    }
    return summary.isSound() ? ExitCodes.DONE : ExitCodes.DAMAGED;
  }
}
