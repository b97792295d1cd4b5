package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.IndexSet;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.ForwardingStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counts what a storage far away is asked for until the first value of a table is there. */
final class RequestsTest {
  private static final int FIELDS = 27;
  private static final int RECORDS = 100_000;

  @TempDir
  Path directory;

  /** Counts requests, in windows as a storage far away has them. */
  private static final class Counting extends ForwardingStorage {
    private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    private final Thread caller = Thread.currentThread();
    /** Requests of the caller, each of which waits for the one before. */
    private int rounds;

    Counting(Storage storage) {
      super(storage);
    }

    private void request(String request) {
      requests.add(request);
      if (Thread.currentThread() == caller) {
        rounds++;
      }
    }

    @Override
    public boolean isRemote() {
      return true;
    }

    @Override
    public int requestsAtOnce() {
      return 64;
    }

    @Override
    public boolean exists(String name) {
      request("exists " + name);
      return super.exists(name);
    }

    @Override
    public long lengthBytes(String name) {
      request("length " + name);
      return super.lengthBytes(name);
    }

    @Override
    public List<StoredFile> list(String name) {
      request("list " + name);
      return super.list(name);
    }

    @Override
    public byte[] read(String name, int maxBytes) {
      request("read " + name);
      return super.read(name, maxBytes);
    }

    @Override
    public ReadableFile open(String name) {
      // Opened with the length that the manifest says, without a request.
      ReadableFile file = super.open(name);
      return new ReadableFile() {
        @Override
        public String path() {
          return file.path();
        }

        @Override
        public long lengthBytes() {
          return file.lengthBytes();
        }

        @Override
        public ByteBuffer region(long position, int lengthBytes) {
          request("region " + name + " from " + position);
          return file.region(position, lengthBytes);
        }

        @Override
        public int preferredRegionBytes() {
          return 1 << 22;
        }

        @Override
        public boolean isMapped() {
          return false;
        }

        @Override
        public void close() {
          file.close();
        }
      };
    }
  }

  @BeforeEach
  void write() {
    RecordSchema.Builder schema = RecordSchema.builder().field("text", ElementType.UTF8);
    for (int f = 1; f < FIELDS; f++) {
      schema.field("number " + f, ElementType.I64);
    }
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory.toString(), schema.build(), options)) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        records.set("text", "text " + i);
        for (int f = 1; f < FIELDS; f++) {
          records.set("number " + f, (long) f * i);
        }
        records.endRecord();
      }
      writer.commit();
    }
    // A version that others follow has one before, which is looked at too.
    RecordTable.at(LocalStorage.at(directory)).tag(0, "first");
    OpenShards.shared().clear();
  }

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  private void requireFew(String field, long index, Object expected) {
    Counting storage = new Counting(LocalStorage.at(directory));
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults());
        Batch batch = dataset.gather(new long[] {index}, field)) {
      assertThat(
              field.equals("text")
                  ? new String(batch.bytes(field, 0), java.nio.charset.StandardCharsets.UTF_8)
                  : (Object) batch.value(field, 0).getLong(0))
          .isEqualTo(expected);
      // The hint, the version and the next, the version before, tables, values.
      assertThat(storage.rounds).as("%s: %s", field, storage.requests).isLessThanOrEqualTo(5);
      assertThat(storage.requests).as(field).hasSizeLessThanOrEqualTo(6);
      storage.requests.clear();
      dataset.gather(new long[] {index + 1}, field).close();
      assertThat(storage.requests).as("the next value").hasSizeLessThanOrEqualTo(1);
    }
  }

  @Test
  void theFirstValueTakesFewRequests() {
    requireFew("number 7", 99_000, 7L * 99_000);
    OpenShards.shared().clear();
    requireFew("text", 50_000, "text 50000");
  }

  @Test
  void aTableIsPlannedInFewRounds() {
    RecordTable local = RecordTable.at(LocalStorage.at(directory));
    ShardSummary shard = local.latest().shards().get(0);
    for (int lists = 0; lists < 3; lists++) {
      local.commit(TableChange.of(TableChange.Kind.APPEND, local.latest().schema())
          .shards(Collections.nCopies(1000, shard))
          .build());
    }
    Counting storage = new Counting(LocalStorage.at(directory));
    TableSnapshot snapshot = RecordTable.at(storage).latest();
    snapshot.loadShards(IndexSet.range(0, snapshot.length()));
    assertThat(snapshot.shards()).hasSize(3001).doesNotContainNull();
    // The hint, the version and the next, the version before, lists.
    assertThat(storage.rounds).as("%s", storage.requests).isLessThanOrEqualTo(4);
  }

  @Test
  void aShardOfManyFieldsHasFewFiles() throws IOException {
    ShardSummary shard =
        RecordTable.at(LocalStorage.at(directory)).latest().shards().get(0);
    try (Stream<Path> files = Files.list(directory.resolve(shard.directory()))) {
      assertThat(files).hasSize(1 + shard.chunkCount());
    }
    assertThat(shard.chunkCount()).isOne();
  }
}
