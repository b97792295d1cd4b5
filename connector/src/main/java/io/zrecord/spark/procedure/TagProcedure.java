package io.zrecord.spark.procedure;

import io.zrecord.table.RecordTable;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Names a version. */
final class TagProcedure implements SystemProcedure {
  @Override
  public String name() {
    return "tag";
  }

  @Override
  public String description() {
    return "Gives a version of a table a name, with which the version is not expired.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(
        Parameter.TABLE,
        Parameter.required(
            "name",
            DataTypes.StringType,
            "1 to 64 letters, digits, '.', '_' and '-', neither a number nor 'latest'"),
        Parameter.optional(
            "version", DataTypes.LongType, "number of the version; the newest if NULL"));
  }

  @Override
  public StructType columns() {
    return new StructType()
        .add("name", DataTypes.StringType, false)
        .add("version", DataTypes.LongType, false);
  }

  @Override
  public List<Object[]> run(Arguments arguments) {
    RecordTable table = arguments.table();
    String name = arguments.text("name");
    long version =
        arguments.optionalLong("version").orElseGet(() -> table.latest().version());
    table.tag(version, name);
    return List.<Object[]>of(new Object[] {name, version});
  }
}
