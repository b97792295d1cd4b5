package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueRange;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.RowChange;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * A search for a range by statistics passes over no record that has a value within the range,
 * whatever became of the table, and passes over blocks that have none. A search by values finds
 * just the records that have one.
 */
final class ValueRangeTest extends RangedTable {
  @Test
  void onlyBlocksThatMayMatchAreFound() {
    writeAll();
    write(10);
    IndexSet middle = IndexSet.range(BLOCK, 2L * BLOCK);
    assertThat(search("row", new ValueRange.Integers(BLOCK, BLOCK + 5))).isEqualTo(middle);
    assertThat(search("row", new ValueRange.Integers(2 * BLOCK, Long.MAX_VALUE)))
        .isEqualTo(IndexSet.range(2L * BLOCK, RECORDS));
    assertThat(search("row", new ValueRange.Integers(1, 1)))
        .isEqualTo(IndexSet.range(0, BLOCK).union(IndexSet.range(RECORDS, RECORDS + 10)));
    assertThat(search("row", new ValueRange.Integers(RECORDS, Long.MAX_VALUE)).isEmpty())
        .isTrue();
    assertThat(search("row", new ValueRange.Integers(5, 4)).count()).isLessThan(RECORDS);
    assertThat(search("score", new ValueRange.Fractions(1e9, Double.POSITIVE_INFINITY))
            .isEmpty())
        .isTrue();
    assertThat(search("flag", new ValueRange.Integers(1, 1)))
        .isEqualTo(IndexSet.range(BLOCK, RECORDS));
    assertThat(search("name", new ValueRange.Texts("\ud83d\ude01", null)).isEmpty())
        .isTrue();
    // Only the first 16 bytes of a text are kept, which these have in common with others.
    ValueRange one = new ValueRange.Texts("record-number-000001", "record-number-000001");
    assertThat(search("note", one).intersect(IndexSet.range(0, BLOCK)).count()).isEqualTo(BLOCK);
  }

  @Test
  void nothingIsLostWhateverBecomesOfTheTable() {
    writeAll();
    write(10);
    assertThat(requireNothingLost()).isGreaterThan(0);

    try (RecordFieldsWriter writer =
        RecordFieldsWriter.rewrite(table(), Set.of("tiny"), WriteOptions.defaults())) {
      RecordAppender values = writer.newAppender(0);
      for (int i = 0; i < RECORDS; i++) {
        values.set("tiny", -i / BLOCK).endRecord();
      }
      writer.commit();
    }
    assertThat(search("tiny", new ValueRange.Integers(-2, -2)))
        .isEqualTo(IndexSet.range(2L * BLOCK, RECORDS));
    assertThat(findings()).isEmpty();

    RowChange change = RowChange.of(table().latest());
    for (int i = 0; i < 500; i++) {
      change.delete(3L * i);
    }
    change.delete(RECORDS);
    change.update(BLOCK - 1, "row", -99L);
    change.update(RECORDS - 2, "score", Double.NaN);
    change.update(7, "name", "zzz");
    change.commit();
    assertThat(search("row", new ValueRange.Integers(-100, -1)).contains(BLOCK - 1 - 500))
        .isTrue();
    assertThat(requireNothingLost()).isGreaterThan(0);
    assertThat(findings()).isEmpty();

    table().promoteField("short", ElementType.I64);
    table().promoteField("count", ElementType.U64);
    table().promoteField("loss", ElementType.F64);
    table().promoteField("day", ElementType.TIMESTAMP_NTZ);
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
    assertThat(search("extra", new ValueRange.Integers(5, 5)).count()).isEqualTo(RECORDS - 491);
    assertThat(search("later", new ValueRange.Integers(5, 5)).isEmpty()).isTrue();
    assertThat(findings()).isEmpty();

    TableRebalance.of(
            RebalancePlan.of(table().latest(), RebalanceOptions.defaults().withAllShards()))
        .run();
    assertThat(table().latest().shards()).hasSize(1);
    assertThat(requireNothingLost()).isGreaterThan(0);
    assertThat(findings()).isEmpty();
  }

  @Test
  void severalRangesAreOneSearch() {
    writeAll();
    ValueRange first = new ValueRange.Integers(1, 1);
    ValueRange last = new ValueRange.Integers(RECORDS - 1, RECORDS);
    assertThat(search("row", first, last))
        .isEqualTo(search("row", first).union(search("row", last)));
    assertThat(search("row", last, first)).isEqualTo(search("row", first, last));
    assertThat(search("row", first, last).count()).isEqualTo(RECORDS - BLOCK);
    assertThat(search("row").isEmpty()).isTrue();
    assertThatThrownBy(() -> search("row", first, new ValueRange.Fractions(0, 1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void absentValuesAreFoundByTheirNumber() {
    RecordSchema schema = RecordSchema.builder()
        .field("row", ElementType.I64)
        .field("sparse", ElementType.I32)
        .field("blob", ElementType.BYTES)
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(directory.toString(), schema, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        appender.set("row", (long) i).set("blob", new byte[] {1});
        if (i < BLOCK || i == 2 * BLOCK) {
          appender.set("sparse", i);
        }
        appender.endRecord();
      }
      writer.commit();
    }
    ValueRange absent = ValueRange.Presence.ABSENT;
    ValueRange present = ValueRange.Presence.PRESENT;
    IndexSet all = IndexSet.range(0, RECORDS);
    assertThat(search("row", absent).isEmpty()).isTrue();
    assertThat(search("row", present)).isEqualTo(all);
    IndexSet sparse = IndexSet.range(0, BLOCK).union(IndexSet.of(2L * BLOCK));
    assertThat(find("sparse", present)).isEqualTo(sparse);
    assertThat(find("sparse", absent)).isEqualTo(all.minus(sparse));
    assertThat(find("sparse", absent, new ValueRange.Integers(5, 5)))
        .isEqualTo(all.minus(sparse).union(IndexSet.of(5)));
    assertThat(find("sparse", absent, present)).isEqualTo(all);
    assertThat(find("sparse").isEmpty()).isTrue();
    assertThat(find("blob", present)).isEqualTo(all);
    assertThat(find("blob", absent).isEmpty()).isTrue();
    assertThat(search("sparse", absent)).isEqualTo(IndexSet.range(BLOCK, RECORDS));
    assertThat(search("sparse", present))
        .isEqualTo(IndexSet.range(0, BLOCK).union(IndexSet.range(2L * BLOCK, RECORDS)));
    assertThat(search("sparse", absent, new ValueRange.Integers(5, 5))).isEqualTo(all);
    assertThat(search("blob", absent)).isEqualTo(all);
    assertThat(search("blob", present)).isEqualTo(all);

    table()
        .addFields(
            List.of(new FieldSpec(1, "later", ElementType.I32, Shape.scalar(), Compression.RAW)));
    RowChange change = RowChange.of(table().latest());
    change.update(3, "row", null);
    change.update(2 * BLOCK - 1, "sparse", 7);
    change.commit();
    assertThat(search("row", absent)).isEqualTo(IndexSet.range(0, BLOCK));
    assertThat(search("sparse", present)).isEqualTo(all);
    assertThat(search("later", absent)).isEqualTo(all);
    assertThat(search("later", present).isEmpty()).isTrue();
    assertThat(find("row", absent)).isEqualTo(IndexSet.of(3));
    assertThat(find("sparse", present)).isEqualTo(sparse.union(IndexSet.of(2L * BLOCK - 1)));
    assertThat(find("later", absent)).isEqualTo(all);
    assertThat(find("later", present).isEmpty()).isTrue();
  }

  private IndexSet find(String field, ValueRange... ranges) {
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      return dataset.indicesThatHave(field, ranges);
    }
  }

  @Test
  void aRangeOfOtherValuesIsRefused() {
    write(10);
    for (String field : List.of("row", "name", "blob")) {
      assertThatThrownBy(() -> search(field, new ValueRange.Fractions(0, 1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + field + "'");
      assertThatThrownBy(() -> find(field, new ValueRange.Fractions(0, 1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + field + "'");
    }
    assertThatThrownBy(() -> new ValueRange.Texts("\ud83d", null))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
