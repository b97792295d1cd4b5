package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.findings.Finding;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes of single records before and after changes of fields. */
final class RowFieldsTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I32)
      .field("numbers", ElementType.I16, Shape.of(-1), Compression.RAW)
      .build();

  @TempDir
  Path directory;

  private Path path;
  private RecordTable table;

  @BeforeEach
  void write() {
    path = directory.resolve("table");
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, options)) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < 8; i++) {
        records.set("number", i).set("numbers", bytes(2, i, -i)).endRecord();
      }
      writer.commit();
    }
    table = RecordTable.at(LocalStorage.at(path));
    RowChange change = RowChange.of(table.latest());
    change.delete(1);
    change.update(3, "number", -30);
    change.update(4, "number", null);
    change.update(5, "numbers", bytes(2, 500, -500, 501));
    change.commit();
  }

  private static byte[] bytes(int width, long... elements) {
    ByteBuffer bytes = ByteBuffer.allocate(width * elements.length).order(ByteOrder.LITTLE_ENDIAN);
    for (long element : elements) {
      for (int i = 0; i < width; i++) {
        bytes.put((byte) (element >> (8 * i)));
      }
    }
    return bytes.array();
  }

  /** Returns the elements of each value, by a list of indices and by ranges. */
  private static List<List<Long>> values(TableSnapshot snapshot, String field, int width) {
    List<List<Long>> values = new ArrayList<>();
    List<List<Long>> byRange = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader(field);
      int length = (int) dataset.length();
      reader.select(LongStream.range(0, length).toArray(), 0, length);
      for (int i = 0; i < length; i++) {
        values.add(value(reader, i, width));
      }
      for (int done = 0; done < length; ) {
        int taken = reader.selectRange(done, length - done, 1 + 3 * width);
        for (int i = 0; i < taken; i++) {
          byRange.add(value(reader, i, width));
        }
        done += taken;
      }
    }
    assertThat(byRange).isEqualTo(values);
    return values;
  }

  private static List<Long> value(FieldReader reader, int i, int width) {
    if (reader.isAbsent(i)) {
      return List.of(Long.MIN_VALUE);
    }
    byte[] bytes = reader.value(i);
    List<Long> elements = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += width) {
      long element = bytes[at + width - 1];
      for (int k = width - 2; k >= 0; k--) {
        element = (element << 8) | (bytes[at + k] & 0xff);
      }
      elements.add(element);
    }
    return elements;
  }

  private static List<List<Long>> each(long... values) {
    return Arrays.stream(values).mapToObj(List::of).toList();
  }

  private void requireSound() {
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(path.toString()).run(findings::add).isSound())
        .as("%s", findings)
        .isTrue();
  }

  @Test
  void changedValuesArePromotedLikeTheOthers() {
    assertThat(values(table.latest(), "number", 4))
        .isEqualTo(each(0, 2, -30, Long.MIN_VALUE, 5, 6, 7));
    TableSnapshot promoted = table.promoteField("number", ElementType.I64);
    assertThat(values(promoted, "number", 8)).isEqualTo(each(0, 2, -30, Long.MIN_VALUE, 5, 6, 7));
    TableSnapshot lists = table.promoteField("numbers", ElementType.I32);
    assertThat(values(lists, "numbers", 4))
        .isEqualTo(List.of(
            List.of(0L, 0L),
            List.of(2L, -2L),
            List.of(3L, -3L),
            List.of(4L, -4L),
            List.of(500L, -500L, 501L),
            List.of(6L, -6L),
            List.of(7L, -7L)));
    requireSound();
  }

  @Test
  void aValueOfThePromotedTypeIsSetBesideThoseOfTheTypeBefore() {
    table.promoteField("number", ElementType.I64);
    RowChange change = RowChange.of(table.latest());
    change.update(0, "number", 1L << 40);
    change.delete(5);
    TableSnapshot after = change.commit();
    assertThat(values(after, "number", 8)).isEqualTo(each(1L << 40, 2, -30, Long.MIN_VALUE, 5, 7));
    requireSound();
  }

  @Test
  void aFieldWithAnInitialDefaultIsChanged() {
    FieldSpec added = new FieldSpec(1, "added", ElementType.I64, Shape.scalar(), Compression.RAW)
        .withRules(FieldRules.NONE.withInitial(bytes(8, 77)));
    table.addFields(List.of(added));
    RowChange change = RowChange.of(table.latest());
    change.update(2, "added", 5L);
    change.update(6, "added", null);
    TableSnapshot after = change.commit();
    assertThat(values(after, "added", 8)).isEqualTo(each(77, 77, 5, 77, 77, 77, Long.MIN_VALUE));
    requireSound();
  }

  @Test
  void aChangeFollowsAChangeOfOtherFields() {
    RowChange renamed = RowChange.of(table.latest());
    renamed.update(0, "number", 100);
    RowChange dropped = RowChange.of(table.latest());
    dropped.isolation(TableChange.Isolation.SNAPSHOT);
    dropped.update(0, "numbers", bytes(2, 1));
    table.renameField("number", "count");
    table.dropField("numbers");
    assertThat(values(renamed.commit(), "count", 4))
        .isEqualTo(each(100, 2, -30, Long.MIN_VALUE, 5, 6, 7));
    assertThatThrownBy(dropped::commit).hasMessageContaining("removed or changed");
    requireSound();
  }

  @Test
  void aNewFieldOfAShardWithAPatchHasAValueForEachRecordThatIsLeft() {
    RowChange deletions = RowChange.of(table.latest());
    deletions.delete(0);
    deletions.delete(6);
    deletions.commit();
    FieldSpec added = new FieldSpec(1, "added", ElementType.I64, Shape.scalar(), Compression.RAW)
        .withRules(FieldRules.NONE.withInitial(bytes(8, 0)).withNullable(false));
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordFieldsWriter writer = RecordFieldsWriter.add(table, List.of(added), options)) {
      RecordAppender values = writer.newAppender(0);
      for (long i = 0; i < 5; i++) {
        values.set("added", 100 + i).endRecord();
      }
      assertThat(values.recordCount()).isEqualTo(5);
      writer.finish(0);
      writer.commit();
    }
    TableSnapshot after = table.latest();
    assertThat(values(after, "added", 8)).isEqualTo(each(100, 101, 102, 103, 104));
    assertThat(values(after, "number", 4)).isEqualTo(each(2, -30, Long.MIN_VALUE, 5, 6));
    requireSound();
    RowChange change = RowChange.of(after);
    change.delete(1);
    change.update(2, "added", 7L);
    assertThat(values(change.commit(), "added", 8)).isEqualTo(each(100, 7, 103, 104));
    requireSound();
  }

  @Test
  void aNewFieldNeedsAValueForEachRecordThatIsLeft() {
    FieldSpec added = new FieldSpec(1, "added", ElementType.I64, Shape.scalar(), Compression.RAW);
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordFieldsWriter writer = RecordFieldsWriter.add(table, List.of(added), options)) {
      RecordAppender values = writer.newAppender(0);
      for (long i = 0; i < 6; i++) {
        values.set("added", i).endRecord();
      }
      assertThatThrownBy(() -> writer.finish(0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("has 7 records, but 6 were written");
    }
  }

  @Test
  void fieldsOfAShardWithAPatchAreNotRewritten() {
    try (RecordFieldsWriter writer =
        RecordFieldsWriter.rewrite(table, java.util.Set.of("number"), WriteOptions.defaults())) {
      assertThatThrownBy(() -> writer.newAppender(0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("rebalance --all");
    }
  }
}
