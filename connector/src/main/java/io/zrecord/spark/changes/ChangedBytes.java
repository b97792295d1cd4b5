package io.zrecord.spark.changes;

import io.zrecord.changes.ShardChanges;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import org.jspecify.annotations.Nullable;

/**
 * Estimates how many bytes tell what changed in a shard, from what lists of shards say. Stateless.
 */
final class ChangedBytes {
  /** How many bytes of values are read for each byte that a patch got: records before and after. */
  private static final long PER_PATCH_BYTE = 8;

  private ChangedBytes() {}

  /**
   * Returns about how many bytes of values are read.
   *
   * @param fields the fields that are read
   */
  static long of(ShardChanges changes, RecordSchema fields) {
    ShardSummary before = changes.before();
    ShardSummary after = changes.after();
    if (before == null || after == null) {
      ShardSummary whole = before == null ? after : before;
      return whole == null ? 0 : (long) (ofRecord(whole, fields) * whole.length());
    }
    double ofRecord = ofRecord(before, fields);
    long most = (long) (2 * ofRecord * before.length());
    if (!changes.rewrittenFields().isEmpty()) {
      return most;
    }
    long deleted = (long) (ofRecord * Math.max(0, before.length() - after.length()));
    long patched = PER_PATCH_BYTE * Math.max(0, bytes(after.patch()) - bytes(before.patch()));
    return Math.min(most, deleted + patched);
  }

  private static long bytes(@Nullable PatchRef patch) {
    return patch == null ? 0 : patch.bytes();
  }

  private static double ofRecord(ShardSummary shard, RecordSchema fields) {
    long bytes = 0;
    for (FieldSpec field : fields.fields()) {
      bytes += shard.valueBytes().getOrDefault(field.id(), 0L);
    }
    return (double) bytes / Math.max(1, shard.slots());
  }
}
