package io.zrecord.internal.table;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.shard.file.FileIds;
import io.zrecord.internal.shard.write.TablesWriter;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BiFunction;

/**
 * A shard as a store leaves it: record after record in a chunk of the store, and entries in place
 * of runs.
 */
final class GoldenEntries {
  private static final int STORE_CHUNK = 3;

  private final UUID shard;
  private final RecordSchema schema;
  private final int records;
  private final ByteBuffer chunk = ByteBuffer.allocate(1 << 18).order(ByteOrder.LITTLE_ENDIAN);

  private final BiFunction<FieldSpec, Integer, Optional<byte[]>> values;

  private GoldenEntries(
      UUID shard,
      RecordSchema schema,
      int records,
      BiFunction<FieldSpec, Integer, Optional<byte[]>> values) {
    this.shard = shard;
    this.schema = schema;
    this.records = records;
    this.values = values;
  }

  /** Writes a shard with the values of {@link GoldenDataset}. */
  static ShardSummary write(Storage storage, UUID shard, RecordSchema schema, int records) {
    return write(storage, shard, schema, records, GoldenDataset::value);
  }

  /**
   * Writes a shard.
   *
   * @param values returns the value of a field and a record; empty if it is absent
   */
  static ShardSummary write(
      Storage storage,
      UUID shard,
      RecordSchema schema,
      int records,
      BiFunction<FieldSpec, Integer, Optional<byte[]>> values) {
    return new GoldenEntries(shard, schema, records, values).write(storage);
  }

  private ShardSummary write(Storage storage) {
    chunk.put(new ChunkHeader(STORE_CHUNK, shard).encode());
    int fields = schema.fields().size();
    ByteBuffer[] entries = new ByteBuffer[fields];
    ByteBuffer[] checksums = new ByteBuffer[fields];
    long[] absent = new long[fields];
    SortedMap<Integer, Long> valueBytes = new TreeMap<>();
    for (int f = 0; f < fields; f++) {
      entries[f] = ByteBuffer.allocate(Entry.BYTES * records).order(ByteOrder.LITTLE_ENDIAN);
      checksums[f] = ByteBuffer.allocate(Integer.BYTES * records).order(ByteOrder.LITTLE_ENDIAN);
    }
    for (int i = 0; i < records; i++) {
      for (int f = 0; f < fields; f++) {
        FieldSpec field = schema.fields().get(f);
        Optional<byte[]> value = values.apply(field, i);
        byte[] stored = value.orElse(new byte[0]);
        long word0 = value.isPresent() ? chunk.position() : 0;
        long word1 = value.isPresent() ? Entry.word1(0, stored.length) : 0;
        entries[f].putLong(word0).putLong(word1);
        checksums[f].putInt(
            new Binding(shard, field.id()).bindEntry(i, word0, word1, Crc32c.of(stored)));
        chunk.put(stored).position((chunk.position() + 7) & -8);
        absent[f] += value.isPresent() ? 0 : 1;
        valueBytes.merge(field.id(), (long) stored.length, Long::sum);
      }
    }
    ChunkFile file = new ChunkFile(FileIds.chunk(shard, 0), chunk.position(), STORE_CHUNK, records);
    String directory = "shard/" + shard;
    try (WritableFile target = storage.create(directory + "/" + file.fileName())) {
      target.write(chunk.flip());
    }
    try (TablesWriter writer =
        new TablesWriter(storage, directory, shard, FileIds.tables(shard), records, true)) {
      for (int f = 0; f < fields; f++) {
        FieldSpec field = schema.fields().get(f);
        writer.entries(
            field,
            new TablesWriter.Amount(absent[f], valueBytes.get(field.id())),
            entries[f].flip()::get,
            checksums[f].flip()::get);
      }
      TablesRef ref = writer.seal(List.of(file), Durability.NONE);
      return new ShardSummary(shard, records, List.of(file), List.of(ref), valueBytes);
    }
  }
}
