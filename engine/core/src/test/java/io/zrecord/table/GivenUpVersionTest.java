package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairReport;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Repairs that give versions up, and what was planned on these versions or is under way. */
final class GivenUpVersionTest extends ManifestFiles {
  @Test
  void aNewestVersionOfANewerFormatIsNotMovedAside() throws IOException {
    rewrite("{\"format\":2", "{\"format\":3");
    assertThatThrownBy(() -> DatasetCheck.of(directory.toString()).run(finding -> {}))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThatThrownBy(() -> DatasetRepair.of(directory.toString())
            .restoringPrevious()
            .run(finding -> {}, plan -> true))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(manifest(1).toString());
    assertThat(manifest(1)).exists();
  }

  /** As a file that the system refuses to read; a link to itself is refused whoever asks. */
  @Test
  void aNewestVersionThatCannotBeReadIsNotMovedAside() throws IOException {
    Files.delete(manifest(1));
    Files.createSymbolicLink(manifest(1), manifest(1).getFileName());
    assertThatThrownBy(() -> DatasetRepair.of(directory.toString())
            .restoringPrevious()
            .run(finding -> {}, plan -> {
              throw new AssertionError(plan.toString());
            }))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining(manifest(1).toString());
    assertThat(Files.isSymbolicLink(manifest(1))).isTrue();
  }

  private RepairReport repairRestoringPrevious() {
    return DatasetRepair.of(directory.toString())
        .restoringPrevious()
        .run(finding -> {}, plan -> true);
  }

  @Test
  void tagsThatARepairGivesUpAreGivenAgain() throws IOException {
    table.tag(0, "older");
    table.tag(1, "release");
    Files.writeString(manifest(3), "damaged");
    assertThat(table.storage().list("tag")).hasSize(2);
    // Copies of nothing that this table has.
    Files.writeString(tagFile(), "damaged");
    Files.write(tagFile(), sealed("{\"version\":0"));
    RepairReport report = repairRestoringPrevious();
    assertThat(report.isDone()).isTrue();
    assertThat(report.plan().actions())
        .filteredOn(text -> text.contains("tag version 1 as 'recovered-1'"))
        .hasSize(1);
    assertThat(table.tags()).extracting(Tag::name).containsExactly("older", "recovered-1");
    assertThat(table.tagged("older").version()).isZero();
    assertThat(table.tagged("recovered-1").version()).isOne();
    assertThat(table.storage().list("tag")).hasSize(4);
  }

  /** The expiry was given up with the tag, and has deleted the manifest of the tagged version. */
  @Test
  void aTagWhoseManifestIsGoneIsGivenAgainIfItsVersionIsGivenUp() throws IOException {
    append(table);
    table.tag(0, "kept");
    RecordTable later = LaterTable.of(table.storage());
    assertThat(later.expire(ExpireOptions.defaults()).expired()).containsExactly(1L);
    Files.writeString(manifest(4), "damaged");
    Files.writeString(manifest(3), "damaged");
    UUID last = new ManifestLog(table.storage()).read(2).commitId();
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    assertThat(table.versions()).containsExactly(0L, 2L, 3L);
    assertThat(table.tagged("recovered-0").length()).isEqualTo(3);
    Files.delete(aside(4, last));
    Files.delete(aside(3, last));
    LaterTable.of(table.storage())
        .sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
    assertThat(table.tagged("recovered-0").length()).isEqualTo(3);
    assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
        .isTrue();
  }

  private Path aside(int version, UUID restored) {
    return Path.of(manifest(version) + ".damaged-" + restored);
  }

  /** Otherwise nothing could ever be expired or swept again. */
  @ParameterizedTest
  @ValueSource(strings = {"missing", "damaged", "another"})
  void aGapIsLeftBelowTheFloorByARepair(String damage) throws IOException {
    append(table);
    table.tag(0, "kept");
    switch (damage) {
      case "missing" -> Files.delete(manifest(1));
      case "damaged" -> Files.writeString(manifest(1), "damaged");
      default ->
        rewrite(
            1, "\"commit\":\"", "\"commit\":\"00000000-0000-0000-0000-000000000000\",\"was\":\"");
    }
    RecordTable later = LaterTable.of(table.storage());
    RepairReport asked = DatasetRepair.of(directory.toString()).run(finding -> {}, plan -> true);
    assertThat(asked.isDone()).isFalse();
    assertThat(asked.plan().remaining())
        .anyMatch(text ->
            text.contains("version 1 is damaged or missing") && text.contains("versions 0 to 1"));
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    assertThat(table.versions()).containsExactly(0L, 2L, 3L, 4L);
    assertThat(table.latest().operation()).isEqualTo("repair");
    assertThat(table.latest().length()).isEqualTo(5);
    later.expire(ExpireOptions.defaults());
    later.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
    assertThat(table.tagged("kept").length()).isEqualTo(3);
    assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
        .isTrue();
    assertThat(repairRestoringPrevious().plan().actions())
        .as("nothing is left to do")
        .isEmpty();
  }

  @Test
  void aRepairFailsIfAVersionIsCommittedMeanwhile() throws IOException {
    append(table);
    Files.delete(manifest(1));
    assertThatThrownBy(() -> DatasetRepair.of(directory.toString())
            .restoringPrevious()
            .run(finding -> {}, plan -> {
              append(table);
              return true;
            }))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("version 3 was committed");
    assertThat(table.latest().operation()).isEqualTo("append");
  }

  @Test
  void anExpiryEndsIfItsFloorIsGivenUpMeanwhile() throws IOException {
    append(table);
    ManifestLog log = new ManifestLog(table.storage());
    Manifest planned = log.newest().orElseThrow();
    ExpireCommit expiry =
        new ExpireCommit(directory.toString(), log, planned, 2, planned.commitId());
    Files.writeString(manifest(2), "damaged");
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    append(table);
    append(table);
    assertThatThrownBy(() -> new Committer(table.storage(), log).commit(expiry))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("a repair gave version 2 up");
    assertThat(table.versions()).hasSize(5);
  }

  @Test
  void anExpiryDeletesNothingAboveAFloorThatARepairHasLowered() {
    append(table);
    new ExpiredManifests(table.storage(), new ManifestLog(table.storage())).deleteBelow(2);
    assertThat(table.versions()).containsExactly(0L, 1L, 2L);
  }

  @Test
  void aRepairIsAVersionOfTheRecordsThatItGoesBackTo() throws IOException {
    TableSnapshot first = table.version(0);
    Files.writeString(manifest(1), "damaged");
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    TableSnapshot repaired = table.latest();
    assertThat(repaired.version()).isOne();
    assertThat(repaired.operation()).isEqualTo("repair");
    assertThat(repaired.shards()).isEqualTo(first.shards());
    assertThat(repaired.recordsVersion()).isZero();
    assertThat(repaired.recordsCommitId()).isEqualTo(first.recordsCommitId());
    assertThat(table.versions()).containsExactly(0L, 1L);
  }

  /** Of the same number, and another one. */
  @Test
  void whatWasPlannedOnAVersionThatWasGivenUpIsNotCommitted() throws IOException {
    TableSnapshot planned = table.latest();
    TableChange overwrite = TableChange.of(TableChange.Kind.OVERWRITE, Shards.SCHEMA)
        .base(planned)
        .shards(List.of(Shards.write(table.storage(), Shards.SCHEMA, 5)))
        .build();
    TableChange relayout = TableChange.relayout(
        planned,
        List.of(Shards.write(table.storage(), Shards.SCHEMA, 4, 3, 2, 1)),
        Shards.write(table.storage(), IndexMap.SCHEMA, 3, 2, 1, 0),
        Map.of());
    TableChange append = appendToLatest();
    Files.write(manifest(1), new byte[0]);
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    List<TableChange> changes = List.of(overwrite, relayout, append, append.expecting(1));
    for (TableChange change : changes) {
      assertThatThrownBy(() -> table.commit(change))
          .isInstanceOf(CommitConflictException.class)
          .hasMessageContaining("a repair gave up");
    }
    ShardSummary other = Shards.write(table.storage(), Shards.SCHEMA, 6);
    assertThat(table.commit(Shards.append(OptionalLong.of(0), other)).version()).isEqualTo(2);
    for (TableChange change : changes) {
      assertThatThrownBy(() -> table.commit(change)).isInstanceOf(CommitConflictException.class);
    }
    assertThat(table.latest().shards()).contains(other);
  }

  private TableChange appendToLatest() {
    return TableChange.of(TableChange.Kind.APPEND, Shards.SCHEMA)
        .base(table.latest())
        .shards(List.of(Shards.write(table.storage(), Shards.SCHEMA, 7)))
        .build();
  }

  @Test
  void anAppendPlannedOnANumberThatARepairHasNotReachedIsNotCommitted() throws IOException {
    append(table);
    TableChange append = appendToLatest();
    Files.writeString(manifest(1), "damaged");
    Files.writeString(manifest(2), "damaged");
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    assertThat(table.latest().version()).isOne();
    assertThatThrownBy(() -> table.commit(append))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("a repair gave up");
  }

  /** It lost its number first, and then the versions that it had looked at were given up. */
  @Test
  void anAppendWhoseBaseIsGivenUpBetweenItsAttemptsIsNotCommitted() {
    TableChange append = appendToLatest();
    Storage interrupted = new ForwardingStorage(table.storage()) {
      private int attempts;

      @Override
      public byte[] read(String name, int maxBytes) {
        // Each attempt begins with the hint.
        if (name.equals("manifest/latest") && ++attempts == 2) {
          table.storage().delete("manifest/00000000000000000001.json");
          table.storage().publish("manifest/00000000000000000001.json", new byte[1]);
          table.storage().delete("manifest/00000000000000000002.json");
          assertThat(repairRestoringPrevious().isDone()).isTrue();
        }
        return super.read(name, maxBytes);
      }

      @Override
      public boolean publish(String name, byte[] content) {
        if (attempts == 1) {
          append(table);
        }
        return super.publish(name, content);
      }
    };
    assertThatThrownBy(() -> RecordTable.at(interrupted).commit(append))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("a repair gave up");
    assertThat(table.latest().operation()).isEqualTo("repair");
  }
}
