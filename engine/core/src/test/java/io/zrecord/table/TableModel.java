package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.ForwardingStorage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A table on disk, and what it should hold. Time is simulated: it begins long ago and passes only
 * by {@link #pass}; whatever the file system dated with the real time gets the simulated one.
 */
final class TableModel implements InstantSource {
  private static final Instant REAL = Instant.parse("2020-01-01T00:00:00Z");

  final Path path;
  final Storage storage;
  final RecordTable table;
  final Map<Long, List<ShardSummary>> versions = new TreeMap<>();
  final Map<String, Long> tags = new TreeMap<>();
  final Map<String, long[]> values = new HashMap<>();
  private Instant now = Instant.parse("2000-01-01T00:00:00Z");
  private long nextValue;

  TableModel(Path path) {
    this.path = path;
    this.storage = new ForwardingStorage(LocalStorage.at(path)) {
      @Override
      public List<StoredFile> list(String directory) {
        return super.list(directory).stream().map(TableModel.this::dated).toList();
      }
    };
    this.table = RecordTable.at(storage, this);
  }

  @Override
  public Instant instant() {
    return now;
  }

  void pass(Duration time) {
    stamp();
    now = now.plus(time);
  }

  /** Dates what was not stamped yet: this model is in the past of the real files. */
  private StoredFile dated(StoredFile file) {
    return new StoredFile(
        file.name(),
        file.isDirectory(),
        file.lengthBytes(),
        Math.min(file.modifiedMillis(), now.toEpochMilli()));
  }

  /** Writes a shard that no version names yet. */
  ShardSummary write(int recordCount) {
    long[] written = LongStream.range(nextValue, nextValue + recordCount).toArray();
    nextValue += recordCount;
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, written);
    values.put(shard.directory(), written);
    stamp();
    return shard;
  }

  void commit(TableChange.Kind kind, ShardSummary... added) {
    settle();
    OptionalLong base =
        versions.isEmpty() ? OptionalLong.empty() : OptionalLong.of(newestVersion());
    List<ShardSummary> shards = new ArrayList<>();
    if (kind == TableChange.Kind.APPEND && base.isPresent()) {
      shards.addAll(versions.get(base.getAsLong()));
    }
    shards.addAll(List.of(added));
    long version =
        table.commit(Shards.change(kind, base, Shards.SCHEMA, List.of(added))).version();
    versions.put(version, shards);
    stamp();
  }

  void append(int recordCount) {
    commit(TableChange.Kind.APPEND, write(recordCount));
  }

  void overwrite(int recordCount) {
    commit(TableChange.Kind.OVERWRITE, write(recordCount));
  }

  void tag(long version, String name) {
    table.tag(version, name);
    tags.put(name, version);
    stamp();
  }

  /** Takes note of versions of care: each has the shards of the one before. */
  private void settle() {
    long newest = table.exists() ? table.latest().version() : -1;
    while (!versions.isEmpty() && newestVersion() < newest) {
      long version = newestVersion() + 1;
      assertThat(table.version(version).operation()).isIn("tag", "untag", "expire", "sweep");
      versions.put(version, versions.get(version - 1));
    }
  }

  long newestVersion() {
    return versions.keySet().stream().max(Long::compare).orElseThrow();
  }

  void requireEqual() {
    settle();
    assertThat(table.versions()).containsExactlyElementsOf(versions.keySet());
    assertThat(table.tags().stream().collect(Collectors.toMap(Tag::name, Tag::version)))
        .isEqualTo(tags);
    requireReadable(table);
    assertThat(table.latest().version()).isEqualTo(newestVersion());
  }

  /**
   * Requires that every version that the table says it has can be read and holds what was written.
   */
  void requireReadable(RecordTable read) {
    settle();
    for (long version : read.versions()) {
      requireReadable(read.version(version));
    }
    for (Tag tag : read.tags()) {
      requireReadable(read.tagged(tag.name()));
    }
  }

  private void requireReadable(TableSnapshot snapshot) {
    long[] expected = versions.get(snapshot.version()).stream()
        .flatMapToLong(shard -> LongStream.of(values.get(shard.directory())))
        .toArray();
    try (RecordDataset data = RecordDataset.open(snapshot, ReadOptions.defaults());
        Batch batch = data.gather(LongStream.range(0, expected.length).toArray(), "value")) {
      for (int i = 0; i < expected.length; i++) {
        assertThat(batch.value("value", i).getLong(0)).isEqualTo(expected[i]);
      }
    }
  }

  /** Returns the directories of shards that some version names. */
  Set<String> namedShards() {
    return versions.values().stream()
        .flatMap(List::stream)
        .map(ShardSummary::directory)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns all files, relative to the table, with their simulated times. */
  Map<String, Instant> files() {
    Map<String, Instant> files = new TreeMap<>();
    for (Path file : walk()) {
      if (Files.isRegularFile(file)) {
        files.put(path.relativize(file).toString(), modified(file));
      }
    }
    return files;
  }

  /** Gives the simulated time to what the file system dated with the real one. */
  void stamp() {
    for (Path file : walk()) {
      if (modified(file).isAfter(REAL)) {
        try {
          Files.setLastModifiedTime(file, FileTime.from(now));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private List<Path> walk() {
    try (Stream<Path> paths = Files.walk(path)) {
      return paths.toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Instant modified(Path file) {
    try {
      return Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
