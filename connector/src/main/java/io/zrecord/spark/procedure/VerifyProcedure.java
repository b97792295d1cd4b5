package io.zrecord.spark.procedure;

import io.zrecord.findings.CheckSummary;
import io.zrecord.spark.job.ShardFindings;
import io.zrecord.spark.job.VerifyRun;
import io.zrecord.storage.Storage;
import io.zrecord.verify.DatasetCheck;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Checks all files and values. Lists the first 100 findings. */
final class VerifyProcedure implements SystemProcedure {
  @Override
  public String name() {
    return "verify";
  }

  @Override
  public String description() {
    return "Checks every file and every value of a table, in tasks.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(
        Parameter.TABLE,
        Parameter.optional(
            "version",
            DataTypes.LongType,
            "number of the version whose values are checked; the newest if NULL"),
        Parameter.flag("all_versions", false, "check the values of all versions, each value once"));
  }

  @Override
  public StructType columns() {
    return new StructType()
        .add("sound", DataTypes.BooleanType, false)
        .add("damages", DataTypes.LongType, false)
        .add("notes", DataTypes.LongType, false)
        .add("bad_values", DataTypes.LongType, false)
        .add("records", DataTypes.LongType, false)
        .add("values", DataTypes.LongType, false)
        .add("bytes", DataTypes.LongType, false)
        .add("findings", DataTypes.createArrayType(DataTypes.StringType, false), false);
  }

  @Override
  public List<Object[]> run(Arguments arguments) {
    Storage storage = arguments.storage();
    Optional<Long> version = arguments.optionalLong("version");
    boolean all = arguments.flag("all_versions");
    if (all && version.isPresent()) {
      throw new IllegalArgumentException(
          "The arguments 'version' and 'all_versions' exclude each other; leave one out");
    }
    DatasetCheck check = DatasetCheck.of(storage);
    if (all) {
      check = check.allVersions();
    } else if (version.isPresent()) {
      check = check.version(version.get());
    }
    ShardFindings found =
        new VerifyRun(arguments.spark(), storage, check, VerifyRun.MAX_TOLD).run();
    CheckSummary summary = found.summary();
    return List.<Object[]>of(new Object[] {
      summary.isSound(),
      summary.damageCount(),
      summary.noteCount(),
      summary.badValueCount(),
      summary.recordCount(),
      summary.valueCount(),
      summary.bytes(),
      found.findings().stream().map(finding -> finding.finding().toString()).toArray()
    });
  }
}
