package io.zrecord.spark;

import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.maintenance.SweepArguments;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Deletes the files of a table that no version names, for {@code spark-submit}. */
@Command(
    name = "spark-submit --class io.zrecord.spark.Sweep JAR",
    description = {
      "Finds the files of a table that no version names: files of failed writes and of expired"
          + " versions. Deletes files with --delete only.",
      "Tasks look into the directories of shards and delete files. The standard output has one line"
          + " of JSON."
    },
    exitCodeList = {
      "0:done, or nothing was to be done",
      "1:what versions name is damaged, so that it is unknown what they need",
      "2:called wrongly, or no such table",
      "3:it failed otherwise"
    })
final class SweepJob extends SparkJob {
  @Mixin
  private SweepArguments arguments = new SweepArguments();

  @Override
  public Integer call() {
    SparkSession spark = SparkSession.builder().getOrCreate();
    out().println(Sweep.of(spark, path()).options(arguments.options()).run().toJson());
    out().flush();
    return ExitCodes.DONE;
  }
}
