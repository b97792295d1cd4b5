package io.zrecord.spark.procedure;

import io.zrecord.spark.path.Reloads;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Makes a table again what it was at a version. */
final class RollbackToProcedure implements SystemProcedure {
  private static final String VERSION = "version";
  private static final String TAG = "tag";

  @Override
  public String name() {
    return "rollback_to";
  }

  @Override
  public String description() {
    return "Makes a table again what it was at a version, as a new version without new files.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(
        Parameter.TABLE,
        Parameter.optional(VERSION, DataTypes.LongType, "number of the version"),
        Parameter.optional(TAG, DataTypes.StringType, "name of the version, instead of a number"));
  }

  @Override
  public StructType columns() {
    return new StructType()
        .add("version", DataTypes.LongType, false)
        .add("rolled_back_to", DataTypes.LongType, false)
        .add("records", DataTypes.LongType, false);
  }

  @Override
  public List<Object[]> run(Arguments arguments) {
    RecordTable table = arguments.table();
    Optional<Long> number = arguments.optionalLong(VERSION);
    Optional<String> tag = arguments.optionalText(TAG);
    if (number.isPresent() == tag.isPresent()) {
      throw new IllegalArgumentException("Give either '" + VERSION + "', the number of a version,"
          + " or '" + TAG + "', the name of one");
    }
    long version = number.orElseGet(() -> table.tagged(tag.orElseThrow()).version());
    TableSnapshot after = table.rollBack(version);
    Reloads.committed(table.storage());
    return List.<Object[]>of(new Object[] {after.version(), version, after.length()});
  }
}
