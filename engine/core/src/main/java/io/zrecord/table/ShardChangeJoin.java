package io.zrecord.table;

import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchJoin;
import io.zrecord.internal.shard.write.PatchPart;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins changes of one shard that several tasks have written. Takes memory for each slot that they
 * change. Belongs to one thread.
 */
final class ShardChangeJoin {
  private final Storage storage;
  private final RecordSchema schema;
  private final List<String> files;

  /**
   * Prepares to join.
   *
   * @param schema the fields of the table
   * @param files takes the name of each file and each directory that is written
   */
  ShardChangeJoin(Storage storage, RecordSchema schema, List<String> files) {
    this.storage = storage;
    this.schema = schema;
    this.files = files;
  }

  /**
   * Returns what takes the place of a shard: one shard, or none.
   *
   * @param onRecordInTwo called with the index in the shard of a record that two changes change;
   *     throws
   */
  List<ShardSummary> of(ShardSummary shard, List<ShardChange> changes, LongConsumer onRecordInTwo) {
    ShardSummary base = commonBase(shard, changes);
    PatchFile found = patchOf(shard);
    PatchFile before = base.equals(shard) ? found : patchOf(base);
    List<PatchPart> parts = new ArrayList<>();
    for (ShardChange change : changes) {
      PatchFile patch = Objects.requireNonNull(patchOf(change.patched()));
      parts.add(PatchPart.ofCommit(change.patched(), found, patch));
    }
    PatchJoin.slotInTwo(parts).ifPresent(slot -> {
      RankedBitmap dead = before == null ? null : before.deleted();
      onRecordInTwo.accept(slot - (dead == null ? 0 : dead.rank(slot)));
    });
    UUID fileId = UUID.randomUUID();
    files.add(base.directory() + "/" + fileId + ".patch");
    Optional<UUID> predecessor =
        Optional.ofNullable(found).map(patch -> patch.json().fileId());
    ShardSummary patched =
        new PatchJoin(base, before, parts).write(storage, predecessor, fileId, Durability.COMMIT);
    if (patched.length() == 0) {
      return List.of();
    }
    return List.of(
        ShardChangeWriter.isWithinLimits(base, before, patched)
            ? patched
            : new ShardRewrite(storage, schema, files).of(patched));
  }

  private @Nullable PatchFile patchOf(ShardSummary shard) {
    return shard.patch() == null ? null : OpenShards.unshared(storage, shard).patch();
  }

  /** Returns the shard without the values to which one of the changes could not add others. */
  private ShardSummary commonBase(ShardSummary shard, List<ShardChange> changes) {
    ShardSummary base = shard;
    Set<Integer> moved = new HashSet<>();
    for (ShardChange change : changes) {
      base = base.equals(shard) ? change.base() : base;
      moved.addAll(movedFields(shard, change.base()));
    }
    moved.removeAll(movedFields(shard, base));
    return moved.isEmpty()
        ? base
        : new PatchToTables(storage, schema, files).moveEarlier(base, moved);
  }

  /** Returns the fields that a shard has in other tables files than before. */
  private static Set<Integer> movedFields(ShardSummary before, ShardSummary after) {
    Set<Integer> fields = new HashSet<>();
    for (TablesRef file : after.tables()) {
      if (before.tables().stream().noneMatch(known -> known.id().equals(file.id()))) {
        fields.addAll(file.fieldIds());
      }
    }
    return fields;
  }
}
