package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.MemoryStorage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.LongStream;

/**
 * A table in memory, and what every version of it should hold: a list of records. Time is simulated
 * and passes only by {@link #pass}; it is ahead of the real time, which who does not ask this clock
 * gives to his commits.
 */
final class CareModel implements InstantSource {
  private static final RecordSchema FIRST_SCHEMA = RecordSchema.builder()
      .field("value", ElementType.I64)
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.RAW)
      .build();

  /**
   * A record.
   *
   * @param value tells what all fields hold
   * @param fields ids of those that there were when it was written
   */
  record Row(long value, Set<Integer> fields) {}

  /** A change that is known to be committed under a number. */
  private record Committed(TableChange.Kind kind, List<Row> rows) {}

  private final Random random;
  private final Map<Long, Committed> committed = new HashMap<>();
  private final Map<Long, Set<String>> filesOfVersions = new HashMap<>();
  private Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS).plus(Duration.ofDays(1));
  private long nextValue;
  private long known = -1;
  private long oldest;

  final MemoryStorage storage = Simulation.storage(this);
  final RecordTable table = RecordTable.at(storage, this);
  /** Of all versions that ever were. */
  final Map<Long, List<Row>> contents = new HashMap<>();

  final Map<String, Long> tags = new TreeMap<>();
  RecordSchema schema = FIRST_SCHEMA;

  CareModel(Random random) {
    this.random = random;
  }

  @Override
  public Instant instant() {
    return now;
  }

  void pass(Duration time) {
    now = now.plus(time);
  }

  /** Some shards that no version names yet, and their records. */
  record Written(List<ShardSummary> shards, List<Row> rows, OptionalLong base) {}

  Written write() {
    return write(known < 0 ? OptionalLong.empty() : OptionalLong.of(known));
  }

  /** @param base the version that the change is planned on */
  Written write(OptionalLong base) {
    Written written = new Written(new ArrayList<>(), new ArrayList<>(), base);
    for (int shards = 1 + random.nextInt(3); shards > 0; shards--) {
      List<Row> rows = newRows(1 + random.nextInt(20));
      written.rows.addAll(rows);
      written.shards.add(write(rows));
    }
    return written;
  }

  private List<Row> newRows(int count) {
    Set<Integer> fields = new HashSet<>();
    schema.fields().forEach(field -> fields.add(field.id()));
    return LongStream.range(nextValue, nextValue += count)
        .mapToObj(value -> new Row(value, fields))
        .toList();
  }

  private ShardSummary write(List<Row> rows) {
    WriteOptions options = WriteOptions.defaults()
        .withStripeBytes(1 << 16)
        .withChunkBytes(4096)
        .withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options)) {
      for (Row row : rows) {
        writer.putLong(0, row.value);
        for (int field = 1; field < schema.fields().size(); field++) {
          byte[] text = text(row, schema.fields().get(field)).orElse(null);
          if (text != null) {
            writer.put(field, text, 0, text.length);
          }
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static Optional<byte[]> text(Row row, FieldSpec field) {
    boolean isAbsent = !row.fields.contains(field.id()) || (row.value + field.id()) % 5 == 0;
    String text = field.id() + ":" + "t".repeat((int) (row.value % 50)) + row.value;
    return isAbsent ? Optional.empty() : Optional.of(text.getBytes(StandardCharsets.UTF_8));
  }

  void commit(TableChange.Kind kind, Written written) {
    TableChange change = Shards.change(kind, written.base, schema, written.shards);
    TableSnapshot snapshot = table.commit(change);
    committed(snapshot.version(), kind, written);
    schema = snapshot.schema();
    settle();
  }

  /** Takes note of a version that did not come by {@link #commit}. */
  void committed(long version, TableChange.Kind kind, Written written) {
    committed.put(version, new Committed(kind, written.rows));
  }

  void append() {
    commit(TableChange.Kind.APPEND, write());
  }

  /** Overwrites as an update or a delete does: some records stay, others are new. */
  void overwrite() {
    if (random.nextBoolean()) {
      schema = new RecordSchema(schema.fields().stream()
          .filter(field -> field.id() <= 2 || random.nextBoolean())
          .toList());
    }
    Written written = write();
    List<Row> present = contents.get(known);
    List<Row> kept =
        new ArrayList<>(present.subList(0, random.nextInt(Math.min(present.size(), 60) + 1)));
    Set<Integer> fields = new HashSet<>();
    schema.fields().forEach(field -> fields.add(field.id()));
    kept.replaceAll(row -> {
      Set<Integer> left = new HashSet<>(row.fields);
      left.retainAll(fields);
      return new Row(row.value, left);
    });
    if (!kept.isEmpty()) {
      written.shards.add(write(kept));
      written.rows.addAll(kept);
    }
    commit(TableChange.Kind.OVERWRITE, written);
  }

  /** Gives the next writes one field more. */
  void addField() {
    int id = known < 0 ? 3 : table.latest().nextFieldId();
    if (schema.fields().size() < 5 && schema.find(id).isEmpty()) {
      List<FieldSpec> fields = new ArrayList<>(schema.fields());
      fields.add(
          new FieldSpec(id, "extra" + id, ElementType.UTF8, Shape.scalar(), Compression.RAW));
      schema = new RecordSchema(fields);
    }
  }

  /**
   * Takes note of the versions that have come: a rebalance, a tag, an expiry and a sweep change no
   * record that is there.
   */
  void settle() {
    Manifest newest = new ManifestLog(storage).newest().orElseThrow();
    assertThat(newest.oldest()).as("the oldest version").isEqualTo(oldest);
    while (known < newest.version()) {
      known++;
      Committed change = committed.get(known);
      List<Row> rows = new ArrayList<>();
      if (change == null || change.kind == TableChange.Kind.APPEND) {
        rows.addAll(contents.getOrDefault(known - 1, List.of()));
      }
      if (change == null) {
        assertThat(table.version(known).operation())
            .isIn("rebalance", "tag", "untag", "expire", "sweep");
      } else {
        rows.addAll(change.rows);
      }
      contents.put(known, rows);
      filesOfVersions.put(known, filesOf(known));
    }
  }

  long newestVersion() {
    return known;
  }

  long oldestVersion() {
    return oldest;
  }

  /** Takes note of an expiry. */
  void expired(long floor) {
    oldest = floor;
  }

  /** Returns the versions that can be read: all since the oldest one, and those with a tag. */
  Set<Long> retained() {
    Set<Long> retained = new TreeSet<>(tags.values());
    LongStream.rangeClosed(oldest, known).forEach(retained::add);
    return retained;
  }

  /** Returns the files that a version names. */
  private Set<String> filesOf(long version) {
    Set<String> files = new TreeSet<>();
    ManifestLog log = new ManifestLog(storage);
    Manifest manifest = log.read(version);
    log.lists(manifest, ofLists -> files.add(ofLists.file()))
        .forEach(list -> files.add(list.file()));
    for (ShardSummary shard : log.shards(manifest)) {
      shard.tables().forEach(file -> files.add(shard.directory() + "/" + file.fileName()));
      shard.chunks().forEach(chunk -> files.add(shard.directory() + "/" + chunk.fileName()));
    }
    return files;
  }

  /** Returns all files that a table without orphans has. */
  Set<String> namedFiles() {
    Set<String> files = new TreeSet<>();
    files.add(ManifestNames.HINT);
    retained().forEach(version -> files.addAll(filesOfVersions.get(version)));
    LongStream.rangeClosed(oldest, known).mapToObj(ManifestNames::nameOf).forEach(files::add);
    new ManifestLog(storage)
        .newest().orElseThrow().tags().stream().map(TagEntry::file).forEach(files::add);
    return files;
  }

  /** Returns the oldest version after an expiry, found in another way than the table does. */
  long floor(ExpireOptions options) {
    List<Long> changing = LongStream.rangeClosed(oldest, known)
        .filter(version -> !Set.of("tag", "untag", "expire", "sweep")
            .contains(table.version(version).operation()))
        .boxed()
        .toList();
    int most = changing.size() - options.keepVersions();
    long floor = oldest;
    while (most >= 0
        && floor < changing.get(most)
        && !table.version(floor + 1).timestamp().isAfter(now.minus(options.olderThan()))) {
      floor++;
    }
    return floor;
  }

  /** Returns the versions that options expire. */
  Set<Long> due(ExpireOptions options) {
    Set<Long> due = new TreeSet<>();
    LongStream.range(oldest, floor(options)).forEach(due::add);
    due.removeAll(tags.values());
    return due;
  }

  /** Requires every version that should be there, no other, and all files that they name. */
  void requireRetained() {
    assertThat(table.versions()).containsExactlyElementsOf(retained());
    assertThat(table.tags()).extracting(Tag::name).containsExactlyElementsOf(tags.keySet());
    Set<String> missing = namedFiles();
    missing.removeAll(storage.names());
    assertThat(missing).isEmpty();
  }

  void requireContents(long version) {
    try (RecordDataset dataset =
        RecordDataset.open(table.version(version), RecordDataset.ReadOptions.defaults())) {
      requireContents(version, dataset);
    }
  }

  /** Requires the contents of a version from a reader that may have been opened long ago. */
  void requireContents(long version, RecordDataset dataset) {
    List<Row> rows = contents.get(version);
    assertThat(dataset.length()).isEqualTo(rows.size());
    try (Batch batch = dataset.gather(LongStream.range(0, rows.size()).toArray())) {
      for (int i = 0; i < rows.size(); i++) {
        assertThat(batch.value("value", i).getLong(0)).isEqualTo(rows.get(i).value);
        for (FieldSpec field : dataset.schema().fields()) {
          if (field.id() > 1) {
            byte[] found = batch.isAbsent(field.name(), i) ? null : batch.bytes(field.name(), i);
            assertThat(found).isEqualTo(text(rows.get(i), field).orElse(null));
          }
        }
      }
    }
  }
}
