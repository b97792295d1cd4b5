package io.zrecord.spark.column;

import java.util.function.LongUnaryOperator;
import org.apache.spark.sql.types.DataTypes;

/** The column {@code _shard}, computed from the index of each row without reading anything. */
public final class ShardVector extends EmptyVector {
  private LongUnaryOperator shards = row -> row;

  public ShardVector() {
    super(DataTypes.LongType);
  }

  /** Sets one value for all rows. */
  public void setAll(long shard) {
    shards = row -> shard;
  }

  /**
   * Sets what tells the value of a row.
   *
   * @param ofRow returns the index of the first record of the shard, from the number of the row
   */
  public void set(LongUnaryOperator ofRow) {
    shards = ofRow;
  }

  @Override
  public long getLong(int row) {
    return shards.applyAsLong(row);
  }
}
