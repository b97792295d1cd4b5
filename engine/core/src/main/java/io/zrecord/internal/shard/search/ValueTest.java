package io.zrecord.internal.shard.search;

import io.zrecord.read.FieldReader;

/** Tells which of some selected values are within a range. Belongs to one thread. */
interface ValueTest {
  /**
   * Tests the selected values of a reader. What is said of an absent value does not matter.
   *
   * @param matches receives whether each value is within a range; not shorter than the selection
   */
  void test(FieldReader values, boolean[] matches);
}
