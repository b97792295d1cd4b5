package io.zrecord.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ShardSummary;
import java.util.List;

/**
 * The cost of one shard's records in a scan of some fields. The stored bytes of the fields are
 * known for the shard only, and are spread evenly over its records. Each field has stripes of its
 * own, so no cut inside a shard is better than another. Immutable.
 */
final class ShardWeight {
  private final long length;
  private final long valueBytes;

  ShardWeight(ShardSummary shard, List<FieldSpec> fields) {
    long bytes = 0;
    for (FieldSpec field : fields) {
      bytes += shard.valueBytes().getOrDefault(field.id(), 0L);
    }
    this.length = shard.length();
    this.valueBytes = bytes;
  }

  /** Returns the stored bytes of the records: exact for the whole shard. */
  long bytes(IndexSet local) {
    return local.count() == length ? valueBytes : Math.round(share(local) * valueBytes);
  }

  /**
   * Returns the weight of the records: bytes, but at least one a record, so that a scan that needs
   * no bytes is divided too.
   */
  double weight(IndexSet local) {
    return share(local) * Math.max(valueBytes, length);
  }

  private double share(IndexSet local) {
    return (double) local.count() / length;
  }
}
