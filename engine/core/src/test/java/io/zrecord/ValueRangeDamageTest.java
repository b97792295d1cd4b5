package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.ValueRange;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.ShardOnDisk;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Statistics that do not fit the values, or are damaged: what a check and a search find. */
final class ValueRangeDamageTest extends RangedTable {
  /** Writes the statistics of a block again, with a checksum that holds. */
  private void change(String field, int block, UnaryOperator<StatisticsRecord> to)
      throws Exception {
    ShardOnDisk shard = onDisk();
    FieldTables tables = shard.field(SCHEMA.fields().get(SCHEMA.ordinal(field)).id());
    byte[] file = Files.readAllBytes(shard.tables());
    int at = (int) tables.statistics().position();
    byte[] section = Arrays.copyOfRange(file, at, at + (int) tables.statistics().bytes());
    UUID id = shard.json().shardId();
    Binding binding = new Binding(id, tables.id());
    StatisticsRecord record = StatisticsRecord.decode(section, block, BLOCK, binding);
    byte[] changed = to.apply(record).encode(binding, block);
    System.arraycopy(changed, 0, file, at + block * changed.length, changed.length);
    Files.write(shard.tables(), file);
  }

  private ShardOnDisk onDisk() {
    return ShardOnDisk.of(directory.resolve(table().latest().shards().get(0).directory()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"row", "part", "count", "score", "name", "note"})
  void aCheckFindsWhatIsTooTight(String field) throws Exception {
    write(new RecordSchema(List.of(SCHEMA.fields().get(SCHEMA.ordinal(field)))), BLOCK + 1000);
    assertThat(findings()).isEmpty();
    record Case(UnaryOperator<StatisticsRecord> change, String problem) {}
    List<Case> cases = List.of(
        new Case(r -> with(r, r.absentCount() + 1, 0, 0, 0), "absent values, but there are"),
        new Case(r -> with(r, r.absentCount(), 1, 0, 0), "NaN, but there are"),
        new Case(r -> with(r, r.absentCount(), 0, 1, 0), "bounds that a value is not within"),
        new Case(r -> with(r, r.absentCount(), 0, 0, -1), "bounds that a value is not within"));
    byte[] sound = Files.readAllBytes(onDisk().tables());
    for (int block = 0; block < 2; block++) {
      for (Case one : cases) {
        change(field, block, one.change);
        assertThat(findings())
            .extracting(Finding::problem)
            .singleElement()
            .asString()
            .startsWith("the statistics of block " + block)
            .contains(one.problem);
        Files.write(onDisk().tables(), sound);
      }
      // Bounds that are said to be those of values are no others.
      change(
          field,
          block,
          r -> new StatisticsRecord(r.absentCount(), r.nanCount(), true, true, 0, 0, -1, -1));
      assertThat(findings())
          .extracting(Finding::problem)
          .containsExactly(
              "the statistics of block " + block + " say bounds that are not those of the values");
      Files.write(onDisk().tables(), sound);
      // Wider bounds lose nothing.
      change(
          field,
          block,
          r -> new StatisticsRecord(r.absentCount(), r.nanCount(), true, false, 0, 0, -1, -1));
      assertThat(findings()).isEmpty();
      Files.write(onDisk().tables(), sound);
    }
  }

  /** Moves the bounds by the last place of the first 8 bytes, or counts more NaN. */
  private static StatisticsRecord with(
      StatisticsRecord r, long absent, long nan, long least, long most) {
    return new StatisticsRecord(
        absent,
        r.nanCount() + nan,
        true,
        nan > 0,
        r.leastHigh() + least,
        r.leastLow(),
        r.mostHigh() + most,
        r.mostLow());
  }

  /** Control of the tests above: a search believes the bounds, so that one too tight loses. */
  @Test
  void aSearchBelievesTheBounds() throws Exception {
    writeAll();
    change(
        "row",
        1,
        r -> new StatisticsRecord(
            r.absentCount(), 0, true, true, r.leastHigh() + 1000, 0, r.mostHigh(), 0));
    OpenShards.shared().clear();
    assertThat(search("row", new ValueRange.Integers(BLOCK, BLOCK + 5)).isEmpty())
        .isTrue();
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      ValueRange range = new ValueRange.Integers(BLOCK + 1, BLOCK + 2);
      assertThatThrownBy(() -> requireNothingLost(
              "control", dataset, SCHEMA.fields().get(0), values -> List.of(range)))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("of field row");
    }
  }

  @Test
  void damageIsFound() throws Exception {
    write(BLOCK + 1000);
    byte[] sound = Files.readAllBytes(onDisk().tables());
    FieldTables field =
        onDisk().field(SCHEMA.fields().get(SCHEMA.ordinal("score")).id());
    for (int at = 0; at < field.statistics().bytes(); at += 5) {
      byte[] damaged = sound.clone();
      damaged[(int) field.statistics().position() + at] ^= 1;
      Files.write(onDisk().tables(), damaged);
      OpenShards.shared().clear();
      assertThatThrownBy(() -> search("score", new ValueRange.Fractions(0, 1)))
          .as("byte %s", at)
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("statistics of field");
    }
    assertThat(findings()).extracting(Finding::field).containsExactly("score");
  }
}
