package io.zrecord.rebalance.order;

import io.zrecord.Spi;

/** Says which record comes to which new index. */
@Spi
@FunctionalInterface
public interface OldIndices {

  /**
   * Writes the old indices of the records that come to {@code firstNewIndex} and the new indices
   * after it.
   *
   * @param target takes the old indices, in its first {@code count} places
   */
  void oldIndices(long firstNewIndex, long[] target, int count);
}
