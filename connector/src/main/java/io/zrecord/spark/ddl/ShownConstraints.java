package io.zrecord.spark.ddl;

import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.spark.path.DatasetVersion;
import java.util.List;
import java.util.Optional;

/**
 * The constraints of one table that Spark has loaded. Spark 4.1 and later ask a table for its
 * constraints while they analyze a write, and evaluate the checks on each row of that write. So
 * what was shown was evaluated. Older Sparks never ask, and evaluate nothing. Thread-safe.
 */
public final class ShownConstraints {
  private final Optional<DatasetVersion> version;
  private volatile List<Constraint> evaluated = List.of();

  /** Begins with the constraints of a version, of which none was shown. */
  public ShownConstraints(Optional<DatasetVersion> version) {
    this.version = version;
  }

  /** Returns the constraints as Spark shows and evaluates them. */
  public org.apache.spark.sql.connector.catalog.constraints.Constraint[] show() {
    return version
        .map(known -> show(known.declarations(), FieldNames.of(known.schema())))
        .orElseGet(() -> new org.apache.spark.sql.connector.catalog.constraints.Constraint[0]);
  }

  private org.apache.spark.sql.connector.catalog.constraints.Constraint[] show(
      Declarations declared, FieldNames names) {
    List<Constraint> evaluable = declared.enforced().stream()
        .filter(check -> CheckCondition.isEvaluable(check, names))
        .toList();
    evaluated = evaluable;
    return declared.constraints().stream()
        .map(
            constraint -> SparkConstraints.shown(constraint, evaluable.contains(constraint), names))
        .toArray(org.apache.spark.sql.connector.catalog.constraints.Constraint[]::new);
  }

  /** Returns the checks that Spark evaluates for a write that it has planned. */
  public List<Constraint> evaluated() {
    return evaluated;
  }
}
