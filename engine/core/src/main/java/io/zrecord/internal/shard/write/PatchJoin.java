package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.SortedMap;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Joins patches of one shard that were written for one commit, each on top of the same patch
 * before, into one patch (FORMAT.md section 3.3). The checksums of entries are bound to the new
 * patch, and no value is read. Belongs to one thread.
 */
public final class PatchJoin {
  private final ShardSummary shard;
  private final @Nullable PatchFile before;
  private final List<Part> parts;
  private final Map<ChunkFile, Integer> chunks = new LinkedHashMap<>();

  /** A patch, and what it says that is not in the patch before. */
  private record Part(PatchFile patch, SlotsOfCommit changes) {}

  /** The next slot of those that one patch gives, in rising order. */
  private static final class Cursor {
    private final ChangedField field;
    private final long[] slots;
    private final int[] ordinals;
    private final List<StatisticsRecord> statistics;
    private int next;

    Cursor(ChangedField field, long[] slots, int[] ordinals, List<StatisticsRecord> statistics) {
      this.field = field;
      this.slots = slots;
      this.ordinals = ordinals;
      this.statistics = statistics;
    }

    boolean isAtEnd() {
      return next == slots.length;
    }

    long slot() {
      return slots[next];
    }

    /** Returns what is known of the values in the container of the next slot. */
    StatisticsRecord known() {
      return statistics.isEmpty()
          ? StatisticsRecord.unknown(0)
          : statistics.get(field.slots().containerOf(slot()));
    }
  }

  /**
   * Prepares a patch.
   *
   * @param shard the shard before the commit
   * @param before the patch of the shard before the commit; null if there is none
   * @param parts the patches to join, which say what their commit changed
   * @throws IllegalArgumentException if a part does not say that, or is on top of another patch
   */
  public PatchJoin(ShardSummary shard, @Nullable PatchFile before, List<PatchFile> parts) {
    this.shard = shard;
    this.before = before;
    this.parts = parts.stream().map(patch -> new Part(patch, changes(patch))).toList();
    if (before != null) {
      number(before);
    }
    parts.forEach(this::number);
  }

  private SlotsOfCommit changes(PatchFile patch) {
    SlotsOfCommit changes = patch
        .slotsOfCommit()
        .orElseThrow(() ->
            new IllegalArgumentException(patch.path() + " does not say what its commit changed"));
    UUID expected = before == null ? null : before.json().fileId();
    if (!Objects.equals(changes.before().orElse(null), expected)) {
      throw new IllegalArgumentException(patch.path() + " follows the patch "
          + changes.before().map(UUID::toString).orElse("none") + ", not " + expected);
    }
    return changes;
  }

  private void number(PatchFile patch) {
    patch.json().chunks().forEach(chunk -> chunks.putIfAbsent(chunk, chunks.size()));
  }

  /** Returns the least slot that two of the patches change or delete; empty if there is none. */
  public OptionalLong slotInTwo() {
    long[] all = parts.stream()
        .flatMapToLong(part -> LongStream.of(slots(part)))
        .sorted()
        .toArray();
    for (int i = 1; i < all.length; i++) {
      if (all[i] == all[i - 1]) {
        return OptionalLong.of(all[i]);
      }
    }
    return OptionalLong.empty();
  }

  /** Returns each slot that a patch changes or deletes, once. */
  private static long[] slots(Part part) {
    return LongStream.concat(
            LongStream.of(slots(part.changes.deleted())),
            part.changes.fields().values().stream().flatMapToLong(s -> LongStream.of(s.slots())))
        .distinct()
        .toArray();
  }

  private static long[] slots(@Nullable RankedBitmap set) {
    return set == null ? new long[0] : set.slots();
  }

  /**
   * Writes the patch. No slot may be in two of the patches.
   *
   * @param fileId identity of the new patch
   * @return the shard with the patch; its length may be 0, and its patch larger than allowed
   */
  public ShardSummary write(Storage storage, UUID fileId, Durability durability) {
    long[] deleted =
        sorted(parts.stream().map(part -> slots(part.changes.deleted())).toList());
    long[] allDeleted = sorted(List.of(slots(before == null ? null : before.deleted()), deleted));
    RankedBitmap dead = allDeleted.length == 0 ? null : RankedBitmap.of(allDeleted);
    PatchFileWriter.Content content = new PatchFileWriter.Content(allDeleted, deleted);
    content.chunks.addAll(chunks.keySet());
    if (before != null) {
      collect(content.specs, before);
    }
    parts.forEach(part -> collect(content.specs, part.patch));
    content.specs.forEach((id, spec) -> {
      long[] ofCommit = sorted(
          parts.stream().map(part -> slots(part.changes.fields().get(id))).toList());
      content.changedByCommit.put(id, ofCommit);
      PatchValues values = joined(spec, dead, ofCommit);
      if (values.count() > 0) {
        content.fields.put(id, values);
      }
    });
    return new PatchFileWriter(storage, shard, before, fileId, durability).write(content);
  }

  private static long[] sorted(List<long[]> sets) {
    return sets.stream().flatMapToLong(LongStream::of).sorted().toArray();
  }

  private static void collect(SortedMap<Integer, FieldSpec> specs, PatchFile patch) {
    for (int id : patch.json().fields().keySet()) {
      PatchField field = patch.json().field(id);
      FieldSpec spec =
          new FieldSpec(id, "field" + id, field.type(), field.shape(), field.compression());
      FieldSpec other = specs.putIfAbsent(id, spec);
      if (other != null && !other.type().equals(spec.type())) {
        throw new IllegalArgumentException("field " + id + " is " + spec.type() + " in "
            + patch.path() + ", and " + other.type() + " in another patch of the shard");
      }
    }
  }

  private PatchValues joined(FieldSpec spec, @Nullable RankedBitmap dead, long[] ofCommit) {
    PriorityQueue<Cursor> cursors = new PriorityQueue<>(Comparator.comparingLong(Cursor::slot));
    ChangedField old = before == null ? null : before.changed(spec);
    if (before != null && old != null) {
      add(
          cursors,
          before,
          spec,
          old.slots()
              .slotsIf(slot -> (dead == null || !dead.contains(slot))
                  && Arrays.binarySearch(ofCommit, slot) < 0));
    }
    for (Part part : parts) {
      add(cursors, part.patch, spec, slots(part.changes.fields().get(spec.id())));
    }
    PatchValues values = new PatchValues();
    Containers statistics = new Containers(values);
    while (!cursors.isEmpty()) {
      Cursor cursor = cursors.remove();
      statistics.add(cursor);
      values.keep(cursor.field, cursor.slot(), cursor.ordinals);
      cursor.next++;
      if (!cursor.isAtEnd()) {
        cursors.add(cursor);
      }
    }
    if (StatisticsCollector.of(spec) != null) {
      values.statistics = statistics.end();
    }
    return values;
  }

  private void add(PriorityQueue<Cursor> cursors, PatchFile patch, FieldSpec spec, long[] slots) {
    ChangedField field = patch.changed(spec);
    if (field != null && slots.length > 0) {
      int[] ordinals = patch.json().chunks().stream().mapToInt(chunks::get).toArray();
      cursors.add(new Cursor(field, slots, ordinals, patch.statistics(spec.id(), field.slots())));
    }
  }

  /**
   * Joins what patches say of the values in a container. A patch may say that of values that are
   * not taken from it as well, so that the bounds are not exact.
   */
  private static final class Containers {
    private final PatchValues values;
    private final List<StatisticsRecord> records = new ArrayList<>();
    private final List<Cursor> seen = new ArrayList<>();
    private StatisticsRecord record = StatisticsRecord.NOTHING;
    private long container = -1;
    private int first;
    private boolean isAnyKnown;

    Containers(PatchValues values) {
      this.values = values;
    }

    /** Takes note of the value that is added next. */
    void add(Cursor cursor) {
      long next = cursor.slot() / StatisticsRecord.SLOTS;
      if (next != container) {
        endContainer();
        container = next;
      }
      if (!seen.contains(cursor)) {
        seen.add(cursor);
        record = record.join(cursor.known(), false, 0, Long.MAX_VALUE);
      }
    }

    private void endContainer() {
      if (container < 0) {
        return;
      }
      int absent = 0;
      for (int i = first; i < values.count(); i++) {
        absent += values.isAbsent(i) ? 1 : 0;
      }
      int present = values.count() - first - absent;
      StatisticsRecord ended = record.join(StatisticsRecord.NOTHING, false, absent, present);
      isAnyKnown |= ended.isKnown();
      records.add(ended);
      record = StatisticsRecord.NOTHING;
      seen.clear();
      first = values.count();
    }

    List<StatisticsRecord> end() {
      endContainer();
      return isAnyKnown ? records : List.of();
    }
  }
}
