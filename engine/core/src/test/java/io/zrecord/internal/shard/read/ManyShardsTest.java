package io.zrecord.internal.shard.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.UnmappedStorage;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers of tables of very many shards take memory for the records asked for. */
final class ManyShardsTest {
  private static final int SHARDS = 1_000_000;
  private static final int RECORDS = 100;

  @TempDir
  Path directory;

  /** Makes a list in which one shard stands for all. */
  private ShardList shards(Storage storage) {
    RecordSchema schema = RecordSchema.builder().field("v", ElementType.I32).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory.toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        records.set("v", i).endRecord();
      }
      writer.commit();
    }
    TableSnapshot table = RecordTable.at(storage).latest();
    OpenShard shard = OpenShards.unshared(storage, table.shards().get(0));
    return new ShardList(
        new ShardList.Bounds() {
          @Override
          public int count() {
            return SHARDS;
          }

          @Override
          public long length() {
            return (long) SHARDS * RECORDS;
          }

          @Override
          public long firstIndex(int ordinal) {
            return (long) ordinal * RECORDS;
          }

          @Override
          public int shardOf(long index) {
            return (int) (index / RECORDS);
          }
        },
        ordinal -> shard);
  }

  private static ShardedFieldReader gathered(ShardList shards, long... indices) {
    FieldSpec field =
        RecordSchema.builder().field("v", ElementType.I32).build().fields().get(0);
    ShardedFieldReader reader =
        new ShardedFieldReader(field, shards, Verification.FIRST, new ReadMetrics());
    reader.select(indices, 0, indices.length);
    for (int i = 0; i < indices.length; i++) {
      ByteBuffer value = ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN);
      assertThat(value.getInt()).isEqualTo((int) (indices[i] % RECORDS));
    }
    return reader;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aGatherTakesMemoryForItsRecordsAndNotForShards(boolean isRemote) {
    Storage local = LocalStorage.at(directory);
    ShardList shards = shards(isRemote ? new UnmappedStorage(local, 1 << 20) : local);
    long[] indices = {5, 99_999_999, 50_000_001, 5};
    gathered(shards, indices);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    gathered(shards, indices);
    // Much of it is for the assertions. A byte a shard would be four times as much.
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(SHARDS / 4);
  }

  @Test
  void readersNeedNoMemoryOutsideOfTheHeap() {
    ShardList shards = shards(LocalStorage.at(directory));
    gathered(shards, 1);
    BufferPoolMXBean direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .findFirst()
        .orElseThrow();
    long before = direct.getCount();
    List<ShardedFieldReader> readers = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      readers.add(gathered(shards, 1, 99));
    }
    assertThat(direct.getCount() - before).isLessThan(readers.size());
  }

  @Test
  void partsAreFoundWhateverTheirNumbers() {
    ShardList shards = shards(LocalStorage.at(directory));
    long[] indices = new long[20_000];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = (i % 2 == 0 ? i * 50L : 99_999_999L - i * 4096L) % (SHARDS * (long) RECORDS);
    }
    ShardedFieldReader reader = gathered(shards, indices);
    // More parts than a reader keeps.
    reader.select(indices, 0, indices.length);
    assertThat(reader.count()).isEqualTo(indices.length);
  }
}
