package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.DatasetKind;
import io.zrecord.Datasets;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordSource;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.DatasetSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A directory {@code manifest} without a version beside an intact store or shard changes nothing.
 */
class EmptyManifestTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("number", ElementType.I64).build();
  private static final int RECORDS = 10;
  private static final StoreOptions OPTIONS = StoreOptions.defaults();

  @TempDir
  Path directory;

  /** Makes a store with a manifest directory that is empty, or has a file that is no version. */
  private Path store(String content) throws IOException {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, SCHEMA, OPTIONS)) {
      for (long i = 0; i < RECORDS; i++) {
        store.append(store.newValues().set("number", i));
      }
    }
    addManifestDirectory(path, content);
    return path;
  }

  private static void addManifestDirectory(Path path, String content) throws IOException {
    Path manifests = Files.createDirectory(path.resolve("manifest"));
    if (!content.isEmpty()) {
      Files.writeString(manifests.resolve(content), "{}");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".nfs0001", "1.json", "00000000000000000001.json.tmp"})
  void everyWayOfOpeningAStoreFindsTheStore(String content) throws IOException {
    Path path = store(content);
    assertThat(DatasetKind.of(path.toString())).isEqualTo(DatasetKind.STORE);
    assertThat(RecordStore.exists(path)).isTrue();
    assertThat(RecordTable.at(LocalStorage.at(path)).exists()).isFalse();
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      assertThat(store.length()).isEqualTo(RECORDS);
    }
    try (StoreReader reader = StoreReader.open(path)) {
      assertThat(reader.length()).isEqualTo(RECORDS);
    }
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isEqualTo(RECORDS);
    }
    try (RecordSource dataset = Datasets.open(path.toString(), OptionalLong.empty())) {
      assertThat(dataset.length()).isEqualTo(RECORDS);
    }
    DatasetSummary summary = DatasetSummary.of(path.toString());
    assertThat(summary.kind()).isEqualTo(DatasetKind.STORE);
    assertThat(summary.length()).isEqualTo(RECORDS);
    assertThat(DatasetInspection.of(path.toString()).shardCount()).isEqualTo(1);
    assertThat(DatasetCheck.of(path.toString()).run(finding -> {}).isSound()).isTrue();
    assertThat(
            DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true).isDone())
        .isFalse();
    assertThat(StoreSnapshot.create(path, directory.resolve("copy")).length()).isEqualTo(RECORDS);
    StoreRebalance.of(path, StoreRebalanceOptions.defaults()).run();
    try (StoreReader reader = StoreReader.open(path)) {
      assertThat(reader.length()).isEqualTo(RECORDS);
    }
  }

  @Test
  void aStoreBecomesATableInThatDirectory() throws IOException {
    Path path = store("");
    assertThat(StoreSnapshot.convert(path).length()).isEqualTo(RECORDS);
    assertThat(DatasetKind.of(path.toString())).isEqualTo(DatasetKind.TABLE);
  }

  @Test
  void aShardOfATableIsNoDataset() throws IOException {
    Path table = directory.resolve("table");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table.toString(), SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("number", 5L).endRecord();
      writer.commit();
    }
    Path shard;
    try (var shards = Files.list(table.resolve("shard"))) {
      shard = shards.findFirst().orElseThrow();
    }
    addManifestDirectory(shard, "");
    assertThatThrownBy(() -> RecordDataset.open(shard.toString()).close())
        .isInstanceOf(NotADatasetException.class);
  }

  @Test
  void byItselfItIsNoDataset() throws IOException {
    Path path = Files.createDirectory(directory.resolve("empty"));
    addManifestDirectory(path, "");
    assertThatThrownBy(() -> RecordDataset.open(path.toString()))
        .isInstanceOf(NotADatasetException.class);
    assertThatThrownBy(() -> StoreReader.open(path)).isInstanceOf(ZRecordException.class);
    assertThat(RecordTable.at(LocalStorage.at(path)).exists()).isFalse();
    assertThat(RecordStore.exists(path)).isFalse();
  }
}
