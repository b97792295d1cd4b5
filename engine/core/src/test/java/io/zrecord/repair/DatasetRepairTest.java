package io.zrecord.repair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** After a repair the check finds nothing, and what was not damaged is as it was. */
final class DatasetRepairTest {
  @TempDir
  Path directory;

  private static void requireSound(Path path) {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(findings::add);
    assertThat(findings).allMatch(finding -> !finding.kind().isDamage());
  }

  private static RepairReport repair(DatasetRepair repair) {
    RepairReport report = repair.run(finding -> {}, plan -> true);
    assertThat(report.isDone()).isTrue();
    return report;
  }

  @Test
  void versionsThatAreGoneAreGivenUpOnRequest() throws IOException {
    Path path = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder().field("label", ElementType.I32).build();
    for (int version = 0; version < 3; version++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(path.toString(), schema, WriteOptions.defaults())) {
        writer.newAppender().set("label", version).endRecord();
        writer.commit();
      }
    }
    Files.delete(path.resolve("manifest/00000000000000000002.json"));
    assertThatThrownBy(() -> RecordDataset.open(path.toString()))
        .isInstanceOf(CorruptDataException.class);
    RepairReport kept = DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true);
    assertThat(kept.isDone()).isFalse();
    assertThat(kept.plan().remaining().get(0)).contains("version 2 was published");
    RepairReport report = repair(DatasetRepair.of(path.toString()).restoringPrevious());
    assertThat(report.plan().actions()).hasSize(2);
    requireSound(path);
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isEqualTo(2);
      assertThat(dataset.version()).hasValue(2);
    }
  }

  @Test
  void damagedManifestsAreMovedAside() throws IOException {
    Path path = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder().field("label", ElementType.I32).build();
    for (int version = 0; version < 4; version++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(path.toString(), schema, WriteOptions.defaults())) {
        RecordAppender records = writer.newAppender();
        records.set("label", version).endRecord();
        writer.commit();
      }
    }
    Path manifests = path.resolve("manifest");
    Damage.flip(manifests.resolve("00000000000000000003.json"), 9);
    Damage.cut(manifests.resolve("00000000000000000002.json"), 20);
    UUID second = new ManifestLog(LocalStorage.at(path)).read(1).commitId();
    String aside = "00000000000000000003.json.damaged-" + second;
    Files.write(manifests.resolve(aside), new byte[1]);
    RepairReport kept = DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true);
    assertThat(kept.isDone()).isFalse();
    assertThat(kept.plan().remaining().get(0)).contains("go back to version 1");
    RepairReport report = repair(DatasetRepair.of(path.toString()).restoringPrevious());
    assertThat(report.plan().actions()).hasSize(3).allMatch(text -> text.contains("version 1"));
    assertThat(manifests.resolve(aside + "-2")).exists();
    assertThat(manifests.resolve("00000000000000000002.json.damaged-" + second)).exists();
    requireSound(path);
    // A version of its own, with the records of version 1.
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isEqualTo(2);
      assertThat(dataset.version()).hasValue(2);
    }
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set("label", 9).endRecord();
      assertThat(writer.commit().version()).isEqualTo(3);
    }
  }

  @Test
  void anOlderDamagedManifestIsLeftAsItIsUnlessVersionsMayBeGivenUp() {
    Path path = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder().field("label", ElementType.I32).build();
    for (int version = 0; version < 2; version++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(path.toString(), schema, WriteOptions.defaults())) {
        writer.newAppender().set("label", version).endRecord();
        writer.commit();
      }
    }
    Damage.flip(path.resolve("manifest/00000000000000000000.json"), 9);
    RepairReport report = DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true);
    assertThat(report.isDone()).isFalse();
    assertThat(report.plan().remaining())
        .hasSize(1)
        .allMatch(text -> text.contains("version 0 is damaged or missing"));
    assertThat(
            repair(DatasetRepair.of(path.toString()).restoringPrevious()).plan().actions())
        .hasSize(1)
        .allMatch(text -> text.contains("gives version 0 up"));
    assertThat(RecordTable.at(LocalStorage.at(path)).versions()).containsExactly(1L, 2L);
    requireSound(path);
  }

  @Test
  void aShardIsNotRepairedWithoutItsTable() throws IOException {
    Path path = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder().field("text", ElementType.UTF8).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set("text", "a").endRecord();
      writer.commit();
    }
    try (Stream<Path> shards = Files.list(path.resolve("shard"))) {
      DatasetRepair repair = DatasetRepair.of(shards.findFirst().orElseThrow().toString());
      assertThatThrownBy(() -> repair.run(finding -> {}, plan -> true))
          .isInstanceOf(NotADatasetException.class)
          .hasMessageContaining("Open the table");
    }
  }

  @Test
  void aShardIsNeverChanged() throws IOException {
    Path path = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder().field("text", ElementType.UTF8).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set("text", "a").endRecord();
      writer.commit();
    }
    Path shard;
    try (Stream<Path> shards = Files.list(path.resolve("shard"))) {
      shard = shards.findFirst().orElseThrow();
    }
    ShardOnDisk files = ShardOnDisk.of(shard);
    Damage.flip(files.tables(), files.checksumAt(1, 0));
    RepairReport report = DatasetRepair.of(path.toString())
        .damagedValues(DamagedValues.MARK_ABSENT)
        .run(finding -> {}, plan -> true);
    assertThat(report.isDone()).isFalse();
    assertThat(report.plan().remaining().get(0)).contains("never changed");
  }
}
