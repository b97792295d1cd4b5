package io.zrecord.internal.shard.write;

import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes patches of shards for tests. */
public final class Patches {
  private Patches() {}

  /** Writes the next patch of a shard. */
  public static ShardSummary write(
      Storage storage,
      ShardSummary shard,
      long[] deleted,
      Map<FieldSpec, SortedMap<Long, byte @Nullable []>> changes) {
    return write(storage, shard, UUID.randomUUID(), UUID.randomUUID(), deleted, changes);
  }

  /** Writes the next patch of a shard, with a file and a chunk of given names. */
  public static ShardSummary write(
      Storage storage,
      ShardSummary shard,
      UUID fileId,
      UUID chunkId,
      long[] deleted,
      Map<FieldSpec, SortedMap<Long, byte @Nullable []>> changes) {
    PatchFile before = OpenShards.unshared(storage, shard).patch();
    try (PatchWriter writer =
        new PatchWriter(storage, shard, before, fileId, chunkId, Durability.NONE)) {
      changes.entrySet().stream()
          .sorted(Map.Entry.comparingByKey(Comparator.comparingInt(FieldSpec::id)))
          .forEach(field ->
              field.getValue().forEach((slot, value) -> put(writer, field.getKey(), slot, value)));
      for (long slot : deleted) {
        writer.delete(slot);
      }
      return writer.finish();
    }
  }

  /** Gives a value; null if it is absent. */
  static void put(PatchWriter writer, FieldSpec field, long slot, byte @Nullable [] value) {
    PatchWriter.FieldValues values = writer.values(field);
    if (value == null) {
      values.putAbsent(slot);
    } else {
      values.put(slot, value, 0, value.length);
    }
  }

  /** Writes a patch that has a value of a record that it deletes, as no writer does. */
  public static ShardSummary writeWithValueOfDeleted(
      Storage storage,
      ShardSummary shard,
      long slot,
      Map<FieldSpec, SortedMap<Long, byte @Nullable []>> changes) {
    ShardSummary written = write(storage, shard, new long[0], changes);
    PatchFile sound =
        Objects.requireNonNull(OpenShards.unshared(storage, written).patch());
    storage.delete(shard.directory() + "/" + sound.json().fileId() + ".patch");
    SlotCollector deleted = SlotCollector.of(new long[] {slot});
    PatchFileWriter.Content content = new PatchFileWriter.Content(deleted, deleted);
    content.chunks.addAll(sound.json().chunks());
    changes.keySet().forEach(field -> {
      PatchValues values = new PatchValues();
      values.keep(Objects.requireNonNull(sound.changed(field)), slot, slot, new int[] {0});
      content.specs.put(field.id(), field);
      content.fields.put(field.id(), values);
    });
    return new PatchFileWriter(storage, shard, null, UUID.randomUUID(), Durability.NONE)
        .write(content);
  }
}
