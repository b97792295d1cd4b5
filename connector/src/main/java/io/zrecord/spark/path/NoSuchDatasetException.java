package io.zrecord.spark.path;

import io.zrecord.spark.options.ZRecordOptions;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;

/**
 * Spark's exception for a table that does not exist, with a message that says how datasets are
 * named.
 */
public final class NoSuchDatasetException extends NoSuchTableException {
  private static final long serialVersionUID = 1L;

  private final String message;

  public NoSuchDatasetException(Identifier identifier) {
    super(identifier);
    message = "'" + identifier.name() + "' is not a path; write it with a slash, such as "
        + ZRecordOptions.FORMAT + ".`/data/train` or `./" + identifier.name() + "`";
  }

  @Override
  public String getMessage() {
    return message;
  }
}
