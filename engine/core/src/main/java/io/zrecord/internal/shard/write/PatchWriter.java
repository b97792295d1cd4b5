package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.Zeros;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the next patch of a shard: what the patch before says, and the changes of one commit
 * (FORMAT.md section 3.3). New values go to one new chunk. Belongs to one thread.
 */
public final class PatchWriter {
  private final Storage storage;
  private final ShardSummary shard;
  private final @Nullable PatchFile before;
  private final Durability durability;
  private final UUID fileId;
  private final UUID chunkId;
  private @Nullable WritableFile chunk;
  private long chunkBytes;

  /**
   * Prepares a patch.
   *
   * @param before the patch of the shard so far; null if there is none
   * @param fileId identity of the new patch
   * @param chunkId identity of the chunk for new values
   */
  public PatchWriter(
      Storage storage,
      ShardSummary shard,
      @Nullable PatchFile before,
      UUID fileId,
      UUID chunkId,
      Durability durability) {
    this.storage = storage;
    this.shard = shard;
    this.before = before;
    this.fileId = fileId;
    this.chunkId = chunkId;
    this.durability = durability;
  }

  /**
   * Writes the chunk and the patch. After an exception both may be there in part.
   *
   * @param deleted slots to delete, in rising order, which no patch has deleted before
   * @param changes new values by field and slot; an absent value is null. The slots are not deleted
   * @return the shard with the patch; its length may be 0, and its patch larger than allowed
   */
  public ShardSummary write(
      long[] deleted, Map<FieldSpec, SortedMap<Long, byte @Nullable []>> changes) {
    long[] allDeleted = union(deleted);
    RankedBitmap dead = allDeleted.length == 0 ? null : RankedBitmap.of(allDeleted);
    SortedMap<Integer, FieldSpec> specs = specs(changes);
    SortedMap<Integer, PatchValues> fields = new TreeMap<>();
    SortedMap<Integer, long[]> changed = new TreeMap<>();
    try {
      for (FieldSpec spec : specs.values()) {
        SortedMap<Long, byte @Nullable []> news = changes.getOrDefault(spec, new TreeMap<>());
        PatchValues values = merged(spec, dead, news);
        if (values.count() > 0) {
          fields.put(spec.id(), values);
        }
        changed.put(spec.id(), news.keySet().stream().mapToLong(slot -> slot).toArray());
      }
    } finally {
      closeChunk();
    }
    List<ChunkFile> chunks =
        new ArrayList<>(before == null ? List.of() : before.json().chunks());
    chunks.add(ChunkFile.of(chunkId, chunkBytes));
    return new PatchFileWriter(storage, shard, before, fileId, durability)
        .write(new PatchFileWriter.Content(allDeleted, specs, fields, chunks, deleted, changed));
  }

  private long[] union(long[] deleted) {
    RankedBitmap old = before == null ? null : before.deleted();
    if (old == null) {
      return deleted;
    }
    long[] all = Arrays.copyOf(old.slots(), Math.toIntExact(old.count() + deleted.length));
    System.arraycopy(deleted, 0, all, (int) old.count(), deleted.length);
    Arrays.sort(all);
    return all;
  }

  private SortedMap<Integer, FieldSpec> specs(
      Map<FieldSpec, SortedMap<Long, byte @Nullable []>> changes) {
    SortedMap<Integer, FieldSpec> specs = new TreeMap<>();
    if (before != null) {
      for (int id : before.json().fields().keySet()) {
        PatchField field = before.json().field(id);
        specs.put(
            id, new FieldSpec(id, "field" + id, field.type(), field.shape(), field.compression()));
      }
    }
    changes.keySet().forEach(spec -> specs.put(spec.id(), spec));
    return specs;
  }

  /** Returns the values of the patch before that are left, and the new ones. */
  private PatchValues merged(
      FieldSpec spec, @Nullable RankedBitmap dead, SortedMap<Long, byte @Nullable []> news) {
    PatchValues values = new PatchValues();
    ChangedField old = before == null ? null : before.changed(spec);
    long[] kept = old == null
        ? new long[0]
        : old.slots()
            .slotsIf(slot -> !news.containsKey(slot) && (dead == null || !dead.contains(slot)));
    int[] ordinals = IntStream.range(0, newChunk()).toArray();
    int next = 0;
    for (Map.Entry<Long, byte @Nullable []> change : news.entrySet()) {
      for (; next < kept.length && kept[next] < change.getKey(); next++) {
        values.keep(Objects.requireNonNull(old), kept[next], ordinals);
      }
      put(values, change.getKey(), change.getValue());
    }
    for (; next < kept.length; next++) {
      values.keep(Objects.requireNonNull(old), kept[next], ordinals);
    }
    StatisticsCollector collector = StatisticsCollector.of(spec);
    if (collector != null && values.count() > 0) {
      values.statistics = statistics(collector, values, news, old, knownOf(spec, old));
    }
    return values;
  }

  /** Returns the number of the new chunk, after those of the patch before. */
  private int newChunk() {
    return before == null ? 0 : before.json().chunks().size();
  }

  private List<StatisticsRecord> knownOf(FieldSpec spec, @Nullable ChangedField old) {
    return before == null || old == null ? List.of() : before.statistics(spec.id(), old.slots());
  }

  /** Returns what the values are: the new ones, and those that the patch before has. */
  private List<StatisticsRecord> statistics(
      StatisticsCollector collector,
      PatchValues values,
      SortedMap<Long, byte @Nullable []> news,
      @Nullable ChangedField old,
      List<StatisticsRecord> known) {
    List<StatisticsRecord> records = new ArrayList<>();
    boolean isAnyKnown = false;
    for (int from = 0; from < values.count(); ) {
      long end = values.slot(from) / StatisticsRecord.SLOTS * StatisticsRecord.SLOTS
          + StatisticsRecord.SLOTS;
      int to = from;
      int keptCount = 0;
      int absentCount = 0;
      for (; to < values.count() && values.slot(to) < end; to++) {
        byte[] value = news.get(values.slot(to));
        keptCount += news.containsKey(values.slot(to)) ? 0 : 1;
        absentCount += values.isAbsent(to) ? 1 : 0;
        if (value != null) {
          collector.add(value, 0, value.length);
        }
      }
      collector.endBlock();
      StatisticsRecord fresh = collector.records().get(collector.records().size() - 1);
      StatisticsRecord kept = StatisticsRecord.unknown(0);
      boolean isWhole = true;
      if (keptCount == 0) {
        kept = StatisticsRecord.NOTHING;
      } else if (old != null && !known.isEmpty()) {
        int container = old.slots().containerOf(end - 1);
        kept = known.get(container);
        isWhole = keptCount == old.slots().containerSlots(container);
      }
      StatisticsRecord joined = fresh.join(kept, isWhole, absentCount, to - from - absentCount);
      isAnyKnown |= joined.isKnown();
      records.add(joined);
      from = to;
    }
    return isAnyKnown ? records : List.of();
  }

  private void put(PatchValues values, long slot, byte @Nullable [] value) {
    if (value == null) {
      values.addAbsent(slot);
      return;
    }
    WritableFile target = chunk();
    long offset = target.positionBytes();
    target.write(ByteBuffer.wrap(value));
    Zeros.write(target, -value.length & 7);
    values.add(slot, offset, newChunk(), value.length, Crc32c.of(value));
  }

  private WritableFile chunk() {
    WritableFile current = chunk;
    if (current == null) {
      current =
          storage.create(shard.directory() + "/" + ChunkFile.of(chunkId, 0).fileName());
      chunk = current;
      current.write(
          ByteBuffer.wrap(new FileHeader(FileHeader.Kind.CHUNK, shard.id(), chunkId).encode()));
    }
    return current;
  }

  private void closeChunk() {
    WritableFile current = chunk;
    if (current != null) {
      chunk = null;
      try (current) {
        if (durability == Durability.COMMIT) {
          current.force();
        }
        chunkBytes = current.positionBytes();
        current.finish();
      }
    }
  }
}
