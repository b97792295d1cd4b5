package io.zrecord.spark.procedure;

import java.util.List;
import org.apache.spark.sql.types.StructType;

/** What a procedure takes, does and answers. Stateless. */
interface SystemProcedure {
  /** Returns the name in the namespace {@code system}. */
  String name();

  /** Returns one sentence for people. */
  String description();

  List<Parameter> parameters();

  /** Returns the columns of the answer. */
  StructType columns();

  /**
   * Runs the procedure.
   *
   * @return the rows of the answer, with values as Spark's external types
   */
  List<Object[]> run(Arguments arguments);
}
