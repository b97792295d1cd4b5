package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RetractionTest {
  private static final OptionalLong NONE = OptionalLong.empty();
  private static final OptionalLong FIRST = OptionalLong.of(0);

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  @BeforeEach
  void open() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
  }

  private ShardSummary shard(long... values) {
    return Shards.write(storage, Shards.SCHEMA, values);
  }

  private UUID created(ShardSummary... shards) {
    return table
        .commit(Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, List.of(shards)))
        .commitId();
  }

  private List<String> files(String below) {
    List<String> names = new ArrayList<>();
    for (StoredFile file : storage.list(below)) {
      String name = below.isEmpty() ? file.name() : below + "/" + file.name();
      if (file.isDirectory()) {
        names.addAll(files(name));
      } else {
        names.add(name);
      }
    }
    return names;
  }

  @Test
  void nothingIsLeftOfTheCommit() {
    assertThat(table.retract(created(shard(1, 2), shard(3)))).isTrue();
    assertThat(table.exists()).isFalse();
    assertThat(files("")).isEmpty();
  }

  @Test
  void listsOfShardsAreDeleted() {
    ShardSummary[] many = Collections.nCopies(1001, shard(1)).toArray(ShardSummary[]::new);
    UUID commit = created(many);
    assertThat(storage.list("list")).isNotEmpty();
    assertThat(table.retract(commit)).isTrue();
    assertThat(files("")).isEmpty();
  }

  @Test
  void aShardThatNoVersionNamesYetStaysAndCanBeCommitted() {
    ShardSummary underWay = shard(7, 8);
    assertThat(table.retract(created(shard(1, 2)))).isTrue();
    assertThat(files("shard")).allMatch(file -> file.startsWith(underWay.directory() + "/"));
    assertThat(table.commit(Shards.append(NONE, underWay)).version()).isZero();
    assertThat(table.latest().length()).isEqualTo(2);
  }

  @Test
  void aCommitOnTopKeepsEverything() {
    UUID commit = created(shard(1, 2));
    table.commit(Shards.append(FIRST, shard(3)));
    List<String> files = files("");
    assertThat(table.retract(commit)).isFalse();
    assertThat(files("")).containsExactlyInAnyOrderElementsOf(files);
    assertThat(table.latest().length()).isEqualTo(3);
  }

  @Test
  void anotherCommitOrATagKeepsEverything() {
    UUID commit = created(shard(1, 2));
    assertThat(table.retract(UUID.randomUUID())).isFalse();
    table.tag(0, "kept");
    assertThat(table.retract(commit)).isFalse();
    assertThat(table.latest().length()).isEqualTo(2);
  }

  @Test
  void aCommitPlannedOnTheVersionIsAConflict() {
    ShardSummary underWay = shard(7, 8);
    assertThat(table.retract(created(shard(1, 2)))).isTrue();
    assertThatThrownBy(() -> table.commit(Shards.append(FIRST, underWay)))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("there is none now");
  }

  @Test
  void theTableCanBeCreatedAgain() {
    assertThat(table.retract(created(shard(1, 2)))).isTrue();
    created(shard(4));
    assertThat(table.versions()).containsExactly(0L);
    assertThat(table.latest().length()).isEqualTo(1);
  }

  @Test
  void anAppendBeforeAnyCallSucceedsAndIsWholeOrFails() {
    for (OptionalLong base : List.of(NONE, FIRST)) {
      Set<String> outcomes = new TreeSet<>();
      AtomicBoolean isReached = new AtomicBoolean(true);
      for (int call = 0; isReached.get(); call++) {
        isReached.set(false);
        storage = LocalStorage.at(directory.resolve(base + "-" + call));
        table = RecordTable.at(storage);
        UUID commit = created(shard(1, 2));
        ShardSummary underWay = shard(7, 8, 9);
        InterruptedStorage retracting = new InterruptedStorage(storage, call, () -> {
          isReached.set(true);
          try {
            table.commit(Shards.append(base, underWay));
            outcomes.add("appended");
          } catch (CommitConflictException | CommitOutcomeUnknownException e) {
            outcomes.add("refused");
          }
        });
        boolean isRetracted = RecordTable.at(retracting.storage()).retract(commit);
        new ShardCheck(storage).check(List.of(underWay));
        if (table.exists()) {
          new ShardCheck(storage).check(table.latest().shards());
          assertThat(table.latest().shards()).contains(underWay);
          assertThat(table.latest().length()).isEqualTo(isRetracted ? 3 : 5);
        }
      }
      assertThat(outcomes).containsExactly("appended", "refused");
    }
  }

  @Test
  void cutShortBeforeAnyCallItLeavesAWholeTableOrNone() {
    boolean isCut = true;
    for (int call = 0; isCut; call++) {
      storage = LocalStorage.at(directory.resolve("cut-" + call));
      table = RecordTable.at(storage);
      UUID commit = created(shard(1, 2), shard(3));
      MortalStorage mortal = new MortalStorage(storage, call);
      try {
        RecordTable.at(mortal.storage()).retract(commit);
      } catch (MortalStorage.KilledError e) {
        // Not retracted, or in part.
      }
      isCut = mortal.isKilled();
      for (long version : table.versions()) {
        new ShardCheck(storage).check(table.version(version).shards());
      }
    }
    assertThat(table.exists()).isFalse();
  }
}
