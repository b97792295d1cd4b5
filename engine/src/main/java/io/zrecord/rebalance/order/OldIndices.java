package io.zrecord.rebalance.order;

import io.zrecord.Spi;

/** Which record comes where, asked from the new side. */
@Spi
@FunctionalInterface
public interface OldIndices {

  /**
   * Writes the old indices of the records that come at {@code firstNewIndex} and behind it to the
   * first {@code count} places.
   */
  void oldIndices(long firstNewIndex, long[] target, int count);
}
