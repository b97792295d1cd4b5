package io.zrecord.internal.shard.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardUse;
import io.zrecord.read.ReadMetrics;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.UnmappedStorage;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WindowTableTest {
  private static final int RECORDS = 1000;

  @TempDir
  Path directory;

  private ShardSummary write() {
    RecordSchema schema = RecordSchema.builder().field("v", ElementType.I64).build();
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        directory.toString(), schema, WriteOptions.defaults().withDurability(Durability.NONE))) {
      RecordAppender records = writer.newAppender();
      for (long i = 0; i < RECORDS; i++) {
        records.set("v", i).endRecord();
      }
      return writer.commit().shards().get(0);
    }
  }

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  private static long heldBytes(Storage storage, ShardSummary summary) {
    WindowTable table = new WindowTable();
    ReadMetrics metrics = new ReadMetrics();
    try (ShardUse use = OpenShards.shared().use()) {
      OpenShard shard = use.get(storage, summary);
      int first = table.add(shard, 0, metrics);
      table.prepare(first, shard.chunk(0, metrics).windows(), 0, 8, 0, metrics);
      table.prepare(first, shard.chunk(0, metrics).windows(), 8, 8, 0, metrics);
    }
    return table.heldBytes();
  }

  /** The shard may be closed, and then only the reader holds them. */
  @Test
  void windowsOfSmallFilesCountIfTheyTakeMemory() {
    ShardSummary shard = write();
    Storage local = LocalStorage.at(directory);
    assertThat(heldBytes(new UnmappedStorage(local, 1 << 20), shard))
        .isBetween(8L * RECORDS, 9L * RECORDS + 100);
    assertThat(heldBytes(RecordTable.at(local).storage(), shard)).isZero();
  }
}
