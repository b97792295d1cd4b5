package io.zrecord.table;

import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.read.ShardedFieldReader;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import java.util.List;
import java.util.UUID;

/** Writes a shard with a patch again, without the patch. */
final class ShardCopy {
  private static final int STEP_RECORDS = 256;

  private ShardCopy() {}

  /** Returns a shard with the same records in the same order. */
  static List<ShardSummary> copy(
      Storage storage, RecordSchema schema, ShardSummary shard, UUID id, WriteOptions options) {
    OpenShard open = OpenShards.unshared(storage, shard);
    ShardList list = new ShardList(new long[] {shard.length()}, List.of(() -> open));
    List<FieldReader> readers = schema.fields().stream()
        .<FieldReader>map(
            field -> new ShardedFieldReader(field, list, Verification.FIRST, new ReadMetrics()))
        .toList();
    try (ShardWriter writer = ShardWriter.create(storage, id, schema, options)) {
      for (long first = 0; first < shard.length(); first += STEP_RECORDS) {
        int count = (int) Math.min(STEP_RECORDS, shard.length() - first);
        long[] indices = new long[count];
        for (int i = 0; i < count; i++) {
          indices[i] = first + i;
        }
        readers.forEach(reader -> reader.select(indices, 0, count));
        for (int i = 0; i < count; i++) {
          putRecord(writer, readers, i);
        }
      }
      return writer.finish().stream()
          .map(copy -> copy.withPartition(shard.partition()))
          .toList();
    }
  }

  private static void putRecord(ShardWriter writer, List<FieldReader> readers, int i) {
    for (int field = 0; field < readers.size(); field++) {
      if (!readers.get(field).isAbsent(i)) {
        byte[] value = readers.get(field).value(i);
        writer.put(field, value, 0, value.length);
      }
    }
    writer.endRecord();
  }
}
