package io.zrecord.spark.column;

import org.apache.spark.sql.types.DataTypes;

/** The column {@code _version}, one value for all rows. */
public final class VersionVector extends EmptyVector {
  private long version;

  public VersionVector() {
    super(DataTypes.LongType);
  }

  /** Sets the value. */
  public void set(long newVersion) {
    version = newVersion;
  }

  @Override
  public long getLong(int row) {
    return version;
  }
}
