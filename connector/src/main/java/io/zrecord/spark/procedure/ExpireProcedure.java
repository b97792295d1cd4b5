package io.zrecord.spark.procedure;

import io.zrecord.table.CareMode;
import io.zrecord.table.ExpireOptions;
import io.zrecord.table.ExpireResult;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Removes old versions. */
final class ExpireProcedure implements SystemProcedure {
  @Override
  public String name() {
    return "expire";
  }

  @Override
  public String description() {
    return "Removes old versions of a table. Their files stay until a sweep.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(
        Parameter.TABLE,
        Parameter.with(
            "older_than",
            DataTypes.StringType,
            "'7d'",
            "age such as 90m, 72h or 7d, one hour or more: versions that were the newest at any time since are kept"),
        Parameter.with(
            "keep_versions", DataTypes.IntegerType, "1", "number of newest versions to keep"),
        Parameter.flag("dry_run", false, "say only what would be removed"));
  }

  @Override
  public StructType columns() {
    return new StructType()
        .add("dry_run", DataTypes.BooleanType, false)
        .add("expired_versions", DataTypes.createArrayType(DataTypes.LongType, false), false)
        .add("kept_versions", DataTypes.IntegerType, false)
        .add("tagged_versions", DataTypes.IntegerType, false);
  }

  @Override
  public List<Object[]> run(Arguments arguments) {
    boolean isDry = arguments.flag("dry_run");
    ExpireOptions options = ExpireOptions.defaults()
        .withKeepVersions(arguments.requiredInt("keep_versions"))
        .withOlderThan(arguments.age("older_than"))
        .withMode(isDry ? CareMode.DRY_RUN : CareMode.DELETE);
    ExpireResult result = arguments.table().expire(options);
    return List.<Object[]>of(
        new Object[] {isDry, result.expired().toArray(), result.keptCount(), result.taggedCount()});
  }
}
