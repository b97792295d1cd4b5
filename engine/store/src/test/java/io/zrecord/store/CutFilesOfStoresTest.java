package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordSource;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Budget;
import io.zrecord.verify.Damage;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a store are cut while readers have them mapped: each failure is a typed exception. */
final class CutFilesOfStoresTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8)
      .field("zipped", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.LZ4))
      .field("row", ElementType.F32, Shape.of(700), Compression.RAW)
      .build();
  private static final int LENGTH = 6_000;
  private static final int CUTS = Budget.of(20);

  @TempDir
  Path directory;

  private final Random random = Budget.random();

  private static StoreOptions options(Verification verification) {
    return StoreOptions.defaults()
        .withDurability(StoreDurability.NONE)
        .withChunkBytes(1 << 21)
        .withReaders(2)
        .withVerification(verification);
  }

  @Test
  void aFileThatIsCutUnderAReaderIsATypedException() throws IOException {
    int refused = 0;
    for (Verification verification : Verification.values()) {
      Path path = directory.resolve("store-" + verification);
      write(path, options(verification));
      for (Path file : files(path)) {
        byte[] content = Files.readAllBytes(file);
        for (int cut = 0; cut < CUTS; cut++) {
          try (StoreReader reader = StoreReader.open(path, verification)) {
            gather(reader);
            try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
              opened.setLength(random.nextInt(content.length));
              for (int i = 0; i < 10; i++) {
                refused += isRefused(reader, file) ? 1 : 0;
              }
            }
            Files.write(file, content);
          }
        }
      }
    }
    assertThat(refused).isPositive();
  }

  @Test
  void aFileThatIsCutUnderItsWriterIsATypedException() throws IOException {
    int refused = 0;
    Path path = directory.resolve("written");
    write(path, options(Verification.FIRST));
    for (Path file : files(path)) {
      byte[] content = Files.readAllBytes(file);
      for (int cut = 0; cut < CUTS; cut++) {
        Path copy = Damage.copy(path, directory.resolve(file.getFileName() + "-" + cut));
        RecordStore store = RecordStore.open(copy, options(Verification.FIRST));
        try (RandomAccessFile opened =
            new RandomAccessFile(copy.resolve(path.relativize(file)).toFile(), "rw")) {
          opened.setLength(random.nextInt(content.length));
        }
        for (int i = 0; i < 10; i++) {
          long index = random.nextInt((int) store.pendingLength());
          refused += isRefused(store, file) ? 1 : 0;
          refused += isRefused(() -> store.update(index, store.newValues().set("number", 1)), file)
              ? 1
              : 0;
          refused += isRefused(() -> store.delete(index), file) ? 1 : 0;
          refused += isRefused(store::commit, file) ? 1 : 0;
        }
        refused += isRefused(store::close, file) ? 1 : 0;
      }
    }
    assertThat(refused).isPositive();
  }

  @Test
  void aFileThatIsCutUnderATableMadeOfAStoreIsATypedException() throws IOException {
    int refused = 0;
    Path path = directory.resolve("converted");
    write(path, options(Verification.FIRST));
    StoreSnapshot.convert(path);
    for (Verification verification : Verification.values()) {
      for (Path file : shardFiles(path)) {
        byte[] content = Files.readAllBytes(file);
        for (int cut = 0; cut < CUTS; cut++) {
          OpenShards.shared().clear();
          try (RecordDataset dataset = RecordDataset.open(
              LocalStorage.at(path),
              new RecordDataset.ReadOptions(verification, new ReadMetrics()))) {
            gather(dataset);
            try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
              opened.setLength(random.nextInt(content.length));
            }
            for (int i = 0; i < 10; i++) {
              refused += isRefused(dataset, file) ? 1 : 0;
            }
          }
          Files.write(file, content);
        }
      }
    }
    OpenShards.shared().clear();
    assertThat(refused).isPositive();
  }

  private static boolean isRefused(Runnable call, Path file) {
    try {
      call.run();
      return false;
    } catch (ZRecordException e) {
      return true;
    } catch (RuntimeException | Error e) {
      throw new AssertionError(file + " was cut", e);
    }
  }

  private boolean isRefused(RecordSource reader, Path file) {
    return isRefused(() -> gather(reader), file);
  }

  /** Gathers some records, and looks at each value. */
  private void gather(RecordSource source) {
    long[] indices = random.longs(200, 0, source.length()).toArray();
    try (Batch batch = source.gather(indices)) {
      for (FieldSpec field : SCHEMA.fields()) {
        for (int i = 0; i < indices.length; i++) {
          if (!batch.isAbsent(field.name(), i)) {
            assertThat(batch.bytes(field.name(), i)).isNotNull();
          }
        }
      }
    }
  }

  private static void write(Path path, StoreOptions options) {
    try (RecordStore store = RecordStore.create(path, SCHEMA, options)) {
      for (int i = 0; i < LENGTH; i++) {
        RecordValues values = store
            .newValues()
            .set("number", i)
            .set("text", "text ".repeat(i % 40))
            .set("zipped", new byte[i % 5_000]);
        store.append(i % 10 == 0 ? values.set("row", new float[700]) : values);
      }
    }
  }

  private static List<Path> shardFiles(Path path) throws IOException {
    try (Stream<Path> found = Files.walk(path.resolve("shard"))) {
      return found.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static List<Path> files(Path path) throws IOException {
    try (Stream<Path> found = Files.walk(path)) {
      return found
          .filter(file -> file.toString().matches(".*\\.(zr|offset|crc32c)"))
          .sorted()
          .toList();
    }
  }
}
