package io.zrecord.spark.procedure;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;

/** All procedures, for every release of Spark. Stateless. */
public final class SystemProcedures {
  static final List<SystemProcedure> ALL = List.of(
      new RebalanceProcedure(),
      new RelayoutProcedure(),
      new ExpireProcedure(),
      new SweepProcedure(),
      new TagProcedure(),
      new UntagProcedure(),
      new RollbackToProcedure(),
      new ChangesProcedure(),
      new VerifyProcedure(),
      new RepairProcedure());

  private SystemProcedures() {}

  /** Returns the procedure of a name, in small or large letters. */
  static Optional<SystemProcedure> find(String name) {
    return ALL.stream()
        .filter(procedure -> procedure.name().equalsIgnoreCase(name))
        .findFirst();
  }

  /**
   * Returns a call of a procedure.
   *
   * @throws IllegalArgumentException if there is none of the name
   */
  public static ProcedureCall call(SparkSession spark, String name) {
    return new ProcedureCall(
        spark,
        find(name)
            .orElseThrow(() -> new IllegalArgumentException("There is no procedure '" + name
                + "'; there are "
                + ALL.stream().map(SystemProcedure::name).collect(Collectors.joining(", ")))));
  }
}
