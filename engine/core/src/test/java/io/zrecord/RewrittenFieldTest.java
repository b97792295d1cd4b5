package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.UnmappedStorage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each kind of field is rewritten in a shard with each kind of patch: the field has the new values,
 * all else is as it was, however it is read and whatever is done to the table next.
 */
final class RewrittenFieldTest extends ChangedFieldTable {
  @ParameterizedTest
  @EnumSource(Kind.class)
  void aFieldHasItsNewValuesAndAllElseStays(Kind kind) {
    kinds = kind.withOthers();
    List<Changes> some = new ArrayList<>(List.of(Changes.values()));
    Collections.shuffle(some, random);
    for (Changes changes : some.subList(0, Math.min(some.size(), Budget.of(10)))) {
      write(changes.name());
      change(changes, kind);
      change(changes, kind);
      if (kind == Kind.PROMOTED) {
        promote();
      }
      TableSnapshot before = table.latest();
      SampleData old = SampleData.of(before.schema(), records);
      rewrite(kind, random.nextBoolean() ? List.of(0) : List.of(0, 1));
      String what = changes + " of " + kind + ", seed " + Budget.seed();
      requireRewritten(before.shards().get(0), changes, kind, what);
      requireEqual(what, storage);
      requireEqual(what, new UnmappedStorage(storage, 1 << 14));
      change(changes, kind);
      requireEqual(what, storage);
      rebalance();
      assertThat(table.latest().shards()).allMatch(shard -> shard.patch() == null);
      requireEqual(what, storage);
      requireEqual(table.version(before.version()), old);
      requireSound(what);
    }
  }

  private void rewrite(Kind kind, List<Integer> shards) {
    TableSnapshot base = table.latest();
    try (RecordFieldsWriter writer =
        RecordFieldsWriter.rewrite(table, Set.of(kind.name()), OPTIONS)) {
      for (int shard : shards) {
        RecordAppender appender = writer.newAppender(shard);
        for (long i = base.firstIndex(shard); i < base.firstIndex(shard + 1); i++) {
          byte[] value = value(current(kind));
          appender.set(kind.name(), value).endRecord();
          set((int) i, kind, value);
        }
      }
      writer.commit();
    }
  }

  /** Requires that the patch has all that it had but values of the field, and says so. */
  private void requireRewritten(ShardSummary before, Changes changes, Kind kind, String what) {
    ShardSummary after = table.latest().shards().get(0);
    int id = current(kind).id();
    PatchRef ref = after.patch();
    boolean hadField = changes.valuesOfField > 0;
    if (!hadField) {
      assertThat(ref).as(what).isEqualTo(before.patch());
    } else if (!changes.deletes && !changes.changesOthers) {
      assertThat(ref).as(what).isNull();
    } else {
      PatchFile patch = OpenShards.unshared(storage, after).patch();
      PatchFile old = OpenShards.unshared(storage, before).patch();
      assertThat(patch.json().hasField(id)).as(what).isFalse();
      Set<Integer> kept = new HashSet<>(old.json().fields().keySet());
      kept.remove(id);
      assertThat(patch.json().fields().keySet()).as(what).isEqualTo(kept);
      SlotsOfCommit slots = patch.slotsOfCommit().orElseThrow();
      assertThat(slots.before()).as(what).isEqualTo(Optional.of(old.json().fileId()));
      assertThat(slots.deleted()).as(what).isNull();
      assertThat(slots.fields()).as(what).isEmpty();
    }
    Set<UUID> needed = new HashSet<>();
    for (TablesRef tables : after.tables()) {
      needed.addAll(
          TablesFile.open(storage, after, tables, bytes -> {}).usedChunks(tables.fieldIds()));
    }
    PatchFile patch = OpenShards.unshared(storage, after).patch();
    if (patch != null) {
      patch.json().chunks().forEach(chunk -> needed.add(chunk.id()));
    }
    assertThat(after.chunks().stream().map(ChunkFile::id))
        .as(what)
        .containsExactlyInAnyOrderElementsOf(needed);
    assertThat(after.length()).isEqualTo(before.length());
    assertThat(after.slots()).isEqualTo(before.slots());
  }
}
