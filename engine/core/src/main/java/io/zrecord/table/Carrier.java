package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchJoin;
import io.zrecord.internal.shard.write.PatchPart;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Carries planned replacements of shards over what other commits did to records of the same shards:
 * writes patches that have the changes of both. Reads patches, and no value. Belongs to one thread.
 */
final class Carrier {
  /** Most slots of a change that is carried: each takes some dozens of bytes of memory. */
  static final int MOST_SLOTS = 1 << 21;

  private final Storage storage;
  private final String operation;
  private final List<String> written;
  private final boolean mayCarry;

  /**
   * Creates a carrier.
   *
   * @param operation what the commit does, for messages
   * @param written takes the name of each file before it is written
   * @param mayCarry whether all versions since the base keep the records of the table
   */
  Carrier(Storage storage, String operation, List<String> written, boolean mayCarry) {
    this.storage = storage;
    this.operation = operation;
    this.written = written;
    this.mayCarry = mayCarry;
  }

  /** Tells whether a replacement changes records of one shard by a patch, or deletes them all. */
  static boolean isNarrow(TableChange.Replacement run) {
    if (run.removed().size() != 1 || run.added().size() > 1) {
      return false;
    }
    return run.added().isEmpty()
        || isOfSameTables(run.removed().get(0), run.added().get(0));
  }

  /**
   * Tells whether two shards are one, with the same tables, before and after changes of records.
   */
  static boolean isOfSameTables(ShardSummary shard, ShardSummary other) {
    return shard.id().equals(other.id())
        && shard.slots() == other.slots()
        && shard.tables().equals(other.tables());
  }

  /** What is changed of a shard. */
  static final class Changed {
    final PatchPart part;

    /** Each slot of the change, in rising order. */
    final long[] slots;

    /** The index in the shard of the record of each, before the change. */
    final long[] records;

    private Changed(PatchPart part, @Nullable PatchFile before) {
      this.part = part;
      this.slots = part.slots();
      this.records = indexes(slots, before == null ? null : before.deleted());
    }
  }

  /**
   * Returns what a narrow replacement changes of a shard that stays, which is written elsewhere
   * then.
   *
   * @throws CommitConflictException if the patch does not say that
   */
  Changed changes(TableChange.Replacement run) {
    ShardSummary shard = run.removed().get(0);
    PatchFile before = patchOf(shard);
    ShardSummary patched = run.added().get(0);
    PatchFile patch = patchOf(patched);
    if (patch == null) {
      throw conflict(shard.id(), "it was changed or replaced by another commit");
    }
    requireFew(shard, PatchPart.slotCount(patch));
    try {
      return new Changed(PatchPart.ofCommit(patched, before, patch), before);
    } catch (IllegalArgumentException e) {
      throw conflict(shard.id(), String.valueOf(e.getMessage()));
    }
  }

  /** Returns what other commits changed of a shard; empty if nothing. */
  Optional<Changed> changesBetween(ShardSummary before, ShardSummary now) {
    if (Objects.equals(now.patch(), before.patch())) {
      return Optional.empty();
    }
    PatchFile planned = patchOf(before);
    PatchFile patch = patchOf(now);
    if (patch == null || !PatchPart.contains(patch, planned)) {
      throw conflict(before.id(), "what was changed in it was taken back by another commit");
    }
    requireFew(before, PatchPart.slotCount(patch));
    PatchPart part = PatchPart.since(now, planned, patch);
    return part.isEmpty() ? Optional.empty() : Optional.of(new Changed(part, planned));
  }

  /**
   * Returns the deletion of all records in neighbouring slots of a shard.
   *
   * @param count how many records these are
   * @throws CommitConflictException if they are too many for a patch
   */
  PatchPart deleting(ShardSummary shard, long first, long last, long count) {
    requireFew(shard, count);
    return PatchPart.deleting(shard, deletedOf(shard), first, last);
  }

  /** Requires that slots are few enough to be held side by side. */
  private void requireFew(ShardSummary shard, long slots) {
    if (slots > MOST_SLOTS) {
      throw conflict(
          shard.id(),
          "another commit changed or replaced it, and " + slots
              + " changed records are too many to put both together (at most " + MOST_SLOTS + ")");
    }
  }

  private @Nullable PatchFile patchOf(ShardSummary shard) {
    try {
      return shard.patch() == null ? null : OpenShards.unshared(storage, shard).patch();
    } catch (MissingFileException e) {
      throw conflict(
          shard.id(), "another commit changed it, and a patch of it was expired and swept");
    }
  }

  /** Returns the slots of a shard that were deleted; null if none was. */
  @Nullable
  RankedBitmap deletedOf(ShardSummary shard) {
    PatchFile patch = patchOf(shard);
    return patch == null ? null : patch.deleted();
  }

  /**
   * Requires that two changes have no slot in common.
   *
   * @param slots slots of the one, in rising order
   * @param records the index of the record of each, in what the message calls shard
   * @param others slots of the other, in rising order
   * @throws CommitConflictException if they have
   */
  void requireDisjoint(UUID shard, long[] slots, long[] records, long[] others) {
    for (int i = 0; i < slots.length; i++) {
      if (Arrays.binarySearch(others, slots[i]) >= 0) {
        throw changedRecord(shard, records[i]);
      }
    }
  }

  /** Makes the conflict of a record that another commit has changed. */
  CommitConflictException changedRecord(UUID shard, long record) {
    return conflict(shard, "record " + record + " of it was changed or deleted by another commit");
  }

  /**
   * Writes a shard with further changes.
   *
   * @return the shard; empty if no record is left
   * @throws CommitConflictException if the patch would be too large, or values do not go together
   */
  List<ShardSummary> join(ShardSummary shard, List<PatchPart> parts) {
    PatchFile before = patchOf(shard);
    UUID fileId = UUID.randomUUID();
    String file = shard.directory() + "/" + fileId + ".patch";
    TablesFile.requireWritable(storage, shard);
    PatchJoin join;
    try {
      join = new PatchJoin(shard, before, parts);
    } catch (IllegalArgumentException e) {
      throw conflict(shard.id(), String.valueOf(e.getMessage()));
    }
    written.add(file);
    ShardSummary joined = join.write(storage, fileId, Durability.COMMIT);
    if (joined.length() == 0) {
      UnnamedFiles.discard(storage, List.of(file));
      return List.of();
    }
    if (!ShardChangeWriter.isWithinLimits(shard, before, joined)) {
      throw conflict(
          shard.id(),
          "another commit changed other records of it, and the changes of both are too many for a"
              + " patch");
    }
    return List.of(joined);
  }

  /**
   * Returns a replacement that changes a shard of which another commit has changed other records.
   *
   * @param run narrow, or of a rebalance
   * @param present the shards now
   */
  TableChange.Replacement carry(
      TableChange.Replacement run, List<ShardSummary> present, boolean isRebalance) {
    requireKeptRecords(run);
    return new TableChange.Replacement(
        present, isRebalance ? carryRewrite(run, present) : carryRows(run, present.get(0)));
  }

  private List<ShardSummary> carryRows(TableChange.Replacement run, ShardSummary present) {
    ShardSummary before = run.removed().get(0);
    if (run.added().isEmpty()) {
      if (changesBetween(before, present).isPresent()) {
        throw conflict(
            before.id(), "a record of it, all of which are to be deleted, was changed or deleted");
      }
      return List.of();
    }
    if (Objects.equals(run.added().get(0).patch(), present.patch())) {
      throw conflict(before.id(), "the same change was committed before");
    }
    Changed changed = changes(run);
    changesBetween(before, present)
        .ifPresent(
            others -> requireDisjoint(before.id(), changed.slots, changed.records, others.slots));
    return join(present, List.of(changed.part));
  }

  /** Requires that the table has the records on which a change was planned, as far as known. */
  void requireKeptRecords(TableChange.Replacement run) {
    if (!mayCarry) {
      throw conflict(
          run.removed().get(0).id(),
          "it was changed or replaced, and another commit replaced the records of the table");
    }
  }

  /** Returns the index of the record of each slot. */
  static long[] indexes(long[] slots, @Nullable RankedBitmap deleted) {
    return Arrays.stream(slots)
        .map(slot -> slot - (deleted == null ? 0 : deleted.rank(slot)))
        .toArray();
  }

  /**
   * Adds changes of shards that were rewritten to the shards that have their records. Takes time
   * for the changes and for the number of shards, not for each change in each shard.
   */
  private List<ShardSummary> carryRewrite(TableChange.Replacement run, List<ShardSummary> present) {
    List<ShardSummary> rewritten = run.added();
    List<List<PatchPart>> parts = new ArrayList<>();
    rewritten.forEach(shard -> parts.add(new ArrayList<>()));
    int target = 0;
    long firstOfTarget = 0;
    long first = 0;
    for (int i = 0; i < present.size(); i++) {
      ShardSummary before = run.removed().get(i);
      Changed changed = changesBetween(before, present.get(i)).orElse(null);
      for (int from = 0; changed != null && from < changed.slots.length; ) {
        while (first + changed.records[from]
            >= firstOfTarget + rewritten.get(target).length()) {
          firstOfTarget += rewritten.get(target++).length();
        }
        long shift = first - firstOfTarget;
        long end = rewritten.get(target).length() - shift;
        int to = from + 1;
        while (to < changed.slots.length && changed.records[to] < end) {
          to++;
        }
        parts.get(target).add(moved(changed, from, to, shift));
        from = to;
      }
      first += before.length();
    }
    List<ShardSummary> carried = new ArrayList<>();
    for (int i = 0; i < rewritten.size(); i++) {
      ShardSummary shard = rewritten.get(i);
      if (!parts.get(i).isEmpty() && shard.patch() != null) {
        throw conflict(shard.id(), "it was rewritten with a patch");
      }
      carried.addAll(parts.get(i).isEmpty() ? List.of(shard) : join(shard, parts.get(i)));
    }
    return carried;
  }

  /** Returns some of a change, in the shard without deleted slots to which its records went. */
  private static PatchPart moved(Changed changed, int from, int to, long shift) {
    long[] slots = Arrays.copyOfRange(changed.slots, from, to);
    long[] places =
        Arrays.stream(changed.records, from, to).map(record -> record + shift).toArray();
    return changed.part.within(slots[0], slots[slots.length - 1]).movedTo(slots, places);
  }

  /** Makes the conflict of a shard that another commit has changed. */
  CommitConflictException conflict(UUID shard, String reason) {
    return new CommitConflictException(
        storage.location(),
        "Cannot commit the " + operation + " of " + storage.location() + ", which concerns shard "
            + shard + ": " + reason + " since it was planned; plan again");
  }
}
