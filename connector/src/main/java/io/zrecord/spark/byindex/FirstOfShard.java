package io.zrecord.spark.byindex;

import io.zrecord.table.TableSnapshot;
import java.util.Arrays;
import org.apache.spark.sql.api.java.UDF1;

/**
 * Finds the shard of a record, as the index of its first record. Refuses indices that a version
 * does not have. Spark sends it once to each executor, with 8 bytes for each shard. Immutable.
 */
final class FirstOfShard implements UDF1<Long, Long> {
  private static final long serialVersionUID = 1L;

  /** Index of the first record of each shard, and after them the length of the version. */
  private final long[] firsts;

  private final String version;

  FirstOfShard(TableSnapshot version) {
    this.version = version.toString();
    this.firsts = new long[version.shards().size() + 1];
    for (int i = 0; i < firsts.length; i++) {
      firsts[i] = version.firstIndex(i);
    }
  }

  @Override
  public Long call(Long index) {
    long length = firsts[firsts.length - 1];
    if (index == null || index < 0 || index >= length) {
      throw new IllegalArgumentException("A row has the _index " + index + ", but " + version
          + " has the indices 0 to " + (length - 1) + "; give the _index of a record");
    }
    int found = Arrays.binarySearch(firsts, index);
    return firsts[found >= 0 ? found : -found - 2];
  }
}
