package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchJoin;
import io.zrecord.internal.shard.write.PatchPart;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
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
  private final Storage storage;
  private final String operation;
  private final List<String> written;
  private final List<String> superseded = new ArrayList<>();

  /**
   * Creates a carrier.
   *
   * @param operation what the commit does, for messages
   * @param written takes the name of each file before it is written
   */
  Carrier(Storage storage, String operation, List<String> written) {
    this.storage = storage;
    this.operation = operation;
    this.written = written;
  }

  /** Returns files of the planned change that no version needs, once it is published. */
  List<String> superseded() {
    return superseded;
  }

  /** Tells whether a replacement changes records of one shard by a patch, or deletes them all. */
  static boolean isNarrow(TableChange.Replacement run) {
    if (run.removed().size() != 1 || run.added().size() > 1) {
      return false;
    }
    return run.added().isEmpty() || isOfSameTables(run.removed().get(0), run.added().get(0));
  }

  /** Tells whether two shards are one, with the same tables, before and after changes of records. */
  static boolean isOfSameTables(ShardSummary shard, ShardSummary other) {
    return shard.id().equals(other.id())
        && shard.slots() == other.slots()
        && shard.tables().equals(other.tables());
  }

  /**
   * Returns what a narrow replacement changes, which is written elsewhere then.
   *
   * @throws CommitConflictException if the patch does not say that
   */
  PatchPart changes(TableChange.Replacement run) {
    ShardSummary shard = run.removed().get(0);
    PatchFile before = patchOf(shard);
    if (run.added().isEmpty()) {
      return PatchPart.deletingAll(shard, before);
    }
    ShardSummary patched = run.added().get(0);
    PatchFile patch = patchOf(patched);
    PatchRef ref = patched.patch();
    if (patch == null || ref == null) {
      throw conflict(shard.id(), "it was changed or replaced by another commit");
    }
    superseded.add(patched.fileOf(ref));
    try {
      return PatchPart.ofCommit(patched, before, patch);
    } catch (IllegalArgumentException e) {
      throw conflict(shard.id(), String.valueOf(e.getMessage()));
    }
  }

  /** Returns what other commits changed of a shard; empty if nothing. */
  Optional<PatchPart> changesBetween(ShardSummary before, ShardSummary now) {
    PatchFile patch = patchOf(now);
    if (patch == null || Objects.equals(now.patch(), before.patch())) {
      return Optional.empty();
    }
    return Optional.of(PatchPart.since(now, patchOf(before), patch)).filter(part -> !part.isEmpty());
  }

  private @Nullable PatchFile patchOf(ShardSummary shard) {
    return shard.patch() == null ? null : OpenShards.unshared(storage, shard).patch();
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
   * @throws CommitConflictException if they have
   */
  void requireDisjoint(UUID shard, long[] slots, long[] records, long[] others) {
    for (long other : others) {
      int found = Arrays.binarySearch(slots, other);
      if (found >= 0) {
        throw conflict(
            shard, "record " + records[found] + " of it was changed or deleted by another commit");
      }
    }
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
    written.add(file);
    ShardSummary joined;
    try {
      joined = new PatchJoin(shard, before, parts).write(storage, fileId, Durability.COMMIT);
    } catch (IllegalArgumentException e) {
      throw conflict(shard.id(), String.valueOf(e.getMessage()));
    }
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
    return new TableChange.Replacement(
        present, isRebalance ? carryRewrite(run, present) : carryRows(run, present.get(0)));
  }

  private List<ShardSummary> carryRows(TableChange.Replacement run, ShardSummary present) {
    ShardSummary before = run.removed().get(0);
    PatchPart part = changes(run);
    long[] slots = part.slots();
    changesBetween(before, present)
        .ifPresent(others -> requireDisjoint(
            before.id(), slots, indexes(slots, deletedOf(before)), others.slots()));
    return join(present, List.of(part));
  }


  /** Returns the index of the record of each slot. */
  static long[] indexes(long[] slots, @Nullable RankedBitmap deleted) {
    return Arrays.stream(slots)
        .map(slot -> slot - (deleted == null ? 0 : deleted.rank(slot)))
        .toArray();
  }

  /** Adds changes of shards that were rewritten to the shards that have their records. */
  private List<ShardSummary> carryRewrite(
      TableChange.Replacement run, List<ShardSummary> present) {
    List<PatchPart> parts = new ArrayList<>();
    List<Long> firsts = new ArrayList<>();
    List<@Nullable RankedBitmap> dead = new ArrayList<>();
    long first = 0;
    for (int i = 0; i < present.size(); i++) {
      ShardSummary before = run.removed().get(i);
      Optional<PatchPart> changes = changesBetween(before, present.get(i));
      if (changes.isPresent()) {
        parts.add(changes.get());
        firsts.add(first);
        dead.add(deletedOf(before));
      }
      first += before.length();
    }
    List<ShardSummary> carried = new ArrayList<>();
    long from = 0;
    for (ShardSummary shard : run.added()) {
      long start = from;
      List<PatchPart> here = new ArrayList<>();
      for (int i = 0; i < parts.size(); i++) {
        RankedBitmap deleted = dead.get(i);
        long shift = firsts.get(i) - start;
        here.add(parts.get(i).movedBy(slot -> {
          long to = slot - (deleted == null ? 0 : deleted.rank(slot)) + shift;
          return to >= 0 && to < shard.length() ? to : PatchPart.ELSEWHERE;
        }));
      }
      List<PatchPart> concerned = here.stream().filter(PatchPart::isAnywhere).toList();
      if (!concerned.isEmpty() && shard.patch() != null) {
        throw conflict(shard.id(), "it was rewritten with a patch");
      }
      List<ShardSummary> joined =
          concerned.isEmpty() ? List.of(shard) : join(shard, concerned);
      if (joined.isEmpty()) {
        superseded.add(shard.directory());
      }
      carried.addAll(joined);
      from += shard.length();
    }
    return carried;
  }

  /** Makes the conflict of a shard that another commit has changed. */
  CommitConflictException conflict(UUID shard, String reason) {
    return new CommitConflictException(
        storage.location(),
        "Cannot commit the " + operation + " of " + storage.location() + ", which concerns shard "
            + shard + ": " + reason + " since it was planned; plan again");
  }
}
