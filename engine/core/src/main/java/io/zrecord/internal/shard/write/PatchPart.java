package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ShardSummary;
import java.util.Arrays;
import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A change of records of a shard, whose values a patch has, to be joined with the patch of the same
 * shard or of another one, which has these records now. Takes 8 bytes for each slot of the change.
 * Immutable.
 */
public final class PatchPart {
  private static final long[] NO_SLOTS = {};

  private final ShardSummary shard;
  private final @Nullable PatchFile patch;
  private final long[] deleted;
  private final SortedMap<Integer, long[]> fields;
  private final LongUnaryOperator place;

  /** Slots of the change, in rising order, and where their records are. */
  static final class Places {
    /** Slots in the shard of the change. */
    final long[] from;

    /** The slot of each in the shard that has the records now. */
    final long[] to;

    Places(long[] from, long[] to) {
      this.from = from;
      this.to = to;
    }
  }

  private PatchPart(
      ShardSummary shard,
      @Nullable PatchFile patch,
      long[] deleted,
      SortedMap<Integer, long[]> fields,
      LongUnaryOperator place) {
    this.shard = shard;
    this.patch = patch;
    this.deleted = deleted;
    this.fields = fields;
    this.place = place;
  }

  /**
   * Returns what a patch says that its commit changed.
   *
   * @param shard the shard with the patch
   * @param before the patch before the commit; null if there was none
   * @throws IllegalArgumentException if the patch does not say that, or is on top of another patch
   */
  public static PatchPart ofCommit(
      ShardSummary shard, @Nullable PatchFile before, PatchFile patch) {
    SlotsOfCommit changes = patch
        .slotsOfCommit()
        .orElseThrow(() ->
            new IllegalArgumentException(patch.path() + " does not say what its commit changed"));
    UUID expected = before == null ? null : before.json().fileId();
    if (!Objects.equals(changes.before().orElse(null), expected)) {
      throw new IllegalArgumentException(patch.path() + " follows the patch "
          + changes.before().map(UUID::toString).orElse("none") + ", not " + expected);
    }
    SortedMap<Integer, long[]> fields = new TreeMap<>();
    changes.fields().forEach((id, slots) -> fields.put(id, slots.slots()));
    return new PatchPart(
        shard, patch, slots(changes.deleted()), fields, LongUnaryOperator.identity());
  }

  /**
   * Returns in what a patch differs from a patch before. A value that was absent in both is none
   * that differs.
   *
   * @param shard the shard with the patch
   * @param before the other patch; null if there was none
   */
  public static PatchPart since(ShardSummary shard, @Nullable PatchFile before, PatchFile patch) {
    RankedBitmap dead = before == null ? null : before.deleted();
    RankedBitmap deleted = patch.deleted();
    SortedMap<Integer, long[]> fields = new TreeMap<>();
    for (int id : patch.json().fields().keySet()) {
      ChangedField now = patch.changed(patch.json().field(id));
      ChangedField then = before == null || !before.json().hasField(id)
          ? null
          : before.changed(before.json().field(id));
      long[] slots = now.slots()
          .slotsIf(slot -> then == null
              || before == null
              || !then.slots().contains(slot)
              || !isSame(before, then, patch, now, slot));
      if (slots.length > 0) {
        fields.put(id, slots);
      }
    }
    return new PatchPart(
        shard,
        patch,
        deleted == null ? NO_SLOTS : deleted.slotsIf(slot -> dead == null || !dead.contains(slot)),
        fields,
        LongUnaryOperator.identity());
  }

  /**
   * Tells whether a patch deletes and changes all that another one does, with whatever values.
   *
   * @param part the other patch; null if there is none
   */
  public static boolean contains(PatchFile patch, @Nullable PatchFile part) {
    if (part == null) {
      return true;
    }
    RankedBitmap deleted = patch.deleted();
    RankedBitmap needed = part.deleted();
    if (needed != null
        && needed.slotsIf(slot -> deleted == null || !deleted.contains(slot)).length > 0) {
      return false;
    }
    for (int id : part.json().fields().keySet()) {
      RankedBitmap changed =
          patch.json().hasField(id) ? patch.changed(patch.json().field(id)).slots() : null;
      long[] lost = part.changed(part.json().field(id))
          .slots()
          .slotsIf(slot -> (changed == null || !changed.contains(slot))
              && (deleted == null || !deleted.contains(slot)));
      if (lost.length > 0) {
        return false;
      }
    }
    return true;
  }

  /** Returns how many slots a patch has: those of deletions, and those of each field. */
  public static long slotCount(PatchFile patch) {
    RankedBitmap deleted = patch.deleted();
    long count = deleted == null ? 0 : deleted.count();
    for (int id : patch.json().fields().keySet()) {
      count += patch.json().field(id).count();
    }
    return count;
  }

  /**
   * Returns the deletion of all records in neighbouring slots of a shard.
   *
   * @param dead the slots of the shard that are deleted already; null if there is none
   * @param first the first slot
   * @param last the last slot
   */
  public static PatchPart deleting(
      ShardSummary shard, @Nullable RankedBitmap dead, long first, long last) {
    long[] live = LongStream.rangeClosed(first, last)
        .filter(slot -> dead == null || !dead.contains(slot))
        .toArray();
    return new PatchPart(
        shard, null, live, Collections.emptySortedMap(), LongUnaryOperator.identity());
  }

  private static boolean isSame(
      PatchFile before, ChangedField then, PatchFile patch, ChangedField now, long slot) {
    EntryField old = then.values();
    EntryField young = now.values();
    long oldRank = then.slots().rank(slot);
    long rank = now.slots().rank(slot);
    long word0 = young.word0(rank);
    long word1 = young.word1(rank);
    long oldWord0 = old.word0(oldRank);
    long oldWord1 = old.word1(oldRank);
    boolean isAbsent = Entry.isAbsent(word0, word1);
    if (isAbsent || Entry.isAbsent(oldWord0, oldWord1)) {
      return isAbsent && Entry.isAbsent(oldWord0, oldWord1);
    }
    return word0 == oldWord0
        && Entry.physicalLength(word1) == Entry.physicalLength(oldWord1)
        && patch
            .json()
            .chunks()
            .get(young.chunkOf(rank, word0, word1))
            .equals(before.json().chunks().get(old.chunkOf(oldRank, oldWord0, oldWord1)));
  }

  /**
   * Returns this change of records that are in another shard now.
   *
   * @param toPlace returns the slot there of a slot here; keeps the order
   */
  public PatchPart movedBy(LongUnaryOperator toPlace) {
    return new PatchPart(shard, patch, deleted, fields, toPlace);
  }

  /**
   * Returns this change of records that are in another shard now.
   *
   * @param from each slot of the change, in rising order
   * @param to the slot there of each, in rising order
   */
  public PatchPart movedTo(long[] from, long[] to) {
    return movedBy(slot -> to[Arrays.binarySearch(from, slot)]);
  }

  /**
   * Returns what is changed in some neighbouring slots of the shard of the change. Takes time for
   * these, whatever else the change has.
   *
   * @param first the first slot
   * @param last the last slot
   */
  public PatchPart within(long first, long last) {
    SortedMap<Integer, long[]> inside = new TreeMap<>();
    fields.forEach((id, slots) -> {
      long[] some = between(slots, first, last);
      if (some.length > 0) {
        inside.put(id, some);
      }
    });
    return new PatchPart(shard, patch, between(deleted, first, last), inside, place);
  }

  private static long[] between(long[] slots, long first, long last) {
    return Arrays.copyOfRange(slots, countBefore(slots, first), countBefore(slots, last + 1));
  }

  private static int countBefore(long[] slots, long slot) {
    int found = Arrays.binarySearch(slots, slot);
    return found >= 0 ? found : -found - 1;
  }

  /** Tells whether nothing is changed. */
  public boolean isEmpty() {
    return deleted.length == 0 && fields.isEmpty();
  }

  /** Returns the slots to which the change gives values, in rising order. */
  long[] changedSlots() {
    long[] all = NO_SLOTS;
    for (long[] slots : fields.values()) {
      all = merged(all, slots);
    }
    return all;
  }

  /** Returns each slot of the change in its own shard, in rising order. */
  public long[] slots() {
    long[] all = deleted;
    for (long[] slots : fields.values()) {
      all = merged(all, slots);
    }
    return all.clone();
  }

  /** Returns what is in either of two rising sequences, each number once. */
  private static long[] merged(long[] some, long[] others) {
    if (some.length == 0 || others.length == 0) {
      return some.length == 0 ? others : some;
    }
    long[] all = new long[some.length + others.length];
    int count = 0;
    int next = 0;
    for (long slot : some) {
      while (next < others.length && others[next] < slot) {
        all[count++] = others[next++];
      }
      next += next < others.length && others[next] == slot ? 1 : 0;
      all[count++] = slot;
    }
    System.arraycopy(others, next, all, count, others.length - next);
    return Arrays.copyOf(all, count + others.length - next);
  }

  /** Returns the shard of the change. */
  ShardSummary shard() {
    return shard;
  }

  /** Returns the patch that has the values; null if there are no values. */
  @Nullable
  PatchFile patch() {
    return patch;
  }

  /** Returns the fields that get values. */
  public Set<Integer> fieldIds() {
    return fields.keySet();
  }

  /** Returns the slots in the shard of the change of deleted records, in rising order. */
  public long[] deletedSlots() {
    return deleted.clone();
  }

  /** Returns the slots in the shard of the change of records that get values of a field. */
  public long[] changedSlots(int fieldId) {
    return fields.getOrDefault(fieldId, NO_SLOTS).clone();
  }

  /** Returns the slots of deleted records. */
  long[] deleted() {
    return places(deleted).to;
  }

  /** Returns the slots of records that get values of a field. */
  Places changed(int fieldId) {
    return places(fields.getOrDefault(fieldId, NO_SLOTS));
  }

  private Places places(long[] slots) {
    return new Places(slots, LongStream.of(slots).map(place).toArray());
  }

  /**
   * Adds fields of a patch to those of others.
   *
   * @throws IllegalArgumentException if values of a field cannot be put beside those of others
   */
  static void collect(SortedMap<Integer, FieldSpec> specs, PatchFile patch, Set<Integer> ids) {
    for (int id : ids) {
      PatchField field = patch.json().field(id);
      FieldSpec spec =
          new FieldSpec(id, "field" + id, field.type(), field.shape(), field.compression());
      FieldSpec other = specs.putIfAbsent(id, spec);
      if (other != null && !other.type().equals(spec.type())) {
        throw new IllegalArgumentException("field " + id + " is " + spec.type() + " in "
            + patch.path() + ", and " + other.type() + " in another patch of the shard");
      }
      if (other != null && other.compression().codec() != spec.compression().codec()) {
        throw new IllegalArgumentException("values of field " + id + " are "
            + spec.compression().codec() + " in " + patch.path() + ", and "
            + other.compression().codec() + " in another patch of the shard");
      }
    }
  }

  private static long[] slots(@Nullable RankedBitmap set) {
    return set == null ? NO_SLOTS : set.slots();
  }
}
