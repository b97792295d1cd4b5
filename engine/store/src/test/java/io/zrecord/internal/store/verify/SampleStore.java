package io.zrecord.internal.store.verify;

import io.zrecord.Batch;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.store.RecordStore;
import io.zrecord.store.RecordValues;
import io.zrecord.store.StoreOptions;
import io.zrecord.verify.Damage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.Consumer;

/** Stores to be damaged. */
public final class SampleStore {
  public static final int COUNT = 500;
  /** After the killed writer appended, changed and deleted. */
  public static final int KILLED_COUNT = COUNT + 30 - 1;

  public static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8)
      .field("zipped", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.ZSTD))
      .field("label", ElementType.I32)
      .build();

  private static final StoreOptions OPTIONS = StoreOptions.defaults().withChunkBytes(8 << 10);

  private SampleStore() {}

  /** Makes a store that was closed, with several chunks. */
  public static Path closed(Path path) {
    try (RecordStore store = RecordStore.create(path, SCHEMA, OPTIONS)) {
      append(store, 0, COUNT);
    }
    return path;
  }

  /** Copies a store as a killed writer leaves it: commits are in the journal. */
  public static Path killed(Path directory) {
    Path path = closed(directory.resolve("alive"));
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      commits(store);
      return Damage.copy(path, directory.resolve("killed"));
    }
  }

  /**
   * Copies a store as a killed writer leaves it, when nothing of the last commits reached the
   * tables.
   */
  public static Path killedBeforeTables(Path directory) throws IOException {
    return killedBeforeTables(directory, SampleStore::commits);
  }

  public static Path killedBeforeTables(Path directory, Consumer<RecordStore> commits)
      throws IOException {
    Path path = closed(directory.resolve("alive"));
    Path killed = Damage.copy(path, directory.resolve("killed"));
    unclose(killed.resolve("live"));
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      commits.accept(store);
      Path later = Damage.copy(path, directory.resolve("later"));
      Files.copy(
          later.resolve("journal"), killed.resolve("journal"), StandardCopyOption.REPLACE_EXISTING);
      // What the meta file of the killed one says must be that of the checkpoint at opening.
      Files.copy(
          later.resolve("meta.json"),
          killed.resolve("meta.json"),
          StandardCopyOption.REPLACE_EXISTING);
      try (var chunks = Files.list(later.resolve("chunk"))) {
        for (Path chunk : chunks.toList()) {
          Files.copy(
              chunk,
              killed.resolve("chunk").resolve(chunk.getFileName()),
              StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
    return killed;
  }

  /** Takes the mark of a closed store away, as the writer does that opens the store. */
  private static void unclose(Path live) throws IOException {
    byte[] content = Files.readAllBytes(live);
    content[136] = 0;
    Files.write(live, content);
  }

  /** Makes ten commits of three records, then changes and a deletion. */
  private static void commits(RecordStore store) {
    for (int i = 0; i < 10; i++) {
      append(store, COUNT + 3 * i, 3);
      store.commit();
    }
    store.update(3, store.newValues().set("text", "changed"));
    store.commit();
    store.delete(4);
    store.commit();
    store.update(5, store.newValues().set("label", -5));
    store.commit();
  }

  private static void append(RecordStore store, int first, int count) {
    for (int i = first; i < first + count; i++) {
      RecordValues values = store.newValues().set("text", "text " + i).set("zipped", zipped(i));
      store.append(i % 7 == 0 ? values : values.set("label", i));
    }
  }

  public static byte[] zipped(int i) {
    return "zip ".repeat(i % 20).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns the text of a record, which begins as {@code "text " + index} where nothing was
   * changed.
   */
  public static String text(Path path, long index) {
    try (RecordStore store = RecordStore.open(path, OPTIONS);
        Batch batch = store.gather(new long[] {index}, "text")) {
      return batch.isAbsent("text", 0)
          ? "absent"
          : new String(batch.bytes("text", 0), StandardCharsets.UTF_8);
    }
  }
}
