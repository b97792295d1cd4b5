package io.zrecord.spark.procedure;

import io.zrecord.spark.job.SweepTasks;
import io.zrecord.storage.Storage;
import io.zrecord.table.CareMode;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepOptions;
import io.zrecord.table.SweepResult;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Deletes files that no version names. */
final class SweepProcedure implements SystemProcedure {
  @Override
  public String name() {
    return "sweep";
  }

  @Override
  public String description() {
    return "Deletes files of a table that no version names; by default only counts them.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(
        Parameter.TABLE,
        Parameter.with(
            "older_than",
            DataTypes.StringType,
            "'72h'",
            "age such as 90m, 72h or 7d, below which a file stays, one hour or more: longer than any write takes"),
        Parameter.flag("dry_run", true, "count only, and delete nothing"));
  }

  @Override
  public StructType columns() {
    return new StructType()
        .add("dry_run", DataTypes.BooleanType, false)
        .add("files", DataTypes.LongType, false)
        .add("bytes", DataTypes.LongType, false)
        .add("young_files", DataTypes.LongType, false)
        .add("young_bytes", DataTypes.LongType, false);
  }

  @Override
  public List<Object[]> run(Arguments arguments) {
    boolean isDry = arguments.flag("dry_run");
    SweepOptions options = SweepOptions.defaults()
        .withOlderThan(arguments.age("older_than"))
        .withMode(isDry ? CareMode.DRY_RUN : CareMode.DELETE);
    Storage storage = arguments.storage();
    SweepResult result = RecordTable.at(storage)
        .sweep(options, new SweepTasks(arguments.spark(), storage), orphan -> {});
    return List.<Object[]>of(new Object[] {
      isDry, result.fileCount(), result.lengthBytes(), result.youngFileCount(), result.youngBytes()
    });
  }
}
