package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.StorageException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.CareMode;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepOptions;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What others do to a table while it is checked is no damage. */
final class CheckBesideCommitsTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I32).build();

  @TempDir
  Path directory;

  private RecordTable table;

  @BeforeEach
  void createTable() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory, SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("value", 1).endRecord();
      writer.commit();
    }
    append();
    table = RecordTable.at(LocalStorage.at(directory));
  }

  private void append() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(directory, SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("value", 2).endRecord();
      writer.commit();
    }
  }

  private List<Finding> findings(Runnable meanwhile) {
    return findings(DatasetCheck.of(directory), meanwhile);
  }

  private static List<Finding> findings(DatasetCheck check, Runnable meanwhile) {
    List<Finding> findings = new ArrayList<>();
    check.run(new CheckListener() {
      private boolean isDone;

      @Override
      public void finding(Finding finding) {
        findings.add(finding);
      }

      @Override
      public void progress(long doneBytes, long totalBytes) {
        if (!isDone) {
          isDone = true;
          meanwhile.run();
        }
      }
    });
    return findings;
  }

  @Test
  void aVersionThatIsCommittedAndTaggedMeanwhileIsThere() {
    List<Finding> findings = findings(() -> {
      append();
      table.tag(2, "new");
    });
    assertThat(findings).noneMatch(finding -> finding.kind().isDamage());
  }

  @Test
  void aVersionThatIsExpiredMeanwhileIsNoneThatIsDamaged() {
    List<Finding> findings = findings(() -> delete("manifest/00000000000000000000.json"));
    assertThat(findings).noneMatch(finding -> finding.kind().isDamage());
    assertThat(findings).anyMatch(finding -> finding.problem().contains("expired meanwhile"));
  }

  /** When the first shard of version 1 is checked and the second is not yet. */
  @Test
  void filesOfVersionsThatAreExpiredAndSweptMeanwhileAreNotMissed() {
    overwrite();
    List<ShardSummary> swept = table.version(1).shards();
    List<Finding> findings = findings(DatasetCheck.of(directory).version(1), () -> {
      delete("manifest/00000000000000000000.json");
      delete("manifest/00000000000000000001.json");
      swept.forEach(shard -> table.storage().delete(shard.directory()));
    });
    assertThat(findings).noneMatch(finding -> finding.kind().isDamage());
    assertThat(findings)
        .filteredOn(finding -> finding.problem().contains("its shard was not checked"))
        .hasSize(1);
  }

  /** The control: what another version names is missed. */
  @Test
  void filesOfVersionsThatAreExpiredMeanwhileAreMissedIfAnotherVersionNamesThem() {
    append();
    ShardSummary deleted = table.version(1).shards().get(1);
    List<Finding> findings = findings(DatasetCheck.of(directory).version(1), () -> {
      delete("manifest/00000000000000000001.json");
      table.storage().delete(deleted.directory());
    });
    assertThat(findings)
        .filteredOn(finding -> finding.kind().isDamage())
        .hasSize(1)
        .allMatch(finding -> finding.file().contains(deleted.directory()));
  }

  @Test
  void aTableThatVanishesIsNotSound() throws Exception {
    Path elsewhere = directory.resolveSibling(directory.getFileName() + "-elsewhere");
    for (DatasetCheck check :
        List.of(DatasetCheck.of(directory), DatasetCheck.of(directory).version(1))) {
      assertThatThrownBy(() -> findings(check, () -> move(directory, elsewhere)))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("mounted");
      move(elsewhere, directory);
    }
  }

  /** As on a machine of a cluster that lacks the file system. */
  @Test
  void aShardOfATableThatIsNotSeenIsNotSound() {
    List<ShardVerification> shards = new ArrayList<>();
    DatasetCheck.of(directory).withoutShards(finding -> {}, (shard, schema) -> shards.add(shard));
    move(directory, directory.resolveSibling(directory.getFileName() + "-elsewhere"));
    assertThat(shards).hasSize(2);
    for (ShardVerification shard : shards) {
      assertThatThrownBy(() -> shard.run(SCHEMA, finding -> {}))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("mounted");
    }
    move(directory.resolveSibling(directory.getFileName() + "-elsewhere"), directory);
  }

  @Test
  void filesAreMissedIfTheListOfAnotherVersionIsMissing() {
    ShardSummary deleted = table.version(1).shards().get(1);
    // The first thousand are in a list, with the one that is deleted; the others are not.
    commitCopies(table.version(1).shards().get(0), 1_000);
    overwrite();
    List<Finding> findings = findings(DatasetCheck.of(directory).version(1), () -> {
      delete("manifest/00000000000000000001.json");
      table.storage().delete("list");
      table.storage().delete(deleted.directory());
    });
    assertThat(findings)
        .anyMatch(
            finding -> finding.kind().isDamage() && finding.file().contains(deleted.directory()));
  }

  /** A version that a tag keeps is under none of the names in the first two listings. */
  @Test
  void aVersionThatIsPutBackBetweenTheLooksNamesItsShards() {
    ShardSummary shard = table.version(1).shards().get(0);
    overwrite();
    TableSnapshot newest = table.latest();
    Path manifest = directory.resolve("manifest/00000000000000000001.json");
    Path away = directory.resolve("away.json");
    delete("manifest/00000000000000000000.json");
    move(manifest, away);
    int[] listings = {0};
    Storage storage = (Storage) Proxy.newProxyInstance(
        Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, given) -> {
          boolean isListing = method.getName().equals("list");
          Object found;
          try {
            found = method.invoke(table.storage(), given);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
          // Three in vain for version 0, then those of the names and of what is set aside.
          if (isListing && ++listings[0] == 5) {
            move(away, manifest);
          }
          return found;
        });
    ShardNeed need =
        new ShardNeed(storage, shard, new ShardNeed.Source(newest.tableId(), 0, newest.version()));
    assertThat(need.isNeeded("a file")).isTrue();
    assertThat(listings[0]).isGreaterThan(5);
  }

  /** A tagging that was killed when its version had been expired. */
  @Test
  void aPendingTagOfAMissingVersionIsNoDamageAndKeepsNothing() {
    String pending = "pending-123e4567-e89b-12d3-a456-426614174000";
    table.tag(0, pending);
    delete("manifest/00000000000000000000.json");
    List<Finding> findings = findings(() -> {});
    assertThat(findings)
        .hasSize(1)
        .allMatch(finding -> !finding.kind().isDamage() && finding.file().contains(pending));
    table.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
    assertThat(findings(() -> {})).hasSize(1);
  }

  /** The control. */
  @Test
  void anotherTagOfAMissingVersionIsDamage() {
    table.tag(0, "pending-soon");
    delete("manifest/00000000000000000000.json");
    assertThat(findings(() -> {})).anyMatch(finding -> finding.kind().isDamage());
    assertThatThrownBy(
            () -> table.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {}))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("pending-soon");
  }

  private void overwrite() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.overwrite(directory, SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("value", 3).endRecord();
      writer.commit();
    }
  }

  private void commitCopies(ShardSummary shard, int count) {
    TableSnapshot before = table.latest();
    TableSnapshot many = table.commit(new TableChange(
        UUID.randomUUID(),
        TableChange.Kind.APPEND,
        Optional.of(before.tableId()),
        OptionalLong.of(before.version()),
        before.schema(),
        Collections.nCopies(count, shard),
        Optional.empty(),
        Map.of()));
    assertThat(many.length()).isEqualTo(before.length() + count);
  }

  @Test
  void aListThatManyVersionsNameIsReadOnce() {
    commitCopies(table.latest().shards().get(0), 1_000);
    append();
    append();
    List<String> lists = new ArrayList<>();
    Storage storage = (Storage) Proxy.newProxyInstance(
        Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, given) -> {
          if (method.getName().equals("read") && given[0].toString().startsWith("list/")) {
            lists.add(given[0].toString());
          }
          return method.invoke(table.storage(), given);
        });
    List<ShardVerification> shards = new ArrayList<>();
    new TableCheck(new CheckRun(finding -> {}), storage, (shard, schema) -> shards.add(shard))
        .check(CheckedVersions.ALL);
    assertThat(lists).hasSize(1);
    assertThat(shards).hasSize(4);
  }

  @Test
  void aVersionSetAsideHasNoOrphans() throws Exception {
    table.tag(0, "old");
    Files.move(
        directory.resolve("manifest/00000000000000000000.json"),
        directory.resolve(
            "manifest/00000000000000000000.json.123e4567-e89b-12d3-a456-426614174000.expiring"));
    assertThat(findings(() -> {})).isEmpty();
  }

  private static void move(Path from, Path to) {
    try {
      Files.move(from, to);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private void delete(String name) {
    try {
      Files.delete(directory.resolve(name));
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
