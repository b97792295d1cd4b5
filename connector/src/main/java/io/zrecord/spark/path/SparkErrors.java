package io.zrecord.spark.path;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.StoreAbandonedException;
import io.zrecord.errors.StoreLockedException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import java.util.function.Supplier;
import org.apache.spark.QueryContext;
import org.apache.spark.sql.AnalysisException;
import scala.Option;
import scala.collection.immutable.Map;

/**
 * Turns exceptions of the engine into Spark's, on the driver. Spark and its clients in other
 * languages and processes know only Spark's own. The conditions of {@link AnalysisException} exist
 * in every release, and those of {@link DatasetFailure} are zrecord's. Stateless.
 */
public final class SparkErrors {
  private static final String NO_PATH = "PATH_NOT_FOUND";
  private static final String NO_VERSION = "TABLE_OR_VIEW_NOT_FOUND";
  private static final String OTHER_FIELDS = "INCOMPATIBLE_DATA_FOR_TABLE";
  private static final String EXISTS = "TABLE_OR_VIEW_ALREADY_EXISTS";

  private SparkErrors() {}

  /**
   * Does a part of planning, or a commit. Throws {@link AnalysisException} if there is no dataset,
   * no such version or tag, or a dataset that should not be there, or if columns do not fit. Throws
   * {@link DatasetFailure} for conflicts, damage, and what storages and stores report. The cause is
   * the engine's exception.
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
    } catch (DatasetExistsException e) {
      throw analysis(EXISTS, e);
    } catch (CommitConflictException e) {
      throw new DatasetFailure("ZRECORD_COMMIT_CONFLICT", "40001", e);
    } catch (CommitOutcomeUnknownException e) {
      throw new DatasetFailure("ZRECORD_COMMIT_OUTCOME_UNKNOWN", "40003", e);
    } catch (CorruptDataException | MissingFileException | TruncatedFileException e) {
      throw new DatasetFailure("ZRECORD_DATA_DAMAGED", "XX001", e);
    } catch (UnsupportedFormatException e) {
      throw new DatasetFailure("ZRECORD_UNSUPPORTED_FORMAT", "0A000", e);
    } catch (StoreLockedException | StoreAbandonedException e) {
      throw new DatasetFailure("ZRECORD_STORE_IN_USE", "55006", e);
    } catch (StorageException e) {
      throw new DatasetFailure("ZRECORD_STORAGE_FAILURE", "58030", e);
    }
  }

  /** Does the same with an action that returns nothing. */
  public static void done(Runnable action) {
    planned(() -> {
      action.run();
      return true;
    });
  }

  /**
   * Throws Spark's exception, which Java takes for a checked one. Has the parameters of the texts
   * that Spark has for the conditions. A client of Spark Connect in Scala or Java builds the text
   * from the parameters, and fails if one of them is missing.
   */
  private static RuntimeException analysis(String condition, ZRecordException cause) {
    String path = String.valueOf(cause.resource());
    throw SparkErrors.<RuntimeException>unchecked(new AnalysisException(
        "[" + condition + "] " + cause.getMessage(),
        Option.empty(),
        Option.empty(),
        Option.apply(cause),
        Option.apply(condition),
        new Map.Map3<>("path", path, "relationName", path, "searchPath", path),
        new QueryContext[0]));
  }

  /** Throws an exception of Spark where Java expects none. Returns nothing. */
  public static RuntimeException thrown(AnalysisException exception) {
    throw SparkErrors.<RuntimeException>unchecked(exception);
  }

  /** Lets a checked exception pass where Java expects none, as Spark's own code does. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E unchecked(Exception exception) throws E {
    throw (E) exception;
  }
}
