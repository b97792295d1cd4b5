package io.zrecord.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;

/** Tables of numbered records that are partitioned by their kind, and moves between partitions. */
final class PartitionedRecords {
  static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("kind", ElementType.UTF8)
      .build();
  static final List<Integer> PARTITIONS = List.of(2);

  private PartitionedRecords() {}

  static ShardWriter writer(Storage storage, String kind, Durability durability) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(durability);
    return ShardWriter.create(
        storage, UUID.randomUUID(), SCHEMA, options, PARTITIONS, List.of(kind));
  }

  static void put(ShardWriter writer, long number, String kind) {
    writer.putLong(0, number);
    writer.put(1, kind.getBytes(UTF_8), 0, kind.length());
    writer.endRecord();
  }

  static ShardSummary shard(Storage storage, Durability durability, String kind, long... numbers) {
    try (ShardWriter writer = writer(storage, kind, durability)) {
      for (long number : numbers) {
        put(writer, number, kind);
      }
      return writer.finish().orElseThrow();
    }
  }

  static TableChange create(List<ShardSummary> shards) {
    return TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .shards(shards)
        .build()
        .partitionedBy(PARTITIONS);
  }

  /** Returns the numbers of the records of a version, in their order. */
  static List<Long> numbers(TableSnapshot version) {
    try (RecordDataset dataset = RecordDataset.open(version, ReadOptions.defaults())) {
      int length = (int) dataset.length();
      FieldReader reader = dataset.reader("number");
      reader.select(LongStream.range(0, length).toArray(), 0, length);
      List<Long> numbers = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        numbers.add(
            ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
      return numbers;
    }
  }

  /** Returns the partition of each record of a version, by its number. */
  static Map<Long, String> kinds(TableSnapshot version) {
    List<Long> numbers = numbers(version);
    Map<Long, String> kinds = new HashMap<>();
    for (int ordinal = 0; ordinal < version.shards().size(); ordinal++) {
      ShardSummary shard = version.shards().get(ordinal);
      int first = (int) version.firstIndex(ordinal);
      for (int i = first; i < first + shard.length(); i++) {
        kinds.put(numbers.get(i), shard.partition().get(0));
      }
    }
    return kinds;
  }

  /** Writes what moves records of a version to a shard of a partition, and says where they were. */
  static MergeChange moving(TableSnapshot base, Durability durability, String kind, long... moved) {
    Storage storage = base.storage();
    MergeChange merge = MergeChange.of(base);
    List<Long> numbers = numbers(base);
    Map<Integer, List<Integer>> byShard = new HashMap<>();
    for (long number : moved) {
      int index = numbers.indexOf(number);
      byShard.computeIfAbsent(base.shardOf(index), ordinal -> new ArrayList<>()).add(index);
    }
    try (ShardWriter target = writer(storage, kind, durability)) {
      byShard.forEach((ordinal, indices) -> {
        ShardSummary shard = base.shards().get(ordinal);
        try (ShardChangeWriter changes =
            ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of())) {
          for (int index : indices) {
            long inShard = index - base.firstIndex(ordinal);
            changes.delete(inShard);
            target.movedFrom(shard.id(), changes.slotOf(inShard));
            put(target, numbers.get(index), kind);
          }
          merge.change(changes.finish());
        }
      });
      merge.adding(List.of(target.finish().orElseThrow()));
    }
    return merge;
  }
}
