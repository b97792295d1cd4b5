package io.zrecord.table;

import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
import io.zrecord.internal.shard.write.PatchPart;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Tells to which fields a change gives values in shards that stay, by what their new files say.
 * Reads no value. Of a shard whose records are in another shard afterwards, nothing is known.
 */
final class GivenFields {
  private final Storage storage;
  private final Set<Integer> fields = new HashSet<>();

  private GivenFields(Storage storage) {
    this.storage = storage;
  }

  /** Returns the ids of the fields. */
  static Set<Integer> of(Storage storage, List<TableChange.Replacement> replacements) {
    GivenFields given = new GivenFields(storage);
    for (TableChange.Replacement run : replacements) {
      for (ShardSummary after : run.added()) {
        run.removed().stream()
            .filter(before -> before.id().equals(after.id()))
            .forEach(before -> given.add(before, after));
      }
    }
    return given.fields;
  }

  private void add(ShardSummary before, ShardSummary after) {
    for (TablesRef file : after.tables()) {
      if (before.tables().stream().noneMatch(known -> known.id().equals(file.id()))) {
        TablesFile tables = TablesFile.open(storage, after, file, kept -> {});
        file.fieldIds().stream()
            .filter(
                id -> tables.changedByCommit(id).map(slots -> slots.length > 0).orElse(true))
            .forEach(fields::add);
      }
    }
    if (after.patch() != null && !after.patch().equals(before.patch())) {
      addPatched(before, after);
    }
  }

  private void addPatched(ShardSummary before, ShardSummary after) {
    PatchFile patch = Objects.requireNonNull(OpenShards.unshared(storage, after).patch());
    Optional<UUID> known = Optional.ofNullable(before.patch()).map(PatchRef::id);
    Optional<SlotsOfCommit> said =
        patch.slotsOfCommit().filter(slots -> slots.before().equals(known));
    if (said.isPresent()) {
      fields.addAll(said.get().fields().keySet());
    } else {
      PatchFile old =
          before.patch() == null ? null : OpenShards.unshared(storage, before).patch();
      fields.addAll(PatchPart.since(after, old, patch).fieldIds());
    }
  }
}
