package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.FileErrors;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.testing.JavaProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stores and tables of thousands of chunks are written and read by a process that may have 256
 * files open. That it may not have more is shown first, by opening 300.
 */
@EnabledOnOs(OS.LINUX)
class DescriptorLimitTest {
  private static final int LIMIT = 256;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @Test
  void aStoreOfThousandsOfChunks() throws Exception {
    run("store");
  }

  @Test
  void aStoreWhoseGroupClosesHundredsOfChunks() throws Exception {
    run("group");
  }

  @Test
  void aStoreThatIsRefusedManyTimes() throws Exception {
    run("refused");
  }

  @Test
  void aStoreOfTooManyFieldsLeavesNothing() throws Exception {
    run("wide");
  }

  @Test
  void aTableOfThousandsOfChunks() throws Exception {
    run("table");
  }

  private void run(String what) throws Exception {
    JavaProcess.Result result = JavaProcess.of(Limited.class)
        .option("-Xmx256m")
        .after("ulimit -n " + LIMIT)
        .run(
            what,
            directory.resolve("data").toString(),
            directory.resolve("probe").toString());
    System.out.print(result.output());
    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(result.output()).contains("control: no more than");
  }

  /** The process. */
  static final class Limited {
    private static final RecordSchema SCHEMA =
        RecordSchema.builder().field("value", ElementType.BYTES).build();
    private static final int VALUE_BYTES = 1 << 11;
    private static final int RECORDS = 5_000;
    private static final int GATHERS = 300;
    private static final int BATCH = 16;

    private Limited() {}

    /** What is read. */
    private interface Gather {
      Batch gather(long... indices);
    }

    public static void main(String[] arguments) throws IOException {
      requireLimit(Path.of(arguments[2]));
      Path path = Path.of(arguments[1]);
      switch (arguments[0]) {
        case "store" -> store(path, 64);
        case "group" -> store(path, RECORDS);
        case "refused" -> refused(path);
        case "wide" -> wide(path);
        default -> table(path);
      }
    }

    private static void requireLimit(Path file) throws IOException {
      Files.createFile(file);
      List<FileChannel> open = new ArrayList<>();
      try {
        while (open.size() < 300) {
          open.add(FileChannel.open(file));
        }
      } catch (FileSystemException e) {
        System.out.printf("control: no more than %d files, %s%n", open.size(), e.getReason());
        return;
      } finally {
        for (FileChannel channel : open) {
          channel.close();
        }
      }
      throw new AssertionError("300 files could be opened");
    }

    private static byte[] value(long index) {
      byte[] value = new byte[VALUE_BYTES];
      new SplittableRandom(index).nextBytes(value);
      return value;
    }

    /** Stores records in chunks of two values: a chunk is closed when it has 4 KiB. */
    private static void store(Path path, int groupRecords) throws IOException {
      StoreOptions options = StoreOptions.defaults().withChunkBytes(4 << 10);
      try (RecordStore store = RecordStore.create(path, SCHEMA, options)) {
        RecordValues values = store.newValues();
        for (int i = 0; i < RECORDS; i++) {
          store.append(values.set("value", value(i)));
          if (i % groupRecords == groupRecords - 1) {
            store.commit();
          }
        }
        store.commit();
        read(store::gather);
      }
      try (RecordStore store = RecordStore.open(path, options)) {
        assertThat(store.length()).isEqualTo(RECORDS);
        read(store::gather);
      }
      report("store", path);
    }

    private static void refused(Path path) throws IOException {
      RecordStore.create(path, SCHEMA, StoreOptions.defaults()).close();
      Files.write(path.resolve("journal"), new byte[8]);
      for (int attempt = 0; attempt < 2 * LIMIT; attempt++) {
        try {
          RecordStore.open(path, StoreOptions.defaults()).close();
          throw new AssertionError("a damaged store was opened");
        } catch (CorruptDataException e) {
          // As it must be.
        }
      }
      report("refused", path);
    }

    private static void wide(Path path) throws IOException {
      loadWhatAFailureNeeds(path.resolveSibling("other"));
      RecordSchema.Builder fields = RecordSchema.builder();
      for (int i = 0; i < LIMIT; i++) {
        fields.field("f" + i, ElementType.I32);
      }
      RecordSchema schema = fields.build();
      for (int attempt = 0; attempt < 3; attempt++) {
        try {
          RecordStore.create(path, schema, StoreOptions.defaults()).close();
          throw new AssertionError("a store of " + LIMIT + " fields was created");
        } catch (FileUnavailableException e) {
          assertThat(e).hasMessageContaining("ulimit -n").hasMessageContaining("need about 576");
        }
        try (Stream<Path> left = Files.list(path)) {
          assertThat(left)
              .extracting(file -> file.getFileName().toString())
              .containsExactly("lock");
        }
      }
      RecordStore.create(path, SCHEMA, StoreOptions.defaults()).close();
      report("wide", path);
    }

    /** Lets a creation fail once. No class can be loaded from a directory without descriptors. */
    private static void loadWhatAFailureNeeds(Path path) {
      LocalMutableFiles files = new LocalMutableFiles(path);
      files.createRoot();
      MutableFiles failing = new ForwardingFiles(files) {
        @Override
        public MutableFile create(String name) {
          if (name.equals("journal")) {
            throw FileErrors.of("create", path, new IOException("Too many open files"));
          }
          return super.create(name);
        }
      };
      try {
        RecordStore.create(failing, SCHEMA, StoreOptions.defaults(), () -> {});
        throw new AssertionError("a store without a journal was created");
      } catch (FileUnavailableException e) {
        // As it must be.
      }
    }

    private static void table(Path path) throws IOException {
      WriteOptions options = WriteOptions.defaults()
          .withChunkBytes(4096)
          .withStripeBytes(1 << 16)
          .withDurability(Durability.NONE);
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.create(path.toString(), SCHEMA, options)) {
        for (int shard = 0; shard < 4; shard++) {
          RecordAppender appender = writer.newAppender();
          for (int i = 0; i < RECORDS / 4; i++) {
            appender.set("value", value(shard * (RECORDS / 4) + i)).endRecord();
          }
        }
        writer.commit();
      }
      for (int opening = 0; opening < 2; opening++) {
        try (RecordDataset dataset = RecordDataset.open(path.toString())) {
          assertThat(dataset.length()).isEqualTo(RECORDS);
          read(dataset::gather);
        }
      }
      report("table", path);
    }

    /** Reads records at random, then each record once. */
    private static void read(Gather records) {
      Random random = Budget.random();
      List<Batch> held = new ArrayList<>();
      for (int gather = 0; gather < GATHERS; gather++) {
        long[] indices = random.longs(BATCH, 0, RECORDS).toArray();
        held.add(require(records.gather(indices), indices));
      }
      for (long index = 0; index < RECORDS; index++) {
        require(records.gather(index), index).close();
      }
      held.forEach(Batch::close);
    }

    private static Batch require(Batch batch, long... indices) {
      for (int i = 0; i < indices.length; i++) {
        if (!batch.value("value", i).equals(ByteBuffer.wrap(value(indices[i])))) {
          throw new AssertionError("another value at " + indices[i]);
        }
      }
      return batch;
    }

    private static void report(String what, Path path) throws IOException {
      try (Stream<Path> files = Files.walk(path);
          Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
        System.out.printf(
            "%s: %d records in %d chunks, %d descriptors in use at the end%n",
            what,
            RECORDS,
            files.filter(file -> file.toString().endsWith(".zr")).count(),
            descriptors.count());
      }
    }
  }
}
