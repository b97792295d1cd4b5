package io.zrecord.spark;

import io.zrecord.spark.procedure.ProcedureCall;
import io.zrecord.spark.procedure.SystemProcedures;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;

/**
 * Calls a procedure, as {@code CALL} does in SQL from Spark 4 on. Works with every Spark. The names
 * of the procedures and of their arguments are those of {@code CALL}. For one run.
 *
 * <pre>{@code
 * Call.of(spark, "tag").set("table", "/data/train").set("name", "raw").run();
 * Dataset<Row> left = Call.of(spark, "expire").set("table", "db.photos").run();
 * }</pre>
 *
 * <p>A table is a name in the session, or a path or URI, which has a slash. On the command line:
 *
 * <pre>{@code
 * spark-submit --class io.zrecord.spark.Call zrecord-spark.jar tag table=/data/train name=raw
 * }</pre>
 */
public final class Call {
  private final ProcedureCall call;

  private Call(ProcedureCall call) {
    this.call = call;
  }

  /**
   * Names the procedure.
   *
   * @throws IllegalArgumentException if there is no such procedure
   */
  public static Call of(SparkSession spark, String procedure) {
    return new Call(SystemProcedures.call(spark, procedure));
  }

  /**
   * Gives an argument.
   *
   * @param value a value of the parameter's type, or its text; a map is a {@code Map} of texts, or
   *     an object of JSON; null is NULL
   * @throws IllegalArgumentException if there is no such parameter, the argument was given already,
   *     or the value is none of the parameter
   */
  public Call set(String name, @Nullable Object value) {
    call.give(name, value);
    return this;
  }

  /**
   * Runs the procedure at once.
   *
   * @return the rows of the answer, which are in the memory of the driver
   * @throws IllegalArgumentException if an argument is missing, or there is no such table
   */
  public Dataset<Row> run() {
    return call.run();
  }

  /** Runs the command for {@code spark-submit}; {@code --help} prints its arguments. */
  public static void main(String[] args) {
    SubmittedCommand.run(new CallJob(), args);
  }
}
