package io.zrecord;

import io.zrecord.schema.RecordSchema;

/**
 * Gathers records by index from a version of a table, a shard or a store. Implementations say which
 * threads may use them. {@link Datasets#open} opens a source of any kind.
 */
public interface RecordSource extends AutoCloseable {

  /** Returns the fields of the records. */
  RecordSchema schema();

  /** Returns the number of records; for a store, of the records that are committed now. */
  long length();

  /**
   * Gathers the values of some fields at any indices, in the order of the indices; duplicates are
   * allowed. The caller closes the batch.
   *
   * @param fields names of fields; none: all fields
   * @throws IndexOutOfBoundsException if an index is not in {@code [0, length)}
   * @throws IllegalArgumentException if there is no such field
   */
  Batch gather(long[] indices, String... fields);

  /** Refuses new batches. Batches that were handed out stay valid. */
  @Override
  void close();
}
