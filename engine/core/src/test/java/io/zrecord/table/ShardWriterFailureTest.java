package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StorageException;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.ShardProbe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShardWriterFailureTest {
  private static final UUID ID = UUID.fromString("9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11");
  private static final String DIRECTORY = "shard/" + ID;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("label", ElementType.I32)
      .field("image", ElementType.BYTES)
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD))
      .build();

  /** Puts records of all sorts: absent values, one beyond the stripe, several chunks. */
  private static void putRecords(ShardWriter writer) {
    byte[] image = new byte[20_000];
    for (int i = 0; i < 40; i++) {
      if (i != 13) {
        writer.putInt(0, i);
      }
      writer.put(1, image, 0, i == 20 ? image.length : i * 100);
      writer.put(2, image, 0, i);
      writer.endRecord();
    }
  }

  private static ShardWriter writer(Storage storage, Durability durability) {
    WriteOptions options = WriteOptions.defaults()
        .withChunkBytes(64 << 10)
        .withStripeBytes(64 << 10)
        .withDurability(durability);
    return ShardWriter.create(storage, ID, SCHEMA, options);
  }

  @Test
  void whateverFailsTheWriterIsOverAndNothingStays() {
    MemoryStorage whole = new MemoryStorage();
    try (ShardWriter writer = writer(whole, Durability.COMMIT)) {
      putRecords(writer);
      writer.finish();
    }
    int calls = whole.log().size();
    assertThat(calls).isGreaterThan(40);
    for (int call = 0; call < calls; call++) {
      MemoryStorage storage = new MemoryStorage().failingFrom(call, 1);
      try (ShardWriter writer = writer(storage, Durability.COMMIT)) {
        assertThatThrownBy(() -> {
              putRecords(writer);
              writer.finish();
            })
            .as("call %s", whole.log().get(call))
            .isInstanceOf(StorageException.class)
            .hasMessageContaining("injected");
        assertThatThrownBy(() -> writer.putInt(0, 1))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("failed");
        assertThatThrownBy(writer::endRecord).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
      }
      assertThat(storage.names()).isEmpty();
      assertThat(storage.openFileCount()).as("call %s", whole.log().get(call)).isZero();
    }
  }

  @Test
  void closingDoesItsBestWhenNothingWorksAnyMore() {
    MemoryStorage whole = new MemoryStorage();
    try (ShardWriter writer = writer(whole, Durability.COMMIT)) {
      putRecords(writer);
      writer.finish();
    }
    int calls = whole.log().size();
    assertThat(calls).isGreaterThan(40);
    for (int call = 0; call < calls; call++) {
      MemoryStorage storage = new MemoryStorage().failingFrom(call, Integer.MAX_VALUE);
      ShardWriter writer = writer(storage, Durability.COMMIT);
      assertThatThrownBy(() -> {
            putRecords(writer);
            writer.finish();
          })
          .isInstanceOf(StorageException.class);
      writer.close();
      assertThat(storage.openFileCount()).as("call %s", call).isZero();
      writer.close();
    }
  }

  @Test
  void aFinishedShardSurvivesPowerLoss() {
    MemoryStorage storage = new MemoryStorage();
    try (ShardWriter writer = writer(storage, Durability.COMMIT)) {
      putRecords(writer);
      assertThat(storage.afterPowerLoss().names()).isEmpty();
      writer.finish();
    }
    MemoryStorage left = storage.afterPowerLoss();
    assertThat(left.names()).isEqualTo(storage.names());
    assertThat(ShardProbe.read(left, ID).length()).isEqualTo(40);
  }

  @Test
  void whatAFileRefersToIsForcedBeforeIt() {
    MemoryStorage storage = new MemoryStorage();
    try (ShardWriter writer = writer(storage, Durability.COMMIT)) {
      putRecords(writer);
      writer.finish();
    }
    List<String> log = storage.log();
    String tables = storage.names().stream()
        .filter(name -> name.endsWith(".tables"))
        .findFirst()
        .orElseThrow();
    int created = log.indexOf("create " + tables);
    for (String name : storage.names()) {
      assertThat(log.lastIndexOf("write " + name)).isLessThan(log.indexOf("force " + name));
      if (!name.equals(tables)) {
        assertThat(log.indexOf("force " + name)).as(name).isBetween(0, created);
      }
    }
    assertThat(log.subList(log.indexOf("force " + tables), log.size()))
        .containsExactly(
            "force " + tables,
            "close " + tables,
            "forceDirectory " + DIRECTORY,
            "forceDirectory shard");
  }

  @Test
  void withoutDurabilityNothingIsForced() {
    MemoryStorage storage = new MemoryStorage();
    try (ShardWriter writer = writer(storage, Durability.NONE)) {
      putRecords(writer);
      writer.finish();
    }
    assertThat(storage.log()).noneMatch(line -> line.startsWith("force"));
    assertThat(ShardProbe.read(storage, ID).length()).isEqualTo(40);
  }

  @Test
  void anAbandonedShardIsDeletedAlthoughTheThreadIsInterrupted(@TempDir Path directory)
      throws IOException {
    Storage storage = LocalStorage.at(directory);
    ShardWriter writer = writer(storage, Durability.NONE);
    putRecords(writer);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> putRecords(writer)).isInstanceOf(StorageException.class);
      writer.close();
    } finally {
      assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
    }
    try (Stream<Path> left = Files.walk(directory)) {
      assertThat(left.filter(Files::isRegularFile)).isEmpty();
    }
  }
}
