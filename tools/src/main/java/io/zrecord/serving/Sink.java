package io.zrecord.serving;

import io.zrecord.schema.FieldSpec;
import io.zrecord.table.TableSnapshot;
import java.util.List;

/**
 * Takes the batches of a session, and commits what they say as one version. Closing it without a
 * commit leaves the table as it was, and deletes what was written.
 */
interface Sink extends AutoCloseable {
  /** Returns the fields that a batch has a column for, in their order. */
  List<FieldSpec> fields();

  /**
   * Takes a batch.
   *
   * @throws IllegalArgumentException if it does not fit; nothing can be committed any more
   */
  void put(ColumnBatch batch);

  /** Commits, and returns the version. */
  TableSnapshot commit();

  @Override
  void close();
}
