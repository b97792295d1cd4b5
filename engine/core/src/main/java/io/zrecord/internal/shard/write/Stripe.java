package io.zrecord.internal.shard.write;

import java.util.List;

/**
 * The stripe of one field, or of several small fields that are read together. The values collected
 * in a stripe are written next to each other, field after field. Belongs to one thread.
 */
final class Stripe {
  private final ColumnWriter[] columns;
  private final long fullBytes;

  /** Bytes that a record adds; 0 if not all records add the same. */
  private final long recordBytes;

  /** Records that end before the stripe can be full. */
  private long recordsUntilFull;

  /**
   * Creates an empty stripe.
   *
   * @param fullBytes collected bytes at which the stripe is full
   */
  Stripe(List<ColumnWriter> columns, long fullBytes) {
    this.columns = columns.toArray(ColumnWriter[]::new);
    this.fullBytes = fullBytes;
    this.recordBytes = recordBytes(columns);
  }

  private static long recordBytes(List<ColumnWriter> columns) {
    long bytes = 0;
    for (ColumnWriter column : columns) {
      if (!(column instanceof DenseColumnWriter)) {
        return 0;
      }
      bytes += column.field().valueWidthBytes().orElse(0);
    }
    return bytes;
  }

  /** Ends the record of each field. Returns whether the stripe is full. */
  boolean endRecord(long before) {
    for (ColumnWriter column : columns) {
      column.endRecord(before);
    }
    recordsUntilFull--;
    return recordsUntilFull < 0 && isFull();
  }

  private boolean isFull() {
    long missing = fullBytes - collectedBytes();
    if (recordBytes > 0 && missing > 0) {
      recordsUntilFull = (missing - 1) / recordBytes;
    }
    return missing <= 0;
  }

  /** Returns the bytes that were collected since the last flush. */
  long collectedBytes() {
    long collected = 0;
    for (ColumnWriter column : columns) {
      collected += column.collectedBytes();
    }
    return collected;
  }

  /** Writes the collected values to the chunk. */
  void flush() {
    for (ColumnWriter column : columns) {
      column.flushStripe();
    }
    recordsUntilFull = 0;
  }
}
