package io.zrecord.internal.store;

import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.store.write.StoreLimits;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.internal.store.write.StoreWriter;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.testing.Repository;
import io.zrecord.verify.Damage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The stores under {@code golden/v2-stores}. The files are written by {@link #main}, and from the
 * freeze of format 2 on never again.
 *
 * <ul>
 *   <li>{@code clean}: a store that was closed, after an update and a deletion.
 *   <li>{@code replay}: a store after a loss of power. Tables and chunk are those of a checkpoint.
 *       The journal has two commits, and carries their values.
 *   <li>{@code torn}: the same, and the last record of the journal is not whole.
 * </ul>
 */
final class GoldenStores {
  static final Path DIRECTORY = Repository.path("engine/core/src/test/resources/golden/v2-stores");

  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("id", ElementType.I64)
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.LZ4))
      .build();
  private static final StoreLimits LIMITS =
      new StoreLimits(true, 1 << 20, 1 << 10, 1, 1 << 20, Duration.ofMinutes(1));

  /** Room that the tables keep: a writer makes more of it. */
  private static final int TABLE_RECORDS = 8;

  private static final int TORN_BYTES = 40;

  private GoldenStores() {}

  /** Writes the stores below a directory that does not exist. */
  public static void main(String[] arguments) throws IOException {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) throws IOException {
    clean(directory.resolve("clean"));
    replay(directory.resolve("replay"));
    Path torn = Damage.copy(directory.resolve("replay"), directory.resolve("torn"));
    Path journal = torn.resolve("journal");
    Damage.cut(journal, Files.size(journal) - TORN_BYTES);
  }

  private static void clean(Path path) throws IOException {
    try (StoreWriter store = create(path, "55555555-5555-4555-8555-555555555555")) {
      append(store, 1L, "one");
      append(store, 2L, null);
      append(store, null, "");
      append(store, 4L, "four");
      store.commit();
      store.update(0, new byte[][] {null, text("uno")}, new boolean[] {false, true});
      store.delete(1);
      store.commit();
    }
    shorten(path);
  }

  private static void replay(Path path) throws IOException {
    Path alive = path.resolveSibling("alive");
    try (StoreWriter store = create(alive, "44444444-4444-4444-8444-444444444444")) {
      append(store, 1L, "one");
      append(store, 2L, null);
      store.checkpoint();
      Damage.copy(alive, path);
      append(store, 3L, "three");
      store.commit();
      store.update(0, new byte[][] {number(7), null}, new boolean[] {true, false});
      store.commit();
      Files.copy(
          alive.resolve("journal"), path.resolve("journal"), StandardCopyOption.REPLACE_EXISTING);
      // The name of the writer's token is another each time.
      LocalMutableFiles files = new LocalMutableFiles(path);
      files.list("").stream().filter(name -> name.startsWith("writer-")).forEach(files::delete);
    }
    new LocalMutableFiles(path.getParent()).delete("alive");
    shorten(path);
  }

  private static StoreWriter create(Path path, String id) {
    LocalMutableFiles files = new LocalMutableFiles(path);
    files.createRoot();
    return StoreRecovery.create(files, UUID.fromString(id), SCHEMA, LIMITS);
  }

  private static void append(StoreWriter store, @Nullable Long id, @Nullable String text) {
    store.append(new byte[][] {id == null ? null : number(id), text == null ? null : text(text)});
  }

  private static byte[] number(long value) {
    return ByteBuffer.allocate(Long.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(value)
        .array();
  }

  private static byte[] text(String value) {
    return value.getBytes(StandardCharsets.UTF_8);
  }

  private static void shorten(Path path) throws IOException {
    for (String stem : new String[] {"id", "text"}) {
      shorten(path.resolve(stem + ".offset"), TABLE_RECORDS * 16);
      shorten(path.resolve(stem + ".crc32c"), TABLE_RECORDS * 4);
    }
  }

  private static void shorten(Path file, int bytes) throws IOException {
    Files.write(file, Arrays.copyOf(Files.readAllBytes(file), bytes));
  }
}
