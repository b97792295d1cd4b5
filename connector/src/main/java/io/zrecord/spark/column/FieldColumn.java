package io.zrecord.spark.column;

import io.zrecord.read.FieldReader;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.jspecify.annotations.Nullable;

/**
 * A vector over the selection of a field reader. The reader changes with the shard, and the vector
 * stays. The reader's absent values are nulls. Belongs to one task.
 */
public abstract class FieldColumn extends EmptyVector {
  private @Nullable FieldReader reader;
  private boolean hasNull;

  FieldColumn(DataType type) {
    super(type);
  }

  public final ColumnVector vector() {
    return this;
  }

  /** Continues with the reader of another shard. */
  public final void open(FieldReader newReader) {
    reader = newReader;
  }

  public final FieldReader reader() {
    return java.util.Objects.requireNonNull(reader);
  }

  /** Takes over the reader's new selection. */
  public final void load() {
    hasNull = reader().hasAbsent();
    loadValues(reader());
  }

  abstract void loadValues(FieldReader source);

  @Override
  public final boolean hasNull() {
    return hasNull;
  }

  @Override
  public final int numNulls() {
    int count = 0;
    if (hasNull) {
      for (int i = 0; i < reader().count(); i++) {
        count += reader().isAbsent(i) ? 1 : 0;
      }
    }
    return count;
  }

  @Override
  public final boolean isNullAt(int row) {
    return hasNull && reader().isAbsent(row);
  }

  /**
   * Copies the values of the selection one after the other, into {@code reused} if it is long
   * enough.
   */
  static byte[] copyAll(FieldReader source, byte[] reused) {
    int length = Math.toIntExact(source.totalLengthBytes());
    byte[] data = reused.length >= length ? reused : new byte[length];
    source.copyAll(data, 0);
    return data;
  }
}
