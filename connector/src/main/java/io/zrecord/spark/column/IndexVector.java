package io.zrecord.spark.column;

import org.apache.spark.sql.types.DataTypes;
import org.jspecify.annotations.Nullable;

/** The column {@code _index}: arithmetic, nothing is read. */
public final class IndexVector extends EmptyVector {
  private long first;
  private long @Nullable [] list;

  public IndexVector() {
    super(DataTypes.LongType);
  }

  /** Consecutive indices. */
  public void setRange(long newFirst) {
    first = newFirst;
    list = null;
  }

  /** Indices of a list, each moved by {@code newFirst}. */
  public void setList(long newFirst, long[] newList) {
    first = newFirst;
    list = newList;
  }

  @Override
  public long getLong(int row) {
    long[] indices = list;
    return first + (indices == null ? row : indices[row]);
  }
}
