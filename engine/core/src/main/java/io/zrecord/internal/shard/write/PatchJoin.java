package io.zrecord.internal.shard.write;

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
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Joins changes that other patches have with the patch of a shard, into one patch (FORMAT.md
 * section 3.3): those of several tasks, or those of a shard whose place the shard has taken. The
 * checksums of entries are bound to the new patch, and no value is read. Belongs to one thread.
 */
public final class PatchJoin {
  private final ShardSummary shard;
  private final @Nullable PatchFile before;
  private final List<PatchPart> parts;
  private final Map<ChunkFile, Integer> chunks = new LinkedHashMap<>();
  private final SortedMap<Integer, FieldSpec> specs = new TreeMap<>();

  /** The next slot of those that one patch gives, in rising order. */
  private static final class Cursor {
    private final ChangedField field;
    private final long[] from;
    private final long[] to;
    private final int[] ordinals;
    private final List<StatisticsRecord> statistics;
    private int next;

    Cursor(
        ChangedField field,
        PatchPart.Places places,
        int[] ordinals,
        List<StatisticsRecord> statistics) {
      this.field = field;
      this.from = places.from;
      this.to = places.to;
      this.ordinals = ordinals;
      this.statistics = statistics;
    }

    boolean isAtEnd() {
      return next == to.length;
    }

    /** Returns the slot in the new patch. */
    long slot() {
      return to[next];
    }

    void take(PatchValues values) {
      values.keep(field, from[next], to[next], ordinals);
      next++;
    }

    /** Returns what is known of the values in the container of the next slot. */
    StatisticsRecord known() {
      return statistics.isEmpty()
          ? StatisticsRecord.unknown(0)
          : statistics.get(field.slots().containerOf(from[next]));
    }
  }

  /**
   * Prepares a patch.
   *
   * @param shard the shard before the commit
   * @param before the patch of the shard before the commit; null if there is none
   * @param parts what to add to it
   * @throws IllegalArgumentException if values of a field cannot be put side by side
   */
  public PatchJoin(ShardSummary shard, @Nullable PatchFile before, List<PatchPart> parts) {
    this.shard = shard;
    this.before = before;
    this.parts = List.copyOf(parts);
    if (before != null) {
      before.json().chunks().forEach(this::number);
      PatchPart.collect(specs, before, before.json().fields().keySet());
    }
    for (PatchPart part : parts) {
      PatchFile patch = part.patch();
      if (patch != null) {
        patch.json().chunks().forEach(chunk -> number(chunk.movedTo(shard, part.shard())));
        PatchPart.collect(specs, patch, part.fieldIds());
      }
    }
  }

  private void number(ChunkFile chunk) {
    chunks.putIfAbsent(chunk, chunks.size());
  }

  /**
   * Returns the least slot of which two changes say different things; empty if there is none. Two
   * deletions say the same.
   */
  public static OptionalLong slotInTwo(List<PatchPart> parts) {
    SlotCollector seen = new SlotCollector();
    SlotCollector withValues = new SlotCollector();
    SlotCollector contradicted = new SlotCollector();
    for (PatchPart part : parts) {
      for (long slot : part.deletedSlots()) {
        seen.add(slot);
        if (withValues.contains(slot)) {
          contradicted.add(slot);
        }
      }
      for (long slot : part.changedSlots()) {
        withValues.add(slot);
        if (!seen.add(slot)) {
          contradicted.add(slot);
        }
      }
    }
    long[] found = contradicted.slots();
    return found.length == 0 ? OptionalLong.empty() : OptionalLong.of(found[0]);
  }

  /**
   * Writes the patch. No slot may be in two of the patches, but where both delete it. The patch
   * says that it follows that of the shard.
   *
   * @param fileId identity of the new patch
   * @return the shard with the patch; its length may be 0, and its patch larger than allowed
   */
  public ShardSummary write(Storage storage, UUID fileId, Durability durability) {
    return write(
        storage,
        Optional.ofNullable(before).map(patch -> patch.json().fileId()),
        fileId,
        durability);
  }

  /**
   * Writes the patch, which says that it follows a patch that is not the one of the shard.
   *
   * @param predecessor the patch that the commit found; empty if there was none
   * @param fileId identity of the new patch
   * @return the shard with the patch; its length may be 0, and its patch larger than allowed
   */
  public ShardSummary write(
      Storage storage, Optional<UUID> predecessor, UUID fileId, Durability durability) {
    long[] deleted = LongStream.of(sorted(parts.stream().map(PatchPart::deleted).toList()))
        .distinct()
        .toArray();
    RankedBitmap deadBefore = before == null ? null : before.deleted();
    long[] allDeleted = deadBefore == null ? deleted : sorted(List.of(deadBefore.slots(), deleted));
    RankedBitmap dead = allDeleted.length == 0 ? null : RankedBitmap.of(allDeleted);
    PatchFileWriter.Content content =
        new PatchFileWriter.Content(SlotCollector.of(allDeleted), SlotCollector.of(deleted));
    content.chunks.addAll(chunks.keySet());
    content.specs.putAll(specs);
    content.specs.forEach((id, spec) -> {
      List<PatchPart.Places> places =
          parts.stream().map(part -> part.changed(id)).toList();
      long[] ofCommit = sorted(places.stream().map(place -> place.to).toList());
      content.changedByCommit.put(id, ofCommit);
      PatchValues values = joined(spec, dead, places, ofCommit);
      if (values.count() > 0) {
        content.fields.put(id, values);
      }
    });
    return new PatchFileWriter(storage, shard, before, fileId, durability)
        .following(predecessor)
        .write(content);
  }

  private static long[] sorted(List<long[]> sets) {
    long[] all = new long[sets.stream().mapToInt(set -> set.length).sum()];
    int count = 0;
    for (long[] set : sets) {
      System.arraycopy(set, 0, all, count, set.length);
      count += set.length;
    }
    Arrays.sort(all);
    return all;
  }

  private PatchValues joined(
      FieldSpec spec, @Nullable RankedBitmap dead, List<PatchPart.Places> places, long[] ofCommit) {
    PriorityQueue<Cursor> cursors = new PriorityQueue<>(Comparator.comparingLong(Cursor::slot));
    ChangedField old = before == null ? null : before.changed(spec);
    if (before != null && old != null) {
      long[] kept = old.slots()
          .slotsIf(slot ->
              (dead == null || !dead.contains(slot)) && Arrays.binarySearch(ofCommit, slot) < 0);
      add(cursors, shard, before, spec, new PatchPart.Places(kept, kept));
    }
    for (int i = 0; i < parts.size(); i++) {
      PatchFile patch = parts.get(i).patch();
      if (patch != null) {
        add(cursors, parts.get(i).shard(), patch, spec, places.get(i));
      }
    }
    PatchValues values = new PatchValues();
    values.compression = spec.compression();
    Containers statistics = new Containers(values);
    while (!cursors.isEmpty()) {
      // Mostly all slots of one change come before those of the next.
      Cursor cursor = cursors.remove();
      Cursor other = cursors.peek();
      long end = other == null ? Long.MAX_VALUE : other.slot();
      do {
        statistics.add(cursor);
        cursor.take(values);
      } while (!cursor.isAtEnd() && cursor.slot() < end);
      if (!cursor.isAtEnd()) {
        cursors.add(cursor);
      }
    }
    if (StatisticsCollector.of(spec) != null) {
      values.statistics = statistics.end();
    }
    return values;
  }

  private void add(
      PriorityQueue<Cursor> cursors,
      ShardSummary from,
      PatchFile patch,
      FieldSpec spec,
      PatchPart.Places places) {
    ChangedField field = patch.changed(spec);
    if (field != null && places.to.length > 0) {
      int[] ordinals = patch.json().chunks().stream()
          .mapToInt(chunk -> chunks.get(chunk.movedTo(shard, from)))
          .toArray();
      cursors.add(new Cursor(field, places, ordinals, patch.statistics(spec.id(), field.slots())));
    }
  }

  /**
   * Joins what patches say of the values in a container. A patch may say that of values that are
   * not taken from it as well, so that the bounds are not exact.
   */
  private static final class Containers {
    private final PatchValues values;
    private final List<StatisticsRecord> records = new ArrayList<>();
    private final Set<Cursor> seen = new HashSet<>();
    private StatisticsRecord record = StatisticsRecord.NOTHING;
    private @Nullable Cursor last;
    private long container = -1;
    private int first;
    private boolean isAnyKnown;

    Containers(PatchValues values) {
      this.values = values;
    }

    /** Takes note of the value that is added next. */
    void add(Cursor cursor) {
      long next = cursor.slot() / StatisticsRecord.SLOTS;
      if (next == container && cursor == last) {
        return;
      }
      if (next != container) {
        endContainer();
        container = next;
      }
      last = cursor;
      if (seen.add(cursor)) {
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
