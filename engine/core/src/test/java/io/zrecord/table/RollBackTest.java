package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.findings.Finding;
import io.zrecord.read.IndexSet;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.verify.DatasetCheck;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A table that becomes again what it was at a version. */
final class RollBackTest {
  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1));
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private TableModel model;
  private RecordTable table;

  @BeforeEach
  void threeVersions() {
    threeVersions("table");
  }

  /** Begins with a table of its own: one that grows with each trial makes the next trial longer. */
  private void threeVersions(String name) {
    model = new TableModel(directory.resolve(name));
    table = model.table;
    for (int version = 0; version < 3; version++) {
      model.append(2);
      model.pass(Duration.ofHours(2));
    }
  }

  /** Takes note of a rollback, and requires that all versions hold what they should. */
  private TableSnapshot rollBack(long version) {
    model.requireEqual();
    TableSnapshot after = table.rollBack(version);
    model.versions.put(after.version(), model.versions.get(version));
    model.stamp();
    model.requireEqual();
    return after;
  }

  private void requireSound() {
    List<Finding> findings = new ArrayList<>();
    boolean isSound =
        DatasetCheck.of(model.storage).allVersions().run(findings::add).isSound();
    assertThat(isSound).as(findings.toString()).isTrue();
  }

  private static FieldSpec field(String name) {
    return RecordSchema.builder().field(name, ElementType.I32).build().fields().get(0);
  }

  @Test
  void theRecordsAreThoseOfTheVersionAndTheVersionsSinceStay() {
    int files = model.files().size();
    TableSnapshot after = rollBack(0);
    assertThat(after.version()).isEqualTo(3);
    assertThat(after.length()).isEqualTo(2);
    assertThat(after.operation()).isEqualTo("overwrite");
    assertThat(after.properties()).containsEntry("rolledBackTo", "0");
    assertThat(model.files().size()).as("a manifest and a hint at most").isLessThan(files + 3);
    rollBack(2);
    assertThat(table.latest().length()).isEqualTo(6);
    model.append(1);
    rollBack(4);
    model.requireEqual();
    requireSound();
  }

  @Test
  void deletedAndChangedRecordsAreBackAndCanBeChangedAgain() {
    RowChange change = RowChange.of(table.latest());
    change.delete(IndexSet.range(1, 4));
    change.commit();
    assertThat(table.rollBack(2).length()).isEqualTo(6);
    RowChange again = RowChange.of(table.latest());
    again.delete(IndexSet.range(0, 3));
    again.commit();
    assertThat(table.latest().length()).isEqualTo(3);
    RecordChanges undone = TableChanges.of(model.storage).net(3, 4).records();
    assertThat(undone.inserted().count() - undone.deleted().count()).isEqualTo(3);
    assertThat(TableChanges.of(model.storage).net(4, 5).records().deleted().count())
        .isEqualTo(3);
    requireSound();
  }

  @Test
  void fieldsPartitionsAndDeclarationsAreThoseOfTheVersion() {
    TableSnapshot before = table.latest();
    table.addFields(List.of(field("label")));
    table.renameField("value", "number");
    DeclarationChange.of(table.latest()).set("owner", "somebody").commit();
    int next = table.addFields(List.of(field("more"))).nextFieldId();
    TableSnapshot after = table.rollBack(2);
    assertThat(after.schema()).isEqualTo(before.schema());
    assertThat(after.declarations()).isEqualTo(before.declarations());
    assertThat(after.nextFieldId()).as("numbers of fields are not used again").isEqualTo(next);
    TableSnapshot dropped = table.dropField("value");
    assertThat(table.rollBack(after.version()).schema().fields()).hasSize(1);
    assertThat(dropped.schema().fields()).isEmpty();
    requireSound();
  }

  @Test
  void tagsAndTransactionsStay() {
    model.tag(1, "kept");
    table.commit(inTransaction());
    TableSnapshot after = table.rollBack(0);
    assertThat(after.transactions()).containsEntry("job", 7L);
    assertThat(table.tags()).extracting(Tag::name).containsExactly("kept");
    assertThat(table.commit(inTransaction()).version())
        .as("it took effect before")
        .isEqualTo(after.version());
  }

  private TableChange inTransaction() {
    return TableChange.of(TableChange.Kind.APPEND, Shards.SCHEMA)
        .baseVersion(OptionalLong.of(table.latest().version()))
        .shards(List.of(model.write(1)))
        .transaction(Optional.of(new TableChange.Transaction("job", 7)))
        .build();
  }

  /** Appends without a note in the model. */
  private void append() {
    table.commit(Shards.append(Shards.newest(table), model.write(1)));
    model.stamp();
  }

  @Test
  void aVersionThatIsNotKeptIsRefused() {
    assertThatThrownBy(() -> table.rollBack(9))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("0 to 2");
    model.tag(0, "kept");
    table.expire(EXPIRE);
    assertThatThrownBy(() -> table.rollBack(1))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("expired");
    assertThat(table.rollBack(0).length()).as("a tag keeps it").isEqualTo(2);
  }

  /** An expiry and a sweep delete what only the versions given up have. */
  @Test
  void filesOfTheVersionOutliveExpiriesAndSweepsBeforeAndAfter() {
    ShardSummary unnamed = model.write(1);
    model.pass(Duration.ofHours(2));
    table.sweep(SWEEP, orphan -> {});
    rollBack(0);
    model.pass(Duration.ofHours(2));
    table.expire(EXPIRE);
    table.sweep(SWEEP, orphan -> {});
    assertThat(table.latest().length()).isEqualTo(2);
    assertThat(model.storage.list("shard")).hasSize(1);
    assertThat(model.storage.exists(unnamed.directory())).isFalse();
    requireSound();
  }

  /** Each commit comes in between at each call of the storage. */
  @Test
  void whatIsCommittedMeanwhileIsNeverUndone() {
    Map<String, Runnable> others = new LinkedHashMap<>();
    others.put("append", this::append);
    others.put("delete", () -> {
      RowChange change = RowChange.of(table.latest());
      change.delete(IndexSet.range(0, 1));
      change.commit();
    });
    others.put("field", () -> table.addFields(List.of(field("f" + table.latest().version()))));
    others.put(
        "declare",
        () -> DeclarationChange.of(table.latest())
            .set("p", String.valueOf(table.latest().version()))
            .commit());
    others.forEach((name, other) -> {
      int conflicts = 0;
      int calls = Integer.MAX_VALUE;
      for (int call = 0; call < calls; call++) {
        threeVersions(name + call);
        append();
        long target = table.latest().version() - 1;
        InterruptedStorage interrupted = new InterruptedStorage(model.storage, call, other);
        long before = table.latest().version();
        try {
          TableSnapshot after = RecordTable.at(interrupted.storage(), model).rollBack(target);
          if (interrupted.calls() > call && after.version() > before + 1) {
            // It was planned after the other commit.
            assertThat(after.version()).as(name).isEqualTo(before + 2);
          }
        } catch (CommitConflictException e) {
          conflicts++;
          assertThat(table.latest().version()).as(name).isEqualTo(before + 1);
          assertThat(e).hasMessageContaining("would be undone");
        }
        calls = Math.max(interrupted.calls(), call + 1);
      }
      assertThat(conflicts).as(name).isPositive();
    });
  }

  @Test
  void careMayComeBetweenUnlessItTakesTheVersionAway() {
    Map<String, Runnable> others = new LinkedHashMap<>();
    others.put(
        "tag", () -> table.tag(table.latest().version(), "t" + table.latest().version()));
    others.put("sweep", () -> table.sweep(SWEEP, orphan -> {}));
    others.put("expire", () -> table.expire(EXPIRE));
    others.forEach((name, other) -> {
      int refused = 0;
      int done = 0;
      int calls = Integer.MAX_VALUE;
      for (int call = 0; call < calls; call++) {
        threeVersions(name + call);
        append();
        model.pass(Duration.ofHours(2));
        append();
        model.pass(Duration.ofHours(2));
        long target = table.latest().version() - 1;
        long length = table.version(target).length();
        InterruptedStorage interrupted = new InterruptedStorage(model.storage, call, () -> {
          model.write(1);
          model.pass(Duration.ofHours(2));
          other.run();
        });
        try {
          assertThat(
                  RecordTable.at(interrupted.storage(), model).rollBack(target).length())
              .isEqualTo(length);
          done++;
        } catch (CommitConflictException
            | VersionNotFoundException
            | CommitOutcomeUnknownException e) {
          refused++;
          assertThat(name).as(e.getMessage()).isEqualTo("expire");
        }
        requireSound();
        calls = Math.max(interrupted.calls(), call + 1);
      }
      assertThat(done).as(name).isPositive();
      assertThat(refused > 0).as(name).isEqualTo(name.equals("expire"));
    });
  }

  @Test
  void aTypeThatWasPromotedSinceIsNarrowAgain() {
    RecordSchema narrow = RecordSchema.builder().field("n", ElementType.I32).build();
    RecordTable other = RecordTable.at(LocalStorage.at(directory.resolve("narrow")));
    other.commit(Shards.change(TableChange.Kind.CREATE, OptionalLong.empty(), narrow, List.of()));
    other.promoteField("n", ElementType.I64);
    assertThat(other.rollBack(0).schema().fields().get(0).type()).isEqualTo(ElementType.I32);
    assertThat(DatasetCheck.of(other.storage()).allVersions().run(finding -> {}).isSound())
        .isTrue();
  }
}
