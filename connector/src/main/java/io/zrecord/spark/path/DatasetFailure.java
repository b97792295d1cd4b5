package io.zrecord.spark.path;

import io.zrecord.errors.ZRecordException;
import org.apache.spark.QueryContext;
import org.apache.spark.SparkRuntimeException;
import scala.collection.immutable.Map;

/**
 * An exception of the engine in a form that Spark passes on to its clients in other languages and
 * processes: they know {@link SparkRuntimeException}, its condition and its SQL state, and take
 * other classes for unknown. The cause is the exception of the engine. Immutable.
 */
public final class DatasetFailure extends SparkRuntimeException {
  private static final long serialVersionUID = 1L;

  private final String condition;
  private final String sqlState;
  private final String text;

  DatasetFailure(String condition, String sqlState, ZRecordException cause) {
    // Spark makes its own text from a condition that it knows; nobody sees that text.
    super(
        "INTERNAL_ERROR",
        new Map.Map1<>("message", String.valueOf(cause.getMessage())),
        cause,
        new QueryContext[0],
        "");
    this.condition = condition;
    this.sqlState = sqlState;
    this.text = "[" + condition + "] " + cause.getMessage() + " SQLSTATE: " + sqlState;
  }

  @Override
  public String getMessage() {
    return text;
  }

  @Override
  public String getErrorClass() {
    return condition;
  }

  /** Returns the condition. Overrides a method that Spark has from 4.0 on. */
  public String getCondition() {
    return condition;
  }

  /** Returns the text without its values. Overrides a method that Spark has from 4.1 on. */
  public String getDefaultMessageTemplate() {
    return "<message>";
  }

  @Override
  public String getSqlState() {
    return sqlState;
  }
}
