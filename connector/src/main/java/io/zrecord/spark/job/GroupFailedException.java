package io.zrecord.spark.job;

import io.zrecord.errors.ZRecordException;
import org.jspecify.annotations.Nullable;

/** Thrown if a task could not rewrite its group of shards. The shards stay as they are. */
final class GroupFailedException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  GroupFailedException(String location, String message, @Nullable Throwable cause) {
    super(location, message, cause);
  }
}
