package io.zrecord.table;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.PatchSince;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Chooses the fields whose values have to leave a patch that is too large: of those that suffice
 * alone the one with the fewest bytes in the shard, and otherwise the ones with the most values.
 * Belongs to one thread.
 */
final class PatchExcess {
  private final PatchFile patch;
  private final long bytes;
  private final ShardSummary shard;
  private final Map<Integer, PatchField> fields = new HashMap<>();
  private final Map<Integer, BitSet> chunks = new HashMap<>();

  /**
   * Prepares to choose.
   *
   * @param shard with the patch
   */
  PatchExcess(ShardSummary shard, PatchRef ref, PatchFile patch) {
    this.shard = shard;
    this.patch = patch;
    this.bytes = ref.bytes();
    for (int id : patch.json().fields().keySet()) {
      fields.put(id, patch.json().field(id));
    }
  }

  /** Returns the ordinals of the chunks that have values of a field, which takes time. */
  private BitSet chunksOf(PatchField of) {
    return chunks.computeIfAbsent(of.id(), id -> {
      ChangedField field = patch.changed(of);
      BitSet found = new BitSet();
      EntryField values = field.values();
      for (long rank = 0; rank < field.slots().count(); rank++) {
        long word0 = values.word0(rank);
        long word1 = values.word1(rank);
        if (!Entry.isAbsent(word0, word1)) {
          found.set(values.chunkOf(rank, word0, word1));
        }
      }
      return found;
    });
  }

  /** Returns the fields; empty if what is left of the patch is too large even without all. */
  Optional<Set<Integer>> choose() {
    if (!isEnough(fields.keySet())) {
      return Optional.empty();
    }
    List<PatchField> bySize = new ArrayList<>(fields.values());
    bySize.sort(Comparator.comparingLong(this::storedBytes));
    for (PatchField field : bySize) {
      if (isEnough(Set.of(field.id()))) {
        return Optional.of(Set.of(field.id()));
      }
    }
    List<PatchField> byCount = new ArrayList<>(fields.values());
    byCount.sort(Comparator.comparingLong(PatchField::count).reversed());
    Set<Integer> chosen = new HashSet<>();
    for (int i = 0; !isEnough(chosen); i++) {
      chosen.add(byCount.get(i).id());
    }
    for (int i = bySize.size() - 1; i >= 0; i--) {
      Set<Integer> fewer = new HashSet<>(chosen);
      if (fewer.remove(bySize.get(i).id()) && isEnough(fewer)) {
        chosen = fewer;
      }
    }
    return Optional.of(chosen);
  }

  private long storedBytes(PatchField field) {
    return shard.valueBytes().getOrDefault(field.id(), 0L);
  }

  /** Tells whether the patch is as small as patches must be without some of its fields. */
  private boolean isEnough(Set<Integer> without) {
    long left = bytes;
    BitSet used = new BitSet();
    for (PatchField field : fields.values()) {
      if (without.contains(field.id())) {
        left -= bytesOf(field);
      } else {
        used.or(chunksOf(field));
      }
    }
    return left <= PatchRef.MOST_BYTES && used.cardinality() <= PatchRef.MOST_CHUNKS;
  }

  private long bytesOf(PatchField field) {
    SlotSet since = patch
        .json()
        .since()
        .map(PatchSince::fields)
        .map(sets -> sets.get(field.id()))
        .orElse(SlotSet.NONE);
    return field.slots().section().bytes()
        + field.entries().bytes()
        + field.statistics().bytes()
        + since.section().bytes();
  }
}
