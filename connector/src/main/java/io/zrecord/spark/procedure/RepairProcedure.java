package io.zrecord.spark.procedure;

import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairPlan;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Says what a repair would do. A repair itself needs a person who approves, on a command line. */
final class RepairProcedure implements SystemProcedure {
  @Override
  public String name() {
    return "repair";
  }

  @Override
  public String description() {
    return "Says what 'bin/zrecord repair' would do to a damaged table. Changes nothing.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(
        Parameter.TABLE,
        Parameter.flag("dry_run", true, "must be true: a repair is run by 'bin/zrecord repair'"));
  }

  @Override
  public StructType columns() {
    return new StructType()
        .add("possible", DataTypes.BooleanType, false)
        .add("action", DataTypes.StringType, false);
  }

  @Override
  public List<Object[]> run(Arguments arguments) {
    if (!arguments.flag("dry_run")) {
      throw new IllegalArgumentException("A repair needs a person who approves of what it does:"
          + " run 'bin/zrecord repair', or leave dry_run out to see what that would do");
    }
    RepairPlan plan = DatasetRepair.of(arguments.storage())
        .run(finding -> {}, planned -> false)
        .plan();
    return Stream.concat(
            plan.actions().stream().map(action -> new Object[] {true, action}),
            plan.remaining().stream().map(left -> new Object[] {false, left}))
        .toList();
  }
}
