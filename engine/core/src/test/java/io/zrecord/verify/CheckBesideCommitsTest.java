package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.findings.CheckListener;
import io.zrecord.findings.Finding;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.LaterTable;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.ShardOnDisk;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
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
        RecordDatasetWriter.create(directory.toString(), SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("value", 1).endRecord();
      writer.commit();
    }
    append();
    table = RecordTable.at(LocalStorage.at(directory));
  }

  private void append() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(directory.toString(), SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("value", 2).endRecord();
      writer.commit();
    }
  }

  private List<Finding> findings(Runnable meanwhile) {
    return findings(DatasetCheck.of(directory.toString()), meanwhile);
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
    List<Finding> findings = findings(this::expire);
    assertThat(findings).noneMatch(finding -> finding.kind().isDamage());
    assertThat(findings).anyMatch(finding -> finding.problem().contains("expired meanwhile"));
  }

  /** When the first shard of version 1 is checked and the second is not yet. */
  @Test
  void filesOfVersionsThatAreExpiredAndSweptMeanwhileAreNotMissed() {
    overwrite();
    List<ShardSummary> swept = table.version(1).shards();
    List<Finding> findings = findings(DatasetCheck.of(directory.toString()).version(1), () -> {
      expire();
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
    List<Finding> findings = findings(DatasetCheck.of(directory.toString()).version(1), () -> {
      expire();
      table.storage().delete(deleted.directory());
    });
    assertThat(findings)
        .filteredOn(finding -> finding.kind().isDamage())
        .hasSize(deleted.chunkCount() + 1)
        .allMatch(finding -> finding.file().contains(deleted.directory()));
  }

  @Test
  void aTableThatVanishesIsNotSound() throws Exception {
    Path elsewhere = directory.resolveSibling(directory.getFileName() + "-elsewhere");
    for (DatasetCheck check : List.of(
        DatasetCheck.of(directory.toString()),
        DatasetCheck.of(directory.toString()).version(1))) {
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
    DatasetCheck.of(directory.toString())
        .withoutShards(finding -> {}, (shard, schema) -> shards.add(shard));
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
    List<Finding> findings = findings(DatasetCheck.of(directory.toString()).version(1), () -> {
      assertThat(LaterTable.expire(table.storage(), 2).expired()).containsExactly(0L, 1L);
      table.storage().delete("list");
      table.storage().delete(deleted.directory());
    });
    assertThat(findings)
        .anyMatch(
            finding -> finding.kind().isDamage() && finding.file().contains(deleted.directory()));
  }

  /** Expires all versions but the newest one. */
  private void expire() {
    assertThat(LaterTable.expire(table.storage(), 1).expired()).isNotEmpty();
  }

  @Test
  void aVersionMissingBetweenOthersIsDamage() {
    append();
    delete("manifest/00000000000000000001.json");
    assertThat(findings(() -> {}))
        .filteredOn(finding -> finding.kind().isDamage())
        .hasSize(1)
        .allMatch(finding -> finding.kind() == Finding.Kind.MANIFEST
            && finding.file().contains("manifest/00000000000000000001.json"));
  }

  @Test
  void aVersionThatFollowsAnotherCommitIsDamage() throws Exception {
    append();
    Path first = directory.resolve("manifest/00000000000000000001.json");
    Path elsewhere = directory.resolveSibling(directory.getFileName() + "-other");
    copy(directory, elsewhere);
    Files.delete(elsewhere.resolve("manifest/00000000000000000002.json"));
    Files.delete(elsewhere.resolve("manifest/00000000000000000001.json"));
    Files.delete(elsewhere.resolve("manifest/latest"));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(elsewhere.toString(), SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("value", 2).endRecord();
      writer.commit();
    }
    // Of the same table, and as sound as the one whose place it takes.
    copy(elsewhere.resolve("shard"), directory.resolve("shard"));
    Files.copy(
        elsewhere.resolve("manifest/00000000000000000001.json"),
        first,
        StandardCopyOption.REPLACE_EXISTING);
    assertThat(findings(() -> {}))
        .filteredOn(finding -> finding.kind().isDamage())
        .hasSize(1)
        .allMatch(finding -> finding.file().contains("manifest/00000000000000000002.json"));
  }

  @Test
  void aHintAheadOfEveryManifestIsDamage() throws Exception {
    append();
    Files.delete(directory.resolve("manifest/00000000000000000002.json"));
    assertThat(findings(() -> {}))
        .filteredOn(finding -> finding.kind().isDamage())
        .hasSize(1)
        .allMatch(finding -> finding.file().endsWith("manifest/latest")
            && finding.problem().contains("version 2 was published, but version 1 is the newest"));
  }

  @Test
  void aHintThatCannotBeReadIsANote() throws Exception {
    Files.write(directory.resolve("manifest/latest"), new byte[0]);
    assertThat(findings(() -> {}))
        .hasSize(1)
        .allMatch(finding ->
            finding.kind() == Finding.Kind.NOTE && finding.file().endsWith("manifest/latest"));
  }

  @Test
  void manifestsBelowTheFloorAreANote() throws Exception {
    Path first = directory.resolve("manifest/00000000000000000000.json");
    byte[] content = Files.readAllBytes(first);
    expire();
    assertThat(findings(() -> {})).isEmpty();
    Files.write(first, content);
    assertThat(findings(() -> {}))
        .hasSize(1)
        .allMatch(finding -> finding.kind() == Finding.Kind.NOTE
            && finding.file().contains("manifest/00000000000000000000.json"));
  }

  @Test
  void theFilesOfATaggedVersionBelowTheFloorAreNamedAndChecked() {
    ShardSummary shard = table.version(0).shards().get(0);
    overwrite();
    table.tag(0, "old");
    expire();
    assertThat(findings(() -> {}))
        .allMatch(finding -> !finding.kind().isDamage())
        .noneMatch(finding -> finding.file().contains(shard.directory()));
    table.storage().delete(shard.directory() + "/" + shard.tables().get(0).fileName());
    assertThat(findings(() -> {}))
        .filteredOn(finding -> finding.kind().isDamage())
        .isNotEmpty()
        .allMatch(finding -> finding.file().contains(shard.directory()));
  }

  @Test
  void theValuesOfATaggedVersionBelowTheFloorCanBeChecked() throws Exception {
    ShardSummary shard = table.version(0).shards().get(0);
    overwrite();
    table.tag(0, "old");
    expire();
    Damage.flip(ShardOnDisk.of(directory.resolve(shard.directory())).chunk(0), 64);
    assertThat(findings(() -> {})).noneMatch(finding -> finding.kind().isDamage());
    assertThat(findings(DatasetCheck.of(directory.toString()).version(0), () -> {}))
        .anyMatch(finding -> finding.kind().isDamage());
    assertThatThrownBy(() -> DatasetCheck.of(directory.toString()).version(1).run(finding -> {}))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("0, 2 to 4");
  }

  @Test
  void aCopyOfATagThatCannotBeReadIsDamage() throws Exception {
    table.tag(0, "old");
    Path copy =
        directory.resolve("tag").resolve(table.storage().list("tag").get(0).name());
    byte[] content = Files.readAllBytes(copy);
    byte[] other = Files.readAllBytes(directory.resolve("manifest/00000000000000000001.json"));
    for (byte[] damaged : List.of(Arrays.copyOf(content, 30), other)) {
      Files.write(copy, damaged);
      requireDamaged(copy);
    }
    Files.delete(copy);
    requireDamaged(copy);
    Files.write(copy, content);
    assertThat(findings(() -> {})).isEmpty();
  }

  private void requireDamaged(Path copy) {
    assertThat(findings(() -> {}))
        .filteredOn(finding -> finding.kind().isDamage())
        .hasSize(1)
        .allMatch(finding -> finding.kind() == Finding.Kind.MANIFEST
            && finding.file().contains(copy.getFileName().toString()));
  }

  @Test
  void aCopyThatNoTagNamesIsAnOrphan() {
    table.tag(0, "old");
    assertThat(findings(() -> {})).isEmpty();
    table.untag("old");
    assertThat(findings(() -> {}))
        .hasSize(1)
        .allMatch(
            finding -> finding.kind() == Finding.Kind.ORPHAN && finding.file().contains("/tag/"));
  }

  private void overwrite() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.overwrite(directory.toString(), SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("value", 3).endRecord();
      writer.commit();
    }
  }

  private void commitCopies(ShardSummary shard, int count) {
    TableSnapshot before = table.latest();
    TableSnapshot many = table.commit(TableChange.of(TableChange.Kind.APPEND, before.schema())
        .baseTable(before.tableId(), before.version())
        .shards(Collections.nCopies(count, shard))
        .build());
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

  private static void copy(Path from, Path to) throws java.io.IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path path : paths.toList()) {
        Path target = to.resolve(from.relativize(path).toString());
        if (Files.isDirectory(path)) {
          Files.createDirectories(target);
        } else {
          Files.copy(path, target, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
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
