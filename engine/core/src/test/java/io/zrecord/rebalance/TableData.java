package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.ShardOnDisk;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Tables for tests of rebalancing; a record is known by a number, which all its values tell. */
public final class TableData {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.RAW)
      .field("pixels", ElementType.U8, Shape.of(3), Compression.RAW)
      .build();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);

  private TableData() {}

  public static void append(Path path, List<Integer> expected, int records, int seed) {
    try (Appending append = beginAppend(path, records, seed)) {
      append.commit(expected);
    }
  }

  static Appending beginAppend(Path path, int records, int seed) {
    return new Appending(
        RecordDatasetWriter.append(path.toString(), SCHEMA, OPTIONS), records, seed);
  }

  static void overwrite(Path path, List<Integer> expected, int records, int seed) {
    try (Appending append = new Appending(
        RecordDatasetWriter.overwrite(path.toString(), SCHEMA, OPTIONS), records, seed)) {
      append.commit(expected);
    }
  }

  /** Appends many shards in one version. */
  static void appendShards(Path path, List<Integer> expected, int shards, int seed) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), SCHEMA, OPTIONS)) {
      for (int i = 0; i < shards; i++) {
        add(writer.newAppender(), expected, 1 + i % 2, seed * 1_000_000 + 2 * i);
      }
      writer.commit();
    }
  }

  /** Records that are written, and not committed yet. */
  static final class Appending implements AutoCloseable {
    private final RecordDatasetWriter writer;
    private final List<Integer> numbers = new ArrayList<>();

    Appending(RecordDatasetWriter writer, int records, int seed) {
      this.writer = writer;
      add(writer.newAppender(), numbers, records, seed * 100_000);
    }

    void commit(List<Integer> expected) {
      writer.commit();
      expected.addAll(numbers);
    }

    @Override
    public void close() {
      writer.close();
    }
  }

  private static void add(RecordAppender appender, List<Integer> numbers, int records, int first) {
    for (int i = 0; i < records; i++) {
      int number = first + i;
      numbers.add(number);
      appender.set("number", (long) number).set("pixels", pixels(number));
      if (number % 5 != 0) {
        appender.set("text", text(number));
      }
      appender.endRecord();
    }
  }

  private static byte[] pixels(int number) {
    return new byte[] {(byte) number, (byte) (number >> 8), 7};
  }

  private static String text(int number) {
    return "t".repeat(number % 90) + number;
  }

  static void check(TableSnapshot snapshot, List<Integer> expected) {
    try (RecordDataset dataset =
        RecordDataset.open(snapshot, RecordDataset.ReadOptions.defaults())) {
      check(dataset, expected);
    }
  }

  static void check(RecordDataset dataset, List<Integer> expected) {
    assertThat(dataset.length()).isEqualTo(expected.size());
    long[] all = Stream.iterate(0L, i -> i + 1)
        .limit(expected.size())
        .mapToLong(Long::longValue)
        .toArray();
    try (Batch batch = dataset.gather(all)) {
      for (int i = 0; i < all.length; i++) {
        int number = expected.get(i);
        assertThat(batch.value("number", i).getLong(0)).isEqualTo(number);
        assertThat(batch.value("pixels", i).get(1)).isEqualTo((byte) (number >> 8));
        assertThat(batch.isAbsent("text", i)).isEqualTo(number % 5 == 0);
        if (number % 5 != 0) {
          assertThat(StandardCharsets.UTF_8.decode(batch.value("text", i)).toString())
              .isEqualTo(text(number));
        }
      }
    }
  }

  /** Flips a bit in the last value of a shard's chunk. */
  static void damage(Path shard) throws IOException {
    Path chunk = ShardOnDisk.of(shard).chunk(0);
    byte[] bytes = Files.readAllBytes(chunk);
    bytes[bytes.length - 9] ^= 4;
    Files.write(chunk, bytes);
  }

  public static Set<String> shardDirectories(Path path) {
    return names(path.resolve("shard"));
  }

  static Set<String> lists(Path path) {
    return names(path.resolve("list"));
  }

  private static Set<String> names(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toCollection(TreeSet::new));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** Dates all files as if they had been written ten days ago. */
  static void letTimePass(Path path) throws IOException {
    FileTime time = FileTime.from(Instant.now().minus(Duration.ofDays(10)));
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : files.toList()) {
        Files.setLastModifiedTime(file, time);
      }
    }
  }

  /** Returns the shards that any version names, including index maps. */
  static Set<String> namedShards(RecordTable table) {
    Set<String> named = new TreeSet<>();
    for (long version : table.versions()) {
      TableSnapshot snapshot = table.version(version);
      snapshot.shards().forEach(shard -> named.add(shard.id().toString()));
      snapshot.indexMap().ifPresent(map -> named.add(map.shard().id().toString()));
    }
    return named;
  }
}
