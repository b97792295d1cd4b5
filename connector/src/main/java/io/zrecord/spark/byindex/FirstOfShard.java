package io.zrecord.spark.byindex;

import java.util.Arrays;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.api.java.UDF1;

/**
 * Finds the shard of a record, as the index of its first record. Refuses indices that a version
 * does not have. Thread-safe.
 *
 * @param firsts index of the first record of each shard of the version, and after them its length
 * @param version the version, for messages
 */
record FirstOfShard(Broadcast<long[]> firsts, String version) implements UDF1<Long, Long> {
  private static final long serialVersionUID = 1L;

  @Override
  public Long call(Long index) {
    long[] all = firsts.value();
    if (index == null || index < 0 || index >= all[all.length - 1]) {
      throw new IllegalArgumentException("A row has the _index " + index + ", but " + version
          + " has the indices 0 to " + (all[all.length - 1] - 1) + "; give the _index of a record");
    }
    int found = Arrays.binarySearch(all, index);
    return all[found >= 0 ? found : -found - 2];
  }
}
