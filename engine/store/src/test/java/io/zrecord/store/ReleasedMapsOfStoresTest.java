package io.zrecord.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What the process still maps, as the kernel lists it, once nobody has a store open any more. */
@EnabledOnOs(OS.LINUX)
class ReleasedMapsOfStoresTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("group", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();
  private static final int RECORDS = 1_000;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @TempDir
  Path directory;

  private static List<String> linesWith(String text) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(text)).toList();
    }
  }

  private static void deleteAll(Path path) throws IOException {
    try (Stream<Path> below = Files.walk(path)) {
      below.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    }
    assertThat(path).doesNotExist();
  }

  /**
   * Waits, because the collector works on threads of its own after {@code System.gc()} has
   * returned.
   */
  private static void awaitUnmapped(String text) throws IOException {
    long end = System.nanoTime() + LIMIT.toNanos();
    do {
      System.gc();
    } while (!linesWith(text).isEmpty() && System.nanoTime() < end);
    assertThat(linesWith(text)).isEmpty();
  }

  private static void gather(RecordDataset dataset) {
    try (Batch batch = dataset.gather(new long[] {7, 3, 999})) {
      assertThat(batch.value("group", 0).getLong(0)).isEqualTo(7);
      assertThat(batch.bytes("text", 2)).asString(UTF_8).isEqualTo("record 999");
    }
    FieldReader reader = dataset.reader("text");
    assertThat(reader.selectRange(0, RECORDS, Long.MAX_VALUE)).isEqualTo(RECORDS);
    reader.copyAll(new byte[(int) reader.totalLengthBytes()], 0);
  }

  @Test
  void aStoreThatWasClosedIsNotMappedAnyMore() throws IOException {
    Path path = directory.resolve("store");
    useStore(path);
    assertThat(linesWith(path.toRealPath() + "/")).isNotEmpty();
    String below = path.toRealPath() + "/";
    deleteAll(path);
    awaitUnmapped(below);
  }

  private static void useStore(Path path) {
    try (RecordStore store = RecordStore.create(path, SCHEMA, StoreOptions.defaults())) {
      for (int i = 0; i < RECORDS; i++) {
        store.append(store.newValues().set("group", (long) i).set("text", "record " + i));
      }
      store.commit();
      try (Batch batch = store.gather(new long[] {7})) {
        assertThat(batch.value("group", 0).getLong(0)).isEqualTo(7);
      }
      try (StoreReader reader = StoreReader.open(path);
          Batch batch = reader.gather(new long[] {9})) {
        assertThat(batch.value("group", 0).getLong(0)).isEqualTo(9);
      }
    }
  }

  @Test
  void theSnapshotThatAStoreIsReadAsIsReleasedAndDeleted() throws IOException {
    Path path = directory.resolve("read");
    useStore(path);
    gatherAll(path);
    awaitUnmapped(path.toRealPath() + "/snapshot/");
  }

  private static void gatherAll(Path path) throws IOException {
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      gather(dataset);
      assertThat(linesWith(path.toRealPath() + "/snapshot/")).isNotEmpty();
    }
    OpenShards.shared().dropUnused();
  }
}
