package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordStore;
import io.zrecord.StoreOptions;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ShardOnDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A flipped bit in any byte that matters is found; in any other byte nothing is. */
final class EveryByteTest {
  private static final int COUNT = 9;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8)
      .field("zipped", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.LZ4))
      .field("label", ElementType.I32)
      .build();

  private final long seed = Budget.seed();
  private final Random random = Budget.random();

  @TempDir
  Path directory;

  /** Which bytes of a file matter. */
  private interface Meaning {
    BitSet of(Path file, byte[] content) throws IOException;
  }

  @Test
  void ofATable() throws IOException {
    Path table = directory.resolve("table");
    for (int version = 0; version < 2; version++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(table.toString(), SCHEMA, WriteOptions.defaults())) {
        RecordAppender records = writer.newAppender();
        for (int i = 0; i < COUNT; i++) {
          records.set("text", "t" + i).set("zipped", new byte[7 * i]);
          (i % 4 == 1 ? records : records.set("label", i)).endRecord();
        }
        writer.commit();
      }
    }
    requireFound(table, (file, content) -> {
      BitSet all = new BitSet();
      all.set(0, content.length);
      if (file.endsWith("manifest/latest")) {
        // Whoever finds a hint damaged lists the versions.
        return new BitSet();
      }
      return file.toString().endsWith(".zr") ? meaningInChunk(file.getParent()) : all;
    });
  }

  private static BitSet meaningInChunk(Path shard) {
    ShardOnDisk files = ShardOnDisk.of(shard);
    BitSet bytes = new BitSet();
    bytes.set(0, 64);
    for (int field : files.json().fieldIds()) {
      if (files.hasBlocks(field)) {
        for (int i = 0; i < files.json().length(); i++) {
          int offset = (int) files.offset(field, i);
          bytes.set(offset, offset + files.storedBytes(field, i));
        }
      } else {
        for (int run = 0; run < files.runCount(field); run++) {
          int offset = (int) files.runOffset(field, run);
          bytes.set(offset, offset + (int) files.runBytes(field, run));
        }
      }
    }
    return bytes;
  }

  private static void setValues(BitSet bytes, Path shard, String stem, long length)
      throws IOException {
    ByteBuffer entries = ByteBuffer.wrap(Files.readAllBytes(shard.resolve(stem + ".offset")))
        .order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < length; i++) {
      int offset = (int) entries.getLong(16 * i);
      bytes.set(offset, offset + entries.getInt(16 * i + 12));
    }
  }

  @Test
  void ofAStore() throws IOException {
    Path store = directory.resolve("store");
    try (RecordStore open = RecordStore.create(
        store, SCHEMA, StoreOptions.defaults().withChunkBytes(4096).withWriters(1))) {
      for (int i = 0; i < COUNT; i++) {
        open.append(open.newValues().set("text", "t" + i).set("zipped", new byte[7 * i]));
      }
    }
    requireFound(store, (file, content) -> meaningInStore(store, file, content));
  }

  private static BitSet meaningInStore(Path store, Path file, byte[] content) throws IOException {
    BitSet bytes = new BitSet();
    String name = String.valueOf(file.getFileName());
    if (name.endsWith(".offset")) {
      bytes.set(0, 16 * COUNT);
    } else if (name.endsWith(".crc32c")) {
      bytes.set(0, 4 * COUNT);
    } else if (name.equals("live")) {
      // The header, the length and the sequence number; stamps only say whether they count.
      bytes.set(0, 44);
      bytes.set(64, 80);
    } else if (name.endsWith(".zr")) {
      StoreMeta meta = StoreMeta.read("meta", Files.readAllBytes(store.resolve("meta.json")));
      bytes.set(0, 64);
      for (FieldMeta field : meta.shard().fields()) {
        setValues(bytes, store, field.stem(), COUNT);
      }
    } else if (!name.equals("lock")) {
      bytes.set(0, content.length);
    }
    return bytes;
  }

  /** Chooses positions in a file: the first, the last, and others, mostly in its header. */
  private Set<Integer> positions(int length) {
    Set<Integer> chosen = new TreeSet<>();
    if (length > 0) {
      chosen.add(0);
      chosen.add(length - 1);
    }
    int header = Math.min(100, length);
    int most = 2 * header / 3 + Math.min((length - header) / 10, 200);
    int count = Math.min(length, Math.max(10, Budget.of(most)));
    while (chosen.size() < count) {
      chosen.add(random.nextInt(random.nextBoolean() ? header : length));
    }
    return chosen;
  }

  private void requireFound(Path dataset, Meaning meaning) throws IOException {
    assertThat(DatasetCheck.of(dataset.toString()).run(finding -> {}).isSound()).isTrue();
    List<Path> files;
    try (Stream<Path> found = Files.walk(dataset)) {
      files = found.filter(Files::isRegularFile).sorted().toList();
    }
    for (Path file : files) {
      byte[] content = Files.readAllBytes(file);
      BitSet meaningful = meaning.of(file, content);
      for (int at : positions(content.length)) {
        byte before = content[at];
        content[at] ^= (byte) (1 << random.nextInt(8));
        Files.write(file, content);
        boolean isSound = DatasetCheck.of(dataset.toString()).run(finding -> {}).isSound();
        assertThat(isSound)
            .as("byte %s of %s, seed %s", at, file, seed)
            .isEqualTo(!meaningful.get(at));
        content[at] = before;
      }
      Files.write(file, content);
    }
  }
}
