package io.zrecord;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.inspect.DatasetInspection;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
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

/** What the process still maps, as the kernel lists it, once nobody has a dataset open any more. */
@EnabledOnOs(OS.LINUX)
class ReleasedMapsTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("group", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();
  private static final int RECORDS = 1_000;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @TempDir
  Path directory;

  private Path writeTable(String name) {
    Path path = directory.resolve(name);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, WriteOptions.defaults())) {
      append(writer.newAppender());
      writer.commit();
    }
    return path;
  }

  private static void append(RecordAppender appender) {
    for (int i = 0; i < RECORDS; i++) {
      appender.set("group", (long) i).set("text", "record " + i).endRecord();
    }
  }

  /** Returns the lines of the process's map that name a file of the directory, deleted or not. */
  private static List<String> maps(Path path) throws IOException {
    String below = path.toRealPath() + "/";
    return linesWith(below);
  }

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
  void aTableThatWasClosedAndDeletedIsNotMappedAnyMore() throws IOException {
    Path path = writeTable("table");
    String below = path.toRealPath() + "/";
    RecordDataset first = RecordDataset.open(path.toString());
    RecordDataset second = RecordDataset.open(path.toString());
    gather(first);
    gather(second);
    first.close();
    OpenShards.shared().dropUnused();
    System.gc();
    assertThat(maps(path)).as("another user has it open").isNotEmpty();
    int before = maps(path).size();
    gather(second);
    assertThat(maps(path)).as("its maps are found again").hasSize(before);
    deleteAll(path);
    assertThat(linesWith(below)).isNotEmpty().allMatch(line -> line.endsWith("(deleted)"));
    second.close();
    OpenShards.shared().dropUnused();
    try {
      awaitUnmapped(below);
    } finally {
      Reference.reachabilityFence(first);
      Reference.reachabilityFence(second);
    }
  }

  @Test
  void aDatasetThatIsForgottenInsteadOfClosedIsReleasedToo() throws IOException {
    Path path = writeTable("forgotten");
    gather(RecordDataset.open(path.toString()));
    assertThat(maps(path)).isNotEmpty();
    long end = System.nanoTime() + LIMIT.toNanos();
    do {
      System.gc();
      OpenShards.shared().dropUnused();
    } while (!maps(path).isEmpty() && System.nanoTime() < end);
    assertThat(maps(path)).isEmpty();
  }

  @Test
  void valuesStayReadableAfterTheirFilesAreDeletedAndTheirDatasetIsClosed() throws IOException {
    Path path = writeTable("kept");
    String below = path.toRealPath() + "/";
    readLate(path, below);
    awaitUnmapped(below);
  }

  private static void readLate(Path path, String below) throws IOException {
    ByteBuffer value = valueOf(path, 5);
    try {
      deleteAll(path);
      OpenShards.shared().dropUnused();
      for (int i = 0; i < 5; i++) {
        System.gc();
      }
      byte[] bytes = new byte[value.remaining()];
      value.get(bytes);
      assertThat(new String(bytes, UTF_8)).isEqualTo("record 5");
      assertThat(linesWith(below)).isNotEmpty();
    } finally {
      Reference.reachabilityFence(value);
    }
  }

  private static ByteBuffer valueOf(Path path, long index) {
    try (RecordDataset dataset = RecordDataset.open(path.toString());
        Batch batch = dataset.gather(new long[] {index}, "text")) {
      return batch.value("text", 0);
    }
  }

  @Test
  void inspectionsAndSingleShardsAreReleased() throws IOException {
    Path path = writeTable("inspected");
    DatasetInspection.of(path.toString()).run(shard -> {});
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isEqualTo(RECORDS);
    }
    TableSnapshot table = RecordTable.at(LocalStorage.at(path)).latest();
    try (RecordDataset alone = RecordDataset.openShard(
        table.storage(),
        table.schema(),
        table.shards().get(0),
        RecordDataset.ReadOptions.defaults())) {
      gather(alone);
    }
    assertThat(maps(path)).isNotEmpty();
    OpenShards.shared().dropUnused();
    awaitUnmapped(path.toRealPath() + "/");
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
