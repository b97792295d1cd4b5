package io.zrecord.internal.store.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.findings.Finding;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairReport;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tables made of stores are sound, though their chunk files have room after what was published, or
 * go on growing.
 */
final class SnapshotCheckTest {
  @TempDir
  Path directory;

  private static void requireNothingFound(Path table) {
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(table.toString()).run(findings::add).isSound()).isTrue();
    assertThat(findings).isEmpty();
    RepairReport report = DatasetRepair.of(table.toString()).run(finding -> {}, plan -> true);
    assertThat(report.plan().actions()).isEmpty();
    assertThat(report.plan().remaining()).isEmpty();
  }

  /** Returns the bytes that the chunk files of the only shard have after what was published. */
  private static long spareBytes(Path table, TableSnapshot snapshot) throws IOException {
    ShardSummary shard = snapshot.shards().get(0);
    long spare = 0;
    for (ChunkFile chunk : shard.chunks()) {
      Path file = table.resolve(shard.directory()).resolve(chunk.fileName());
      spare += Files.size(file) - chunk.bytes();
    }
    return spare;
  }

  private static Path store(Path path) {
    try (RecordStore store =
        RecordStore.create(path, SampleStore.SCHEMA, StoreOptions.defaults())) {
      append(store);
    }
    return path;
  }

  private static void append(RecordStore store) {
    for (int i = 0; i < 100; i++) {
      store.append(store.newValues().set("text", "text " + i).set("label", i));
    }
    store.commit();
  }

  @Test
  void aSnapshot() throws IOException {
    Path table = directory.resolve("table");
    TableSnapshot made = StoreSnapshot.create(store(directory.resolve("store")), table);
    assertThat(spareBytes(table, made)).as("control").isPositive();
    requireNothingFound(table);
  }

  @Test
  void aSnapshotBesideAWriterThatGoesOn() throws IOException {
    Path path = store(directory.resolve("store"));
    Path table = directory.resolve("table");
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      TableSnapshot made = StoreSnapshot.create(path, table);
      append(store);
      assertThat(spareBytes(table, made)).as("control").isPositive();
      requireNothingFound(table);
    }
  }

  @Test
  void aConvertedStore() throws IOException {
    Path table = store(directory.resolve("store"));
    TableSnapshot made = StoreSnapshot.convert(table);
    assertThat(spareBytes(table, made)).as("control").isPositive();
    requireNothingFound(table);
    ShardSummary shard = made.shards().get(0);
    String chunk = shard.chunks().get(0).fileName();
    Damage.cut(table.resolve(shard.directory()).resolve(chunk), 100);
    assertThat(DatasetCheck.of(table.toString()).run(finding -> {}).isSound())
        .as("control")
        .isFalse();
  }
}
