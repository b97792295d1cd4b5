package io.zrecord.internal.shard.write;

import java.util.List;

/**
 * The stripe of one field, or of several small fields that are read together. The values collected
 * in a stripe are written next to each other, field after field. Belongs to one thread.
 */
final class Stripe {
  private final ColumnWriter[] columns;
  private final long fullBytes;
  private long collectedBytes;

  /**
   * Creates an empty stripe.
   *
   * @param fullBytes collected bytes at which the stripe is full
   */
  Stripe(List<ColumnWriter> columns, long fullBytes) {
    this.columns = columns.toArray(ColumnWriter[]::new);
    this.fullBytes = fullBytes;
  }

  /** Ends the record of each field. */
  void endRecord(long before) {
    long collected = 0;
    for (ColumnWriter column : columns) {
      column.endRecord(before);
      collected += column.collectedBytes();
    }
    collectedBytes = collected;
  }

  /** Returns the bytes that were collected up to the end of the last record. */
  long collectedBytes() {
    return collectedBytes;
  }

  boolean isFull() {
    return collectedBytes >= fullBytes;
  }

  /** Writes the collected values to the chunk. */
  void flush() {
    for (ColumnWriter column : columns) {
      column.flushStripe();
    }
    collectedBytes = 0;
  }
}
