package io.zrecord.storage.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.UnmappedStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cache keeps what it was given, right or wrong. Readers compare it with the table. */
final class RestoredFilesTest {
  private static final byte[] VALUE = new byte[10_000];

  @TempDir
  Path directory;

  private Path table = Path.of("");
  private Storage cached = LocalStorage.at(table);

  @BeforeEach
  void write() {
    table = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder().field("v", ElementType.BYTES).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set("v", VALUE).endRecord();
      writer.commit();
    }
    cached = CachedStorage.of(
        new UnmappedStorage(LocalStorage.at(table), 1 << 20),
        TestCaches.at(directory.resolve("cache"), 64 << 20));
  }

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  private Path chunk() throws IOException {
    try (Stream<Path> files = Files.walk(table)) {
      return files
          .filter(Files::isRegularFile)
          .max(Comparator.comparingLong(file -> file.toFile().length()))
          .orElseThrow();
    }
  }

  private byte[] value() {
    try (RecordDataset dataset = RecordDataset.open(cached, ReadOptions.defaults());
        Batch batch = dataset.gather(new long[] {0}, "v")) {
      return batch.bytes("v", 0);
    }
  }

  private static byte[] damaged(byte[] intact) {
    byte[] damaged = intact.clone();
    damaged[intact.length / 2] ^= 1;
    return damaged;
  }

  @Test
  void aFileThatWasRestoredIsReadAgain() throws IOException {
    Path chunk = chunk();
    byte[] intact = Files.readAllBytes(chunk);
    Files.write(chunk, damaged(intact));
    assertThatThrownBy(this::value).isInstanceOf(CorruptDataException.class);
    Files.write(chunk, intact);
    assertThat(value()).isEqualTo(VALUE);
  }

  @Test
  void aCheckReadsWhatTheStorageHas() throws IOException {
    assertThat(value()).isEqualTo(VALUE);
    Path chunk = chunk();
    Files.write(chunk, damaged(Files.readAllBytes(chunk)));
    OpenShards.shared().clear();
    assertThat(value()).as("of the cache").isEqualTo(VALUE);
    assertThat(DatasetCheck.of(cached).run(finding -> {}).isSound()).isFalse();
  }
}
