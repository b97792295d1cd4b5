package io.zrecord.table;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;

/** Small shards and changes for tests. */
final class Shards {
  static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I64).build();

  private Shards() {}

  /** Writes a shard with one record for each value. */
  static ShardSummary write(Storage storage, RecordSchema schema, long... values) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options)) {
      for (long value : values) {
        writer.putLong(0, value);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  static TableChange change(
      TableChange.Kind kind, OptionalLong base, RecordSchema schema, List<ShardSummary> shards) {
    return TableChange.of(kind, schema).baseVersion(base).shards(shards).build();
  }

  static TableChange append(OptionalLong base, ShardSummary... shards) {
    return change(TableChange.Kind.APPEND, base, SCHEMA, List.of(shards));
  }

  static TableChange overwrite(OptionalLong base, ShardSummary... shards) {
    return change(TableChange.Kind.OVERWRITE, base, SCHEMA, List.of(shards));
  }

  static OptionalLong newest(RecordTable table) {
    return table.exists() ? OptionalLong.of(table.latest().version()) : OptionalLong.empty();
  }
}
