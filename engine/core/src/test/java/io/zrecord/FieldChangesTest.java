package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceGroup;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fields are added, rewritten, renamed and dropped without a change of any other file. */
final class FieldChangesTest {
  private static final int RECORDS = 3000;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("image", ElementType.BYTES)
      .field("label", ElementType.I32)
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD))
      .build();
  private static final FieldSpec SCORE =
      new FieldSpec(1, "score", ElementType.F32, Shape.scalar(), Compression.RAW);
  private static final WriteOptions OPTIONS = WriteOptions.defaults();

  @TempDir
  Path directory;

  private Path path;
  private RecordTable table;
  private Map<String, Long> before;

  @BeforeEach
  void write() {
    path = directory.resolve("table");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, OPTIONS)) {
      append(writer, 0, RECORDS);
      append(writer, RECORDS, 10);
      writer.commit();
    }
    table = RecordTable.at(LocalStorage.at(path));
    before = hashes();
  }

  private static void append(RecordDatasetWriter writer, int from, int count) {
    RecordAppender records = writer.newAppender();
    for (int i = from; i < from + count; i++) {
      records.set("image", image(i)).set("label", i);
      if (i % 3 != 0) {
        records.set("text", "text " + i);
      }
      records.endRecord();
    }
  }

  private static byte[] image(int i) {
    byte[] image = new byte[i % 700];
    Arrays.fill(image, (byte) i);
    return image;
  }

  @Test
  void aFieldIsAddedWithValues() {
    TableSnapshot added = addScores(1);
    assertThat(added.operation()).isEqualTo("addFields");
    assertThat(added.schema().find("score").orElseThrow().id()).isEqualTo(4);
    assertThat(added.shards().get(0).tables()).hasSize(2);
    assertThat(added.shards().get(0).tables().get(1).fieldIds()).containsExactly(4);
    requireUntouched();
    List<byte @Nullable []> scores = values(added, "score");
    for (int i = 0; i < RECORDS; i++) {
      assertThat(scores.get(i)).isEqualTo(i % 5 == 0 ? null : floats(i));
    }
    // The second shard lacks the field.
    assertThat(value("score", RECORDS)).isNull();
    requireRecords();
    assertThat(value("label", 37)).isEqualTo(ints(37));
    assertThat(problems()).isEmpty();
    // The versions before do not have the field.
    assertThat(table.version(0).schema()).isEqualTo(SCHEMA);
  }

  /** Gives every record of the first shards but each fifth a score. */
  private TableSnapshot addScores(int shards) {
    try (RecordFieldsWriter writer = RecordFieldsWriter.add(table, List.of(SCORE), OPTIONS)) {
      for (int shard = 0; shard < shards; shard++) {
        RecordAppender values = writer.newAppender(shard);
        long first = writer.base().firstIndex(shard);
        for (long i = first; i < first + writer.base().shards().get(shard).length(); i++) {
          if (i % 5 != 0) {
            values.set("score", floats(i));
          }
          values.endRecord();
        }
        writer.finish(shard);
      }
      return writer.commit();
    }
  }

  @Test
  void aFieldIsRewritten() {
    rewriteLabels();
    requireUntouched();
    TableSnapshot latest = table.latest();
    assertThat(latest.operation()).isEqualTo("rewriteField");
    ShardSummary shard = latest.shards().get(0);
    assertThat(shard.tables().stream().map(TablesRef::fieldIds))
        .containsExactly(List.of(1, 3), List.of(2));
    List<byte @Nullable []> labels = values(latest, "label");
    List<byte @Nullable []> before = values(table.version(0), "label");
    for (int i = 0; i < RECORDS; i++) {
      assertThat(labels.get(i)).isEqualTo(ints(-i));
      assertThat(before.get(i)).isEqualTo(ints(i));
    }
    assertThat(value("label", RECORDS)).isEqualTo(ints(RECORDS));
    requireRecords();
    assertThat(problems()).isEmpty();
  }

  private void rewriteLabels() {
    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of("label"), OPTIONS)) {
      RecordAppender values = writer.newAppender(0);
      for (int i = 0; i < RECORDS; i++) {
        values.set("label", -i).endRecord();
      }
      writer.commit();
    }
  }

  @Test
  void filesThatNoFieldNeedsAreNoLongerNamed() {
    addScores(2);
    List<ChunkFile> afterAdd = table.latest().shards().get(0).chunks();
    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of("score"), OPTIONS)) {
      RecordAppender values = writer.newAppender(0);
      for (int i = 0; i < RECORDS; i++) {
        values.set("score", floats(2L * i)).endRecord();
      }
      writer.commit();
    }
    ShardSummary shard = table.latest().shards().get(0);
    assertThat(shard.tables()).hasSize(2);
    assertThat(shard.chunks()).hasSize(2);
    assertThat(shard.chunks()).isNotEqualTo(afterAdd).contains(afterAdd.get(0));
    assertThat(value("score", 7)).isEqualTo(floats(14));
    assertThat(value("score", RECORDS + 1)).isEqualTo(floats(RECORDS + 1));
  }

  @Test
  void aFieldWithoutValuesHasItsInitialDefault() {
    FieldSpec split = new FieldSpec(1, "split", ElementType.UTF8, Shape.scalar(), Compression.RAW)
        .withRules(FieldRules.NONE
            .withNullable(false)
            .withInitial("train".getBytes(StandardCharsets.UTF_8))
            .withWrite("test".getBytes(StandardCharsets.UTF_8))
            .withComment("where it goes"));
    FieldSpec weight = new FieldSpec(
            2, "weight", ElementType.F64, new Shape(List.of(2)), Compression.RAW)
        .withRules(FieldRules.NONE.withInitial(
            new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
    table.addFields(List.of(split, weight, SCORE));
    requireUntouched();
    assertThat(hashes().keySet().stream().filter(name -> name.startsWith("shard")))
        .containsExactlyElementsOf(
            before.keySet().stream().filter(name -> name.startsWith("shard")).toList());
    assertThat(value("split", 5)).isEqualTo("train".getBytes(StandardCharsets.UTF_8));
    assertThat(value("weight", 5)).hasSize(16).startsWith(1, 2);
    assertThat(value("score", 5)).isNull();
    RecordSchema schema = table.latest().schema();
    assertThat(schema.find("split").orElseThrow()).isEqualTo(split.withId(4));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), schema, OPTIONS)) {
      RecordAppender records = writer.newAppender();
      records.set("label", 1).endRecord();
      records.set("split", "val").endRecord();
      writer.commit();
    }
    assertThat(value("split", RECORDS + 10)).isEqualTo("test".getBytes(StandardCharsets.UTF_8));
    assertThat(value("split", RECORDS + 11)).isEqualTo("val".getBytes(StandardCharsets.UTF_8));
    assertThat(value("weight", RECORDS + 10)).isNull();
    // All of it in one range, over shards with the field and without.
    assertThat(range("split", RECORDS + 8, 4)).containsExactly("train", "train", "test", "val");
    assertThat(problems()).isEmpty();
  }

  @Test
  void anAbsentValueIsRefusedWhereNoneMayBe() {
    FieldSpec strict = SCORE.withRules(FieldRules.NONE.withNullable(false));
    assertThatThrownBy(() -> table.addFields(List.of(strict)))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("initial default");
    table.addFields(List.of(strict.withRules(strict.rules().withInitial(floats(0)))));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), table.latest().schema(), OPTIONS)) {
      RecordAppender records = writer.newAppender();
      assertThatThrownBy(() -> records.set("label", 1).endRecord())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("'score'");
    }
    table.redefineField("score", field -> field.withRules(field.rules().withNullable(true)));
    assertThatThrownBy(() -> table.redefineField(
            "score", field -> field.withRules(field.rules().withNullable(false))))
        .isInstanceOf(SchemaMismatchException.class);
    assertThatThrownBy(() -> table.redefineField(
            "score", field -> field.withRules(field.rules().withInitial(floats(1)))))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("initial default");
  }

  @Test
  void aFieldIsRenamedAndDropped() {
    table.renameField("label", "class");
    requireUntouched();
    assertThat(value("class", 17)).isEqualTo(ints(17));
    assertThatThrownBy(() -> value("label", 17)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> table.renameField("class", "text"))
        .isInstanceOf(SchemaMismatchException.class);
    table.dropField("class");
    requireUntouched();
    assertThat(table.latest().schema().fields()).hasSize(2);
    assertThat(value(table.version(1), "class", 17)).isEqualTo(ints(17));
    // A field of the old name is another field.
    table.addFields(
        List.of(new FieldSpec(1, "label", ElementType.I32, Shape.scalar(), Compression.RAW)));
    assertThat(table.latest().schema().find("label").orElseThrow().id()).isEqualTo(4);
    assertThat(value("label", 17)).isNull();
    assertThat(problems()).isEmpty();
  }

  @Test
  void aPromotedFieldIsConvertedByReaders() {
    table.promoteField("label", ElementType.I64);
    table.promoteField("text", ElementType.BYTES);
    requireUntouched();
    assertThat(value("label", 17)).isEqualTo(new byte[] {17, 0, 0, 0, 0, 0, 0, 0});
    assertThat(value("text", 17)).isEqualTo("text 17".getBytes(StandardCharsets.UTF_8));
    assertThat(value(table.version(0), "label", 17)).isEqualTo(ints(17));
    assertThatThrownBy(() -> table.promoteField("label", ElementType.F64))
        .isInstanceOf(SchemaMismatchException.class);
    assertThat(problems()).isEmpty();
  }

  @Test
  void aRebalancePutsAllFieldsIntoOneFile() {
    addScores(2);
    rewriteLabels();
    table.addFields(
        List.of(new FieldSpec(1, "kind", ElementType.I32, Shape.scalar(), Compression.RAW)
            .withRules(FieldRules.NONE.withInitial(ints(9)).withWrite(ints(8)))));
    table.promoteField("label", ElementType.I64);
    rebalance();
    TableSnapshot latest = table.latest();
    assertThat(latest.operation()).isEqualTo("rebalance");
    assertThat(latest.shards()).allMatch(shard -> shard.tables().size() == 1);
    assertThat(value("kind", 3)).isEqualTo(ints(9));
    assertThat(value("label", 3)).isEqualTo(new byte[] {-3, -1, -1, -1, -1, -1, -1, -1});
    assertThat(value("score", 5)).isNull();
    assertThat(value("score", 6)).isEqualTo(floats(6));
    requireRecords();
    assertThat(problems()).isEmpty();
  }

  @Test
  void aRebalanceFindsManyFilesAndDroppedFields() {
    RebalanceOptions options = RebalanceOptions.defaults();
    assertThat(reasons(options)).containsExactly(RebalanceGroup.Reason.SMALL);
    table.dropField("image");
    assertThat(reasons(options))
        .containsExactlyInAnyOrder(RebalanceGroup.Reason.SMALL, RebalanceGroup.Reason.SPARSE);
    for (int i = 0; i < 8; i++) {
      assertThat(reasons(options)).doesNotContain(RebalanceGroup.Reason.FILES);
      try (RecordFieldsWriter writer =
          RecordFieldsWriter.add(table, List.of(SCORE.withName("score" + i)), OPTIONS)) {
        RecordAppender values = writer.newAppender(0);
        for (int k = 0; k < RECORDS; k++) {
          values.endRecord();
        }
        writer.commit();
      }
    }
    assertThat(reasons(options)).contains(RebalanceGroup.Reason.FILES);
    rebalance();
    // One shard is left, which has no neighbour to be joined with.
    assertThat(RebalancePlan.of(table.latest(), options).groups()).isEmpty();
    assertThat(value("label", 17)).isEqualTo(ints(17));
  }

  private Set<RebalanceGroup.Reason> reasons(RebalanceOptions options) {
    Set<RebalanceGroup.Reason> reasons = EnumSet.noneOf(RebalanceGroup.Reason.class);
    RebalancePlan.of(table.latest(), options)
        .groups()
        .forEach(group -> reasons.addAll(group.reasons()));
    return reasons;
  }

  private void rebalance() {
    RebalancePlan plan =
        RebalancePlan.of(table.latest(), RebalanceOptions.defaults().withAllShards());
    assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
  }

  @Test
  void whatWasNotCommittedIsDeleted() {
    try (RecordFieldsWriter writer = RecordFieldsWriter.add(table, List.of(SCORE), OPTIONS)) {
      RecordAppender values = writer.newAppender(1);
      for (int i = 0; i < 10; i++) {
        values.set("score", floats(i)).endRecord();
      }
      writer.finish(1);
      RecordAppender unfinished = writer.newAppender(0);
      unfinished.set("score", floats(1)).endRecord();
      assertThatThrownBy(() -> writer.finish(0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("3000 records, but 1");
    }
    assertThat(hashes()).isEqualTo(before);
  }

  @Test
  void anotherChangeOfFieldsIsAConflict() {
    try (RecordFieldsWriter writer = RecordFieldsWriter.add(table, List.of(SCORE), OPTIONS)) {
      RecordAppender values = writer.newAppender(1);
      for (int i = 0; i < 10; i++) {
        values.endRecord();
      }
      table.addFields(List.of(SCORE));
      assertThatThrownBy(writer::commit).isInstanceOf(CommitConflictException.class);
    }
    requireUntouched();
  }

  @Test
  void anAppendThatWasPlannedBeforeFollows() {
    RecordSchema planned = table.latest().schema();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), planned, OPTIONS)) {
      append(writer, RECORDS + 10, 5);
      table.renameField("label", "class");
      table.promoteField("class", ElementType.I64);
      table.addFields(List.of(SCORE));
      writer.commit();
    }
    assertThat(value("class", RECORDS + 11)).startsWith(ints(RECORDS + 11)).hasSize(8);
    assertThat(value("score", RECORDS + 11)).isNull();
    assertThat(table.latest().schema().fields()).hasSize(4);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), table.latest().schema(), OPTIONS)) {
      writer.newAppender().set("text", "lost").endRecord();
      table.dropField("text");
      assertThatThrownBy(writer::commit)
          .isInstanceOf(CommitConflictException.class)
          .hasMessageContaining("'text'");
    }
    assertThat(problems()).isEmpty();
  }

  private void requireUntouched() {
    Map<String, Long> now = hashes();
    before.forEach((name, hash) -> {
      if (!name.equals("manifest/latest")) {
        assertThat(now).as(name).containsEntry(name, hash);
      }
    });
  }

  private Map<String, Long> hashes() {
    Map<String, Long> hashes = new TreeMap<>();
    try (Stream<Path> files = Files.walk(path)) {
      files.filter(Files::isRegularFile).forEach(file -> {
        CRC32C crc = new CRC32C();
        try {
          crc.update(Files.readAllBytes(file));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        hashes.put(path.relativize(file).toString(), crc.getValue());
      });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return hashes;
  }

  private void requireRecords() {
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      for (int i = 0; i < RECORDS; i += 37) {
        try (Batch batch = dataset.gather(new long[] {i}, "image", "text")) {
          assertThat(batch.bytes("image", 0)).isEqualTo(image(i));
          assertThat(batch.isAbsent("text", 0)).isEqualTo(i % 3 == 0);
        }
      }
    }
  }

  private byte @Nullable [] value(String field, long index) {
    return value(table.latest(), field, index);
  }

  private static byte @Nullable [] value(TableSnapshot version, String field, long index) {
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      return value(dataset.reader(field), index);
    }
  }

  private static byte @Nullable [] value(FieldReader reader, long index) {
    reader.select(new long[] {index}, 0, 1);
    byte[] gathered = reader.isAbsent(0) ? null : reader.value(0);
    assertThat(reader.selectRange(index, 1, 1 << 20)).isEqualTo(1);
    byte[] ranged = reader.isAbsent(0) ? null : reader.value(0);
    assertThat(ranged).isEqualTo(gathered);
    return gathered;
  }

  /** Returns the first values of a field, each read by itself. */
  private static List<byte @Nullable []> values(TableSnapshot version, String field) {
    List<byte @Nullable []> values = new ArrayList<>();
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      FieldReader reader = dataset.reader(field);
      for (int i = 0; i < RECORDS; i++) {
        values.add(value(reader, i));
      }
    }
    return values;
  }

  private List<String> range(String field, long first, int count) {
    List<String> values = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      var reader = dataset.reader(field);
      for (int done = 0; done < count; ) {
        int taken = reader.selectRange(first + done, count - done, 1 << 20);
        for (int i = 0; i < taken; i++) {
          values.add(new String(reader.value(i), StandardCharsets.UTF_8));
        }
        done += taken;
      }
    }
    return values;
  }

  private List<String> problems() {
    List<String> problems = new ArrayList<>();
    DatasetCheck.of(path.toString()).allVersions().run(finding -> problems.add(finding.toString()));
    return problems;
  }

  private static byte[] ints(int value) {
    return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array();
  }

  private static byte[] floats(long value) {
    return ByteBuffer.allocate(4)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putFloat((float) value)
        .array();
  }
}
