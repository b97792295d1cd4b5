package io.zrecord.spark.path;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import java.util.function.Supplier;
import org.apache.spark.QueryContext;
import org.apache.spark.sql.AnalysisException;
import scala.Option;
import scala.collection.immutable.Map;

/**
 * Turns exceptions of the engine into Spark's, where Spark plans a query. Spark and its clients in
 * other languages and processes know only Spark's own. The conditions exist in every release.
 * Stateless.
 */
public final class SparkErrors {
  private static final String NO_PATH = "PATH_NOT_FOUND";
  private static final String NO_VERSION = "TABLE_OR_VIEW_NOT_FOUND";
  private static final String OTHER_FIELDS = "INCOMPATIBLE_DATA_FOR_TABLE";

  private SparkErrors() {}

  /**
   * Does a part of planning. Throws {@link AnalysisException} if there is no dataset, no such
   * version or tag, or if columns do not fit. The cause is the engine's exception.
   */
  public static <T> T planned(Supplier<T> action) {
    try {
      return action.get();
    } catch (NotADatasetException e) {
      throw analysis(NO_PATH, e);
    } catch (VersionNotFoundException e) {
      throw analysis(NO_VERSION, e);
    } catch (SchemaMismatchException e) {
      throw analysis(OTHER_FIELDS, e);
    }
  }

  /** Throws Spark's exception, which Java takes for a checked one. */
  private static RuntimeException analysis(String condition, ZRecordException cause) {
    throw SparkErrors.<RuntimeException>unchecked(new AnalysisException(
        "[" + condition + "] " + cause.getMessage(),
        Option.empty(),
        Option.empty(),
        Option.apply(cause),
        Option.apply(condition),
        new Map.Map1<>("path", String.valueOf(cause.resource())),
        new QueryContext[0]));
  }

  /** Lets a checked exception pass where Java expects none, as Spark's own code does. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E unchecked(Exception exception) throws E {
    throw (E) exception;
  }
}
