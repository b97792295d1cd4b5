package io.zrecord.spark.column;

import org.apache.spark.sql.types.DataTypes;
import org.jspecify.annotations.Nullable;

/** The column {@code _index}, computed without reading anything. */
public final class IndexVector extends EmptyVector {
  private long first;
  private long @Nullable [] list;

  public IndexVector() {
    super(DataTypes.LongType);
  }

  /** Sets consecutive indices. */
  public void setRange(long newFirst) {
    first = newFirst;
    list = null;
  }

  /** Sets the indices of a list, each moved by {@code newFirst}. */
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
