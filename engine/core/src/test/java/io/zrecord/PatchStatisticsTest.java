package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueRange;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A search for a range takes a block for its values in the tables, or for those in the patch, and
 * for nothing else.
 */
final class PatchStatisticsTest {
  private static final int BLOCK = StatisticsRecord.SLOTS;
  private static final int RECORDS = 2 * BLOCK + 1000;
  private static final IndexSet FIRST = IndexSet.range(0, BLOCK);
  private static final IndexSet SECOND = IndexSet.range(BLOCK, 2L * BLOCK);
  private static final IndexSet LAST = IndexSet.range(2L * BLOCK, RECORDS);

  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("row", ElementType.I64)
      .field("score", ElementType.F64)
      .field("loss", ElementType.F32)
      .field("name", ElementType.UTF8)
      .field("count", ElementType.U16)
      .build();

  private final long seed = Budget.seed();
  private final Random random = Budget.random();

  @TempDir(factory = DirectoryInMemory.class)
  private static Path shared;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  /** Writes {@value #RECORDS} records once, and gives each test its own copy. */
  private void write() {
    Path table = shared.resolve("table");
    if (!Files.exists(table)) {
      write(table);
    }
    Damage.copy(table, directory);
  }

  private static void write(Path table) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(table.toString(), SCHEMA, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        appender
            .set("row", (long) i)
            .set("score", i * 0.5)
            .set("loss", -1f * i)
            .set("name", String.format("name-%06d", i))
            .set("count", i / 10)
            .endRecord();
      }
      writer.commit();
    }
  }

  private Storage storage() {
    return LocalStorage.at(directory);
  }

  private RecordTable table() {
    return RecordTable.at(storage());
  }

  private void update(long index, String field, Object value) {
    RowChange change = RowChange.of(table().latest());
    change.update(index, field, value);
    change.commit();
  }

  private IndexSet rows(long least, long most) {
    return search("row", new ValueRange.Integers(least, most));
  }

  private IndexSet search(String field, ValueRange range) {
    OpenShards.shared().clear();
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      return dataset.indicesThatMayHave(field, range);
    }
  }

  private List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    OpenShards.shared().clear();
    DatasetCheck.of(directory.toString()).run(findings::add);
    return findings;
  }

  private ShardSummary shard() {
    return table().latest().shards().get(0);
  }

  private PatchFile patch() {
    return PatchFile.open(storage(), shard(), Objects.requireNonNull(shard().patch()));
  }

  private List<StatisticsRecord> statistics(String field) {
    FieldSpec spec = SCHEMA.fields().get(SCHEMA.ordinal(field));
    PatchFile patch = patch();
    return patch.statistics(
        spec.id(), Objects.requireNonNull(patch.changed(spec)).slots());
  }

  @Test
  void aBlockWithChangedValuesIsTakenForValuesWithinTheRangeOnly() {
    write();
    update(7, "row", 10L * RECORDS);
    update(BLOCK + 7, "row", -5L);
    assertThat(rows(2L * BLOCK, RECORDS)).isEqualTo(LAST);
    assertThat(rows(10L * RECORDS, 10L * RECORDS)).isEqualTo(FIRST);
    assertThat(rows(-9, -1)).isEqualTo(SECOND);
    assertThat(rows(Long.MIN_VALUE, -6).isEmpty()).isTrue();
    assertThat(rows(0, 5)).isEqualTo(FIRST);
    assertThat(findings()).isEmpty();
  }

  @Test
  void absentValuesAndThoseThatAreNotNumbers() {
    write();
    update(7, "score", null);
    update(BLOCK + 1, "score", Double.NaN);
    assertThat(search("score", new ValueRange.Fractions(Double.NaN, Double.NaN)))
        .isEqualTo(SECOND);
    assertThat(search("score", new ValueRange.Fractions(-9, -1)).isEmpty()).isTrue();
    update(2 * BLOCK, "score", -0.0);
    assertThat(search("score", new ValueRange.Fractions(0, 0))).isEqualTo(FIRST.union(LAST));
    assertThat(statistics("score")).allMatch(StatisticsRecord::isExact);
    assertThat(statistics("score").get(0).absentCount()).isEqualTo(1);
    assertThat(statistics("score").get(1).nanCount()).isEqualTo(1);
    assertThat(findings()).isEmpty();
  }

  @Test
  void aPatchWithoutOneOfTheValuesBeforeSaysThatItsBoundsAreNotExact() {
    write();
    update(7, "row", -7L);
    update(8, "row", -70L);
    assertThat(statistics("row")).singleElement().matches(StatisticsRecord::isExact);
    update(8, "row", -8L);
    assertThat(statistics("row")).singleElement().matches(record -> !record.isExact());
    assertThat(rows(-8, -8)).isEqualTo(FIRST);
    assertThat(findings()).isEmpty();
    RowChange change = RowChange.of(table().latest());
    change.delete(7);
    change.delete(8);
    change.update(9, "row", -9L);
    change.commit();
    // Nothing is left of the values before.
    assertThat(statistics("row")).singleElement().matches(StatisticsRecord::isExact);
    assertThat(rows(-8, -7).isEmpty()).isTrue();
    assertThat(findings()).isEmpty();
  }

  @Test
  void aFieldWithoutTablesIsSearchedInThePatch() {
    write();
    table()
        .addFields(List.of(
            new FieldSpec(
                1,
                "extra",
                ElementType.I32,
                Shape.scalar(),
                Compression.RAW,
                Map.of(),
                new FieldRules(true, "05000000", null, "")),
            new FieldSpec(1, "later", ElementType.I32, Shape.scalar(), Compression.RAW)));
    update(BLOCK, "later", 6);
    update(BLOCK, "extra", 6);
    assertThat(search("later", new ValueRange.Integers(6, 6))).isEqualTo(SECOND);
    assertThat(search("later", new ValueRange.Integers(5, 5)).isEmpty()).isTrue();
    assertThat(search("extra", new ValueRange.Integers(6, 6))).isEqualTo(SECOND);
    assertThat(search("extra", new ValueRange.Integers(5, 5)).count()).isEqualTo(RECORDS);
    assertThat(search("extra", new ValueRange.Integers(7, 7)).isEmpty()).isTrue();
  }

  @Test
  void aPromotedFieldIsFoundByValuesOfBothTypes() {
    write();
    update(7, "loss", 3f);
    table().promoteField("loss", ElementType.F64);
    assertThat(search("loss", new ValueRange.Fractions(1, 4))).isEqualTo(FIRST);
    update(BLOCK, "loss", 7.5);
    assertThat(search("loss", new ValueRange.Fractions(7, 8)).contains(BLOCK)).isTrue();
    assertThat(search("loss", new ValueRange.Fractions(3, 3)).contains(7)).isTrue();
    assertThat(findings()).isEmpty();
  }

  private Object value(String field) {
    int rare = random.nextInt(8);
    return switch (field) {
      case "row" -> rare == 0 ? Long.MIN_VALUE : random.nextLong(3L * RECORDS) - RECORDS;
      case "count" -> random.nextInt(1 << 16);
      case "score" ->
        switch (rare) {
          case 0 -> Double.NaN;
          case 1 -> -0.0;
          case 2 -> Double.NEGATIVE_INFINITY;
          default -> random.nextDouble() * RECORDS;
        };
      case "loss" -> rare == 0 ? Float.NaN : (float) random.nextGaussian() * RECORDS;
      default -> String.format("name-%06d", random.nextInt(3 * RECORDS));
    };
  }

  private List<ValueRange> ranges(String field) {
    List<ValueRange> ranges = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Object a = value(field);
      Object b = i % 2 == 0 ? a : value(field);
      ranges.add(
          switch (field) {
            case "row", "count" ->
              new ValueRange.Integers(((Number) a).longValue(), ((Number) b).longValue());
            case "name" -> new ValueRange.Texts((String) a, (String) b);
            default ->
              new ValueRange.Fractions(((Number) a).doubleValue(), ((Number) b).doubleValue());
          });
    }
    return ranges;
  }

  @Test
  void randomChangesLoseNothing() {
    write();
    long passed = 0;
    int rounds = Math.max(2, Budget.of(6));
    for (int round = 0; round < rounds; round++) {
      RowChange change = RowChange.of(table().latest());
      long length = table().latest().length();
      Set<Long> gone = new HashSet<>();
      for (int i = 0; i < 20; i++) {
        long index = round % 2 == 0 ? random.nextInt(2 * BLOCK) : random.nextLong(length);
        gone.add(index);
        change.delete(index);
      }
      for (int i = 0; i < 60; i++) {
        FieldSpec field = SCHEMA.fields().get(random.nextInt(SCHEMA.fields().size()));
        long index = random.nextInt(3) > 0 ? random.nextInt(50) : random.nextLong(length);
        if (!gone.contains(index)) {
          change.update(index, field.name(), random.nextInt(9) == 0 ? null : value(field.name()));
        }
      }
      change.commit();
      assertThat(findings()).as("seed %s", seed).isEmpty();
      OpenShards.shared().clear();
      try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
        for (FieldSpec field : SCHEMA.fields()) {
          passed += RangedTable.requireNothingLost(
              "seed " + seed, dataset, field, values -> ranges(field.name()));
        }
      }
    }
    assertThat(passed).isGreaterThan(0);
  }

  /** Writes the first record of statistics of a field in the patch again. */
  private void change(String field, UnaryOperator<StatisticsRecord> to) throws Exception {
    PatchFile patch = patch();
    PatchField stored =
        patch.json().field(SCHEMA.fields().get(SCHEMA.ordinal(field)).id());
    StatisticsRecord record = statistics(field).get(0);
    byte[] changed = to.apply(record).encode(new Binding(patch.json().fileId(), stored.id()), 0);
    byte[] bytes = Files.readAllBytes(path());
    System.arraycopy(changed, 0, bytes, (int) stored.statistics().position(), changed.length);
    Files.write(path(), bytes);
  }

  private Path path() {
    return directory
        .resolve(shard().directory())
        .resolve(Objects.requireNonNull(shard().patch()).fileName());
  }

  private static StatisticsRecord with(
      StatisticsRecord r, long absent, long nan, long least, long most) {
    return new StatisticsRecord(
        r.absentCount() + absent,
        r.nanCount() + nan,
        true,
        false,
        r.leastHigh() + least,
        r.leastLow(),
        r.mostHigh() + most,
        r.mostLow());
  }

  /** Control: a search believes the patch, so that a bound too tight loses; a check finds it. */
  @Test
  void aCheckFindsWhatIsTooTight() throws Exception {
    write();
    RowChange change = RowChange.of(table().latest());
    change.update(7, "score", -100.0);
    change.update(8, "score", -10.0);
    change.update(9, "score", Double.NaN);
    change.update(10, "score", null);
    change.commit();
    byte[] sound = Files.readAllBytes(path());
    ValueRange range = new ValueRange.Fractions(-100, -100);
    assertThat(search("score", range)).isEqualTo(FIRST);
    record Case(UnaryOperator<StatisticsRecord> change, String problem) {}
    for (Case one : List.of(
        new Case(r -> with(r, 1, 0, 0, 0), "absent values, but there are"),
        new Case(r -> with(r, 0, -1, 0, 0), "NaN, but there are"),
        new Case(r -> with(r, 0, 0, 1, 0), "bounds that a value is not within"),
        new Case(r -> with(r, 0, 0, 0, -1), "bounds that a value is not within"))) {
      change("score", one.change);
      assertThat(findings())
          .extracting(Finding::problem)
          .singleElement()
          .asString()
          .contains(one.problem);
      Files.write(path(), sound);
    }
    change("score", r -> with(r, 0, 0, 1, 0));
    assertThat(search("score", range).isEmpty()).isTrue();
    Files.write(path(), sound);
    // Wider bounds lose nothing.
    change("score", r -> with(r, 0, 0, -1, 1));
    assertThat(findings()).isEmpty();
    assertThat(search("score", range)).isEqualTo(FIRST);
  }

  @Test
  void damageIsFound() throws Exception {
    write();
    update(7, "name", "a");
    byte[] sound = Files.readAllBytes(path());
    PatchField field =
        patch().json().field(SCHEMA.fields().get(SCHEMA.ordinal("name")).id());
    ValueRange range = new ValueRange.Texts("a", "b");
    for (int at = 0; at < field.statistics().bytes(); at += 5) {
      byte[] damaged = sound.clone();
      damaged[(int) field.statistics().position() + at] ^= 1;
      Files.write(path(), damaged);
      assertThatThrownBy(() -> search("name", range))
          .as("byte %s", at)
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("statistics of field");
    }
    // Who looks for no range does not read the statistics.
    OpenShards.shared().clear();
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      var reader = dataset.reader("name");
      reader.select(new long[] {7}, 0, 1);
      assertThat(Arrays.equals(reader.value(0), "a".getBytes(StandardCharsets.US_ASCII)))
          .isTrue();
    }
    assertThat(findings()).extracting(Finding::field).containsExactly("name");
  }
}
