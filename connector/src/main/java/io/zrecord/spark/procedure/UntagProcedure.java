package io.zrecord.spark.procedure;

import io.zrecord.table.RecordTable;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Takes the name of a version away. */
final class UntagProcedure implements SystemProcedure {
  @Override
  public String name() {
    return "untag";
  }

  @Override
  public String description() {
    return "Takes the name of a version away.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(Parameter.TABLE, Parameter.required("name", DataTypes.StringType, "the name"));
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
    long version = table.tagged(name).version();
    table.untag(name);
    return List.<Object[]>of(new Object[] {name, version});
  }
}
