package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.findings.Finding;
import io.zrecord.inspect.TableHistory;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.verify.DatasetCheck;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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

  private static final String FIRST_RETRACTION = "manifest/00000000000000000001.json";

  /** Returns the files, without the hint, which is there without a promise. */
  private List<String> files(String below) {
    List<String> names = new ArrayList<>();
    for (StoredFile file : storage.list(below)) {
      String name = below.isEmpty() ? file.name() : below + "/" + file.name();
      if (file.isDirectory()) {
        names.addAll(files(name));
      } else if (!name.equals(ManifestNames.HINT)) {
        names.add(name);
      }
    }
    return names;
  }

  @Test
  void nothingIsLeftOfTheCommitExceptThatItWasTakenBack() {
    assertThat(table.retract(created(shard(1, 2), shard(3)))).isTrue();
    assertThat(files("")).containsExactly(FIRST_RETRACTION);
    assertThat(table.exists()).isFalse();
    assertThat(table.versions()).isEmpty();
    assertThat(TableHistory.of(storage).versions()).isEmpty();
    List<ThrowingCallable> uses = List.of(
        table::latest,
        table::tags,
        () -> table.version(0),
        () -> table.version(1),
        () -> table.asOf(Instant.now()),
        () -> table.tag(1, "kept"),
        () -> table.untag("kept"),
        () -> table.expire(ExpireOptions.defaults()),
        () -> RecordDataset.open(directory.resolve("table").toString()));
    for (ThrowingCallable use : uses) {
      assertThatThrownBy(use)
          .isInstanceOf(NotADatasetException.class)
          .hasMessageContaining("its creation was taken back");
    }
  }

  @Test
  void nothingIsDamagedAndWhatIsLeftIsSwept() {
    ShardSummary underWay = shard(7, 8);
    assertThat(table.retract(created(shard(1, 2)))).isTrue();
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(directory.resolve("table").toString())
            .run(findings::add)
            .isSound())
        .isTrue();
    assertThat(findings)
        .extracting(Finding::kind)
        .containsExactlyInAnyOrder(Finding.Kind.NOTE, Finding.Kind.ORPHAN);
    assertThat(DatasetRepair.of(directory.resolve("table").toString())
            .restoringPrevious()
            .run(finding -> {}, plan -> true)
            .plan()
            .actions())
        .isEmpty();
    List<Orphan> swept = new ArrayList<>();
    LaterTable.of(storage).sweep(SweepOptions.defaults().withMode(CareMode.DELETE), swept::add);
    assertThat(swept).extracting(Orphan::name).containsExactly(underWay.directory());
    // The sweep says in another retraction what it deletes.
    assertThat(files("")).containsExactly(ManifestNames.nameOf(2));
  }

  @Test
  void listsOfShardsAreDeleted() {
    ShardSummary[] many = Collections.nCopies(1001, shard(1)).toArray(ShardSummary[]::new);
    UUID commit = created(many);
    assertThat(storage.list("list")).isNotEmpty();
    assertThat(table.retract(commit)).isTrue();
    assertThat(files("")).containsExactly(FIRST_RETRACTION);
  }

  @Test
  void aShardThatNoVersionNamesYetStaysAndCanBeCommitted() {
    ShardSummary underWay = shard(7, 8);
    assertThat(table.retract(created(shard(1, 2)))).isTrue();
    assertThat(files("shard")).allMatch(file -> file.startsWith(underWay.directory() + "/"));
    assertThat(table.commit(Shards.append(NONE, underWay)).version()).isEqualTo(2);
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

  /** So no retraction forgets what a sweep said, whose deletions may be under way. */
  @Test
  void aSweepOnTopKeepsEverything() {
    UUID commit = created(shard(1, 2));
    shard(7, 8);
    LaterTable.of(storage).sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
    assertThat(table.latest().operation()).isEqualTo("sweep");
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
  void theTableCanBeCreatedAgainAndTakenBackAgain() {
    UUID first = created(shard(1, 2));
    UUID firstTable = table.latest().tableId();
    assertThat(table.retract(first)).isTrue();
    UUID second = created(shard(4));
    assertThat(table.versions()).containsExactly(2L);
    assertThat(table.latest().length()).isEqualTo(1);
    assertThat(table.latest().tableId()).isNotEqualTo(firstTable);
    assertThat(table.retract(first)).isFalse();
    assertThat(DatasetCheck.of(directory.resolve("table").toString())
            .run(finding -> {})
            .isSound())
        .isTrue();
    assertThat(table.retract(second)).isTrue();
    assertThat(table.exists()).isFalse();
    assertThat(files("")).containsExactly("manifest/00000000000000000003.json");
    table.commit(Shards.append(NONE, shard(5)));
    table.commit(Shards.append(NONE, shard(6)));
    table.commit(Shards.append(OptionalLong.of(5), shard(7)));
    assertThat(table.versions()).containsExactly(4L, 5L, 6L);
    table.tag(4, "first");
    LaterTable.expire(storage, 1);
    assertThat(table.versions()).containsExactly(4L, 6L, 7L, 8L);
    assertThat(files("manifest")).hasSize(3);
    assertThat(DatasetCheck.of(directory.resolve("table").toString())
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  @Test
  void whatWasPlannedOnATableThatWasTakenBackDoesNotFollowTheNext() {
    assertThat(table.retract(created(shard(1, 2)))).isTrue();
    created(shard(4));
    for (TableChange.Kind kind : List.of(TableChange.Kind.APPEND, TableChange.Kind.OVERWRITE)) {
      TableChange change = Shards.change(kind, FIRST, Shards.SCHEMA, List.of(shard(7)));
      assertThatThrownBy(() -> table.commit(change)).isInstanceOf(CommitConflictException.class);
    }
    assertThatThrownBy(() -> created(shard(5))).isInstanceOf(DatasetExistsException.class);
    assertThat(table.latest().length()).isEqualTo(1);
  }

  /** Runs a commit that sleeps before each of its calls, until there are no more. */
  private List<String> sleptBeforeEachCall(
      Supplier<TableChange> planned, Consumer<TableChange> whileItSlept) {
    List<String> outcomes = new ArrayList<>();
    AtomicBoolean isReached = new AtomicBoolean(true);
    for (int call = 0; isReached.get(); call++) {
      isReached.set(false);
      storage = LocalStorage.at(directory.resolve(UUID.randomUUID().toString()));
      table = RecordTable.at(storage);
      TableChange change = planned.get();
      InterruptedStorage interrupted = new InterruptedStorage(storage, call, () -> {
        isReached.set(true);
        whileItSlept.accept(change);
      });
      String outcome;
      try {
        RecordTable.at(interrupted.storage()).commit(change);
        outcome = "success";
      } catch (CommitOutcomeUnknownException e) {
        outcome = "unknown";
      } catch (CommitConflictException | DatasetExistsException e) {
        outcome = "conflict";
      }
      boolean isThere = table.exists() && table.latest().shards().containsAll(change.shards());
      assertThat(isThere)
          .as("%s before call %d", outcome, call)
          .isEqualTo(outcome.equals("success"));
      if (table.exists()) {
        new ShardCheck(storage).check(table.latest().shards());
      }
      outcomes.add(outcome);
    }
    return outcomes;
  }

  /** Otherwise its version would become the newest of the table that was created since. */
  @Test
  void anAppendThatSleptWhileTheTableWasTakenBackAndCreatedAgainDoesNotTouchIt() {
    AtomicReference<UUID> created = new AtomicReference<>();
    List<String> outcomes = sleptBeforeEachCall(
        () -> {
          created.set(created(shard(1, 2)));
          return Shards.append(FIRST, shard(7, 8, 9));
        },
        change -> {
          if (table.retract(created.get())) {
            ShardSummary again = shard(4);
            created(again);
            assertThat(table.latest().shards()).containsExactly(again);
          }
        });
    assertThat(outcomes).contains("success", "conflict").doesNotContain("unknown");
  }

  @Test
  void anAppendThatSleptWhileTheTableWasTakenBackCreatesNone() {
    AtomicReference<UUID> created = new AtomicReference<>();
    List<String> outcomes = sleptBeforeEachCall(
        () -> {
          created.set(created(shard(1, 2)));
          return Shards.append(FIRST, shard(7, 8, 9));
        },
        change -> table.retract(created.get()));
    assertThat(outcomes).contains("success", "conflict").doesNotContain("unknown");
  }

  /** Its number was used and deleted while it slept, at the first creation and at a later one. */
  @Test
  void aCreationThatSleptWhileOthersCreatedAndTookBackIsNotLost() {
    for (boolean isFirst : List.of(true, false)) {
      List<String> outcomes = sleptBeforeEachCall(
          () -> {
            if (!isFirst) {
              assertThat(table.retract(created(shard(1)))).isTrue();
            }
            return Shards.append(NONE, shard(7, 8, 9));
          },
          change -> {
            if (!table.exists()) {
              assertThat(table.retract(created(shard(4)))).isTrue();
            }
          });
      assertThat(outcomes)
          .as("first %s", isFirst)
          .contains("success", "conflict")
          .doesNotContain("unknown");
    }
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
      // Without a base, it creates the table again.
      assertThat(outcomes)
          .containsExactlyElementsOf(
              base.isPresent() ? List.of("appended", "refused") : List.of("appended"));
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
