package io.zrecord.spark;

import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Terminal;
import io.zrecord.findings.CheckSummary;
import io.zrecord.spark.job.ShardFindings;
import io.zrecord.spark.job.VerifyRun;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.io.PrintWriter;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Checks a table, for {@code spark-submit}. */
@Command(
    name = "spark-submit --class io.zrecord.spark.Verify JAR",
    description = {
      "Checks every checksum of a table and every rule of the format. Changes nothing. The values of"
          + " the newest version are checked unless said otherwise, and the files of all versions.",
      "The standard output has one line of JSON, the standard error the first 100 findings."
    },
    exitCodeList = {
      "0:no damage",
      "1:data are damaged",
      "2:called wrongly, or no such table, version or tag",
      "3:it failed otherwise"
    })
final class VerifyJob extends SparkJob {
  private static final String PROGRESS = "spark.ui.showConsoleProgress";

  @ArgGroup
  private Versions versions = new Versions();

  @Option(
      names = "--bad-values",
      paramLabel = "DIR",
      description =
          "new directory for all bad values as lines of JSON, for which the same versions are"
              + " checked again if data are damaged; of a shard the first "
              + ShardFindings.MAX_LISTED + " findings are listed, and it is said if there are more")
  private @Nullable String badValues;

  /** The versions whose values are checked. */
  static final class Versions {
    @Option(names = "--version", paramLabel = "V", description = "version whose values are checked")
    private @Nullable Long version;

    @Option(
        names = "--tag",
        paramLabel = "TAG",
        description = "tag of the version whose values are checked")
    private @Nullable String tag;

    @Option(names = "--all-versions", description = "check the values of all versions")
    private boolean all;

    private DatasetCheck check(Storage table) {
      DatasetCheck newest = DatasetCheck.of(table);
      if (version != null) {
        return newest.version(version);
      }
      if (tag != null) {
        return newest.version(RecordTable.at(table).tagged(tag).version());
      }
      return all ? newest.allVersions() : newest;
    }
  }

  /** Returns a session that, on a terminal, shows the progress of the job. */
  private static SparkSession session() {
    SparkSession.Builder builder = SparkSession.builder();
    if (Terminal.isStandardError() && !new SparkConf().contains(PROGRESS)) {
      builder.config(PROGRESS, "true");
    }
    return builder.getOrCreate();
  }

  @Override
  public Integer call() {
    SparkSession spark = session();
    Storage table = SparkStorages.storageFor(path());
    DatasetCheck check = versions.check(table);
    if (badValues != null) {
      requireCreatable(badValues, spark);
    }
    VerifyRun run = new VerifyRun(spark, table, check, VerifyRun.MAX_TOLD);
    ShardFindings found = run.run();
    CheckSummary summary = found.summary();
    PrintWriter err = err();
    found
        .findings()
        .forEach(finding -> err.println(Printable.of(finding.finding().toString())));
    out().println(summary.toJson());
    out().flush();
    err.flush();
    if (badValues != null && !summary.isSound()) {
      run.badValues().write().json(badValues);
      if (found.unlistedCount() > 0) {
        err.println(badValues + " lacks " + found.unlistedCount()
            + " findings: of a shard the first " + ShardFindings.MAX_LISTED
            + " are listed. Replace what is listed, and check again");
        err.flush();
      }
    }
    return summary.isSound() ? ExitCodes.DONE : ExitCodes.DAMAGED;
  }

  /** Tries out now whether the directory can be created, because the check may take hours. */
  private static void requireCreatable(String directory, SparkSession spark) {
    try {
      org.apache.hadoop.fs.Path target = new org.apache.hadoop.fs.Path(directory);
      FileSystem files = target.getFileSystem(spark.sparkContext().hadoopConfiguration());
      if (files.exists(target)) {
        throw new IllegalArgumentException("Cannot write bad values to " + directory
            + ": it exists; name a directory that does not, or remove it");
      }
      if (!files.mkdirs(target) || !files.delete(target, false)) {
        throw new IOException("it cannot be created");
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "Cannot write bad values to " + directory + ": " + e.getMessage()
              + "; name a directory that can be created",
          e);
    }
  }
}
