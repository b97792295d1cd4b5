package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the next patch of a shard: what the patch before says, and the changes of one commit
 * (FORMAT.md section 3.3). New values go to one new chunk by 64 KiB; their places stay in memory.
 * Belongs to one thread.
 */
public final class PatchWriter implements AutoCloseable {
  private static final long[] NO_SLOTS = {};

  private final Storage storage;
  private final Durability durability;
  private final UUID fileId;
  private final UUID chunkId;
  private final SlotCollector deleted = new SlotCollector();
  private final SortedMap<Integer, NewValues> news = new TreeMap<>();
  private final SortedMap<Integer, FieldSpec> specs = new TreeMap<>();
  private final Optional<UUID> predecessor;
  private ShardSummary shard;
  private @Nullable PatchFile before;
  private @Nullable ValueChunk chunk;
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
    this.predecessor = Optional.ofNullable(before).map(patch -> patch.json().fileId());
  }

  /**
   * Puts the changes on top of another state of the shard, with the same slots and the same deleted
   * ones. The patch still says that it follows the patch of the shard so far.
   *
   * @param newBefore the patch of that state; null if there is none
   */
  public void on(ShardSummary newShard, @Nullable PatchFile newBefore) {
    shard = newShard;
    before = newBefore;
  }

  /**
   * Deletes a slot, which no patch has deleted before. Values given for the slot are dropped.
   * Returns false if this patch has deleted the slot already.
   */
  public boolean delete(long slot) {
    return deleted.add(slot);
  }

  /** Tells whether this patch deletes a slot that no patch has deleted before. */
  public boolean deletes(long slot) {
    return deleted.contains(slot);
  }

  /** Returns the number of slots that this patch deletes and no patch has deleted before. */
  public long deletedCount() {
    return deleted.count();
  }

  /**
   * Returns what takes new values of a field. A field without a new value is not named by the
   * patch.
   *
   * @param field of the type that the patch before has
   */
  public FieldValues values(FieldSpec field) {
    return new FieldValues(field);
  }

  /** Takes new values of a field. Belongs to the thread of its writer. */
  public final class FieldValues {
    private final FieldSpec field;
    private @Nullable NewValues values;

    private FieldValues(FieldSpec field) {
      this.field = field;
    }

    /**
     * Gives a value, which takes the place of one given before.
     *
     * @param slot one that is not deleted
     * @param source has the bytes, which are copied
     */
    public void put(long slot, byte[] source, int offset, int length) {
      values().add(slot, source, offset, length, chunk().add(source, offset, length));
    }

    /** Lets the value of a slot be absent, which takes the place of one given before. */
    public void putAbsent(long slot) {
      values().addAbsent(slot);
    }

    private NewValues values() {
      NewValues known = values;
      if (known == null) {
        specs.put(field.id(), field);
        known = news.computeIfAbsent(field.id(), id -> new NewValues(field));
        values = known;
      }
      return known;
    }
  }

  /**
   * Ends the chunk and writes the patch. After an exception both may be there in part.
   *
   * @return the shard with the patch; its length may be 0, and its patch larger than allowed
   */
  public ShardSummary finish() {
    finishChunk();
    SlotCollector allDeleted = allDeleted();
    RankedBitmap dead = allDeleted.toSet();
    PatchFileWriter.Content content = new PatchFileWriter.Content(allDeleted, deleted);
    addSpecsOfBefore();
    content.specs.putAll(specs);
    for (FieldSpec spec : specs.values()) {
      NewValues values = news.getOrDefault(spec.id(), new NewValues(spec));
      values.settle(deleted);
      content.changedByCommit.put(spec.id(), values.slots());
      PatchValues merged = merged(spec, dead, values);
      if (merged.count() > 0) {
        content.fields.put(spec.id(), merged);
      }
    }
    if (before != null) {
      content.chunks.addAll(before.json().chunks());
    }
    content.chunks.add(ChunkFile.of(chunkId, chunkBytes));
    return new PatchFileWriter(storage, shard, before, fileId, durability)
        .following(predecessor)
        .write(content);
  }

  private void addSpecsOfBefore() {
    if (before != null) {
      for (int id : before.json().fields().keySet()) {
        PatchField field = before.json().field(id);
        specs.putIfAbsent(
            id, new FieldSpec(id, "field" + id, field.type(), field.shape(), field.compression()));
      }
    }
  }

  /** Gives the chunk up, unless it has ended. */
  @Override
  public void close() {
    ValueChunk current = chunk;
    if (current != null) {
      chunk = null;
      current.close();
    }
  }

  private SlotCollector allDeleted() {
    RankedBitmap old = before == null ? null : before.deleted();
    if (old == null) {
      return deleted;
    }
    SlotCollector all = SlotCollector.of(old);
    deleted.forEach(all::add);
    return all;
  }

  /** Returns the values of the patch before that are left, and the new ones. */
  private PatchValues merged(FieldSpec spec, @Nullable RankedBitmap dead, NewValues fresh) {
    PatchValues values = new PatchValues();
    if (fresh.slots().length == 0 && before != null && before.json().hasField(spec.id())) {
      values.compression = before.json().field(spec.id()).compression();
    }
    ChangedField old = before == null ? null : before.changed(spec);
    long[] slots = fresh.slots();
    long[] kept = old == null
        ? NO_SLOTS
        : old.slots()
            .slotsIf(slot ->
                Arrays.binarySearch(slots, slot) < 0 && (dead == null || !dead.contains(slot)));
    int[] ordinals = IntStream.range(0, newChunk()).toArray();
    int next = 0;
    for (int rank = 0; rank < slots.length; rank++) {
      for (; next < kept.length && kept[next] < slots[rank]; next++) {
        values.keep(Objects.requireNonNull(old), kept[next], kept[next], ordinals);
      }
      fresh.addTo(values, rank, newChunk());
    }
    for (; next < kept.length; next++) {
      values.keep(Objects.requireNonNull(old), kept[next], kept[next], ordinals);
    }
    if (StatisticsCollector.of(spec) != null && values.count() > 0) {
      values.statistics = statistics(values, fresh, old, knownOf(spec, old));
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
  private static List<StatisticsRecord> statistics(
      PatchValues values,
      NewValues fresh,
      @Nullable ChangedField old,
      List<StatisticsRecord> known) {
    List<StatisticsRecord> records = new ArrayList<>();
    boolean isAnyKnown = false;
    int freshRank = 0;
    for (int from = 0; from < values.count(); ) {
      long container = values.slot(from) / StatisticsRecord.SLOTS;
      long end = (container + 1) * StatisticsRecord.SLOTS;
      int to = from;
      int absentCount = 0;
      for (; to < values.count() && values.slot(to) < end; to++) {
        absentCount += values.isAbsent(to) ? 1 : 0;
      }
      int freshEnd = freshRank;
      while (freshEnd < fresh.slots().length && fresh.slots()[freshEnd] < end) {
        freshEnd++;
      }
      int keptCount = to - from - (freshEnd - freshRank);
      freshRank = freshEnd;
      StatisticsRecord kept = StatisticsRecord.unknown(0);
      boolean isWhole = fresh.isWhole(container);
      if (keptCount == 0) {
        kept = StatisticsRecord.NOTHING;
      } else if (old != null && !known.isEmpty()) {
        int ordinal = old.slots().containerOf(end - 1);
        kept = known.get(ordinal);
        isWhole &= keptCount == old.slots().containerSlots(ordinal);
      }
      StatisticsRecord joined =
          fresh.known(container).join(kept, isWhole, absentCount, to - from - absentCount);
      isAnyKnown |= joined.isKnown();
      records.add(joined);
      from = to;
    }
    return isAnyKnown ? records : List.of();
  }

  private ValueChunk chunk() {
    ValueChunk current = chunk;
    if (current == null) {
      current = new ValueChunk(storage, shard, chunkId);
      chunk = current;
    }
    return current;
  }

  private void finishChunk() {
    ValueChunk current = chunk;
    if (current != null) {
      chunk = null;
      try (current) {
        chunkBytes = current.finish(durability);
      }
    }
  }
}
