package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ChunkFile;
import io.zrecord.testing.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the tables of variable runs are made of. */
final class VariableTablesTest {
  private static final UUID SHARD = new UUID(1, 2);
  private static final UUID FILE = new UUID(3, 4);
  private static final long LENGTH = 50_000;
  private static final long JSON_AT = 4_000_000;
  private static final Binding BINDING = new Binding(SHARD, 7);
  private static final List<ChunkFile> CHUNKS =
      List.of(ChunkFile.of(new UUID(5, 6), 400_000), ChunkFile.of(new UUID(7, 8), 300_000));

  /** Runs with 118 units of 256 values, and with 20,000 of one. */
  private static final long BLOCKS = VariableBlocks.runBytes(30_000, 256);

  private static final RunRecord FIRST = RunRecord.variable(0, 0, 30_000, 64, 399_936, 0, 0, 256);
  private static final RunRecord SECOND =
      RunRecord.variable(1, 30_000, 20_000, 128, 77, 118, BLOCKS, 1);
  private static final long OFFSETS = BLOCKS + VariableBlocks.runBytes(20_000, 1);

  private static FieldTables field(
      List<RunRecord> runs, ValueAlignment alignment, Section units, long absent, long offsets) {
    byte[] list = RunRecord.encode(runs);
    return new FieldTables(
        7,
        ElementType.UTF8,
        Shape.scalar(),
        Compression.RAW,
        absent,
        400_013,
        units.isPresent() ? 4096 : 0,
        alignment,
        0,
        new Section(64, list.length),
        BINDING.bind(Binding.Kind.RUNS, 0, Crc32c.of(list)),
        units,
        Section.NONE,
        offsets == 0 ? Section.NONE : new Section(4096, offsets),
        Section.NONE);
  }

  private static FieldTables field(List<RunRecord> runs, long offsets) {
    return field(runs, ValueAlignment.NONE, Section.NONE, 0, offsets);
  }

  private static TablesJson json(boolean hasChecksums, FieldTables field) {
    return TablesJson.of(SHARD, FILE, LENGTH, hasChecksums, CHUNKS, List.of(field), JSON_AT);
  }

  private static List<RunRecord> read(
      boolean hasChecksums, List<RunRecord> runs, FieldTables field) {
    byte[] list = RunRecord.encode(runs);
    return RunRecord.read("f", list, json(hasChecksums, field), field, -1, BINDING);
  }

  private static void requireCorrupt(boolean hasChecksums, FieldTables field, RunRecord... runs) {
    assertThatThrownBy(() -> read(hasChecksums, List.of(runs), field))
        .as(List.of(runs).toString())
        .isInstanceOf(CorruptDataException.class);
  }

  @Test
  void runsAreReadBack() {
    List<RunRecord> runs = List.of(FIRST, SECOND);
    assertThat(read(true, runs, field(runs, OFFSETS))).isEqualTo(runs);
    RunRecord unchecked = RunRecord.variable(0, 0, LENGTH, 64, 5, 0, 0, 0);
    FieldTables tables = field(List.of(unchecked), VariableBlocks.runBytes(LENGTH, 0));
    assertThat(read(false, List.of(unchecked), tables)).containsExactly(unchecked);
  }

  @Test
  void runsMustFollowEachOther() {
    for (RunRecord second : List.of(
        RunRecord.variable(2, 30_000, 20_000, 128, 77, 118, BLOCKS, 1),
        RunRecord.variable(-1, 30_000, 20_000, 128, 77, 118, BLOCKS, 1),
        RunRecord.variable(1, 29_999, 20_001, 128, 77, 118, BLOCKS, 1),
        RunRecord.variable(1, 30_000, 20_001, 128, 77, 118, BLOCKS, 1),
        RunRecord.variable(1, 30_000, 0, 128, 77, 118, BLOCKS, 1),
        RunRecord.variable(1, 30_000, 20_000, 127, 77, 118, BLOCKS, 1),
        RunRecord.variable(1, 30_000, 20_000, 56, 77, 118, BLOCKS, 1),
        RunRecord.variable(1, 30_000, 20_000, 128, 300_000, 118, BLOCKS, 1),
        RunRecord.variable(1, 30_000, 20_000, 128, -1, 118, BLOCKS, 1),
        RunRecord.variable(1, 30_000, 20_000, 128, Long.MAX_VALUE, 118, BLOCKS, 1),
        RunRecord.variable(1, 30_000, 20_000, 128, 77, 117, BLOCKS, 1),
        RunRecord.variable(1, 30_000, 20_000, 128, 77, 118, BLOCKS - 8, 1),
        RunRecord.variable(1, 30_000, 20_000, 128, 77, 118, BLOCKS, 0),
        RunRecord.variable(1, 30_000, 20_000, 128, 77, 118, BLOCKS, 3),
        RunRecord.variable(1, 30_000, 20_000, 128, 77, 118, BLOCKS, 2048),
        RunRecord.variable(1, 30_000, 20_000, 128, 77, 118, BLOCKS, Integer.MIN_VALUE),
        RunRecord.fixed(1, 30_000, 20_000, 128, 80_000, 118))) {
      requireCorrupt(true, field(List.of(FIRST, second), OFFSETS), FIRST, second);
    }
    RunRecord checked = RunRecord.variable(0, 0, LENGTH, 64, 5, 0, 0, 1);
    long blocks = VariableBlocks.runBytes(LENGTH, 1);
    requireCorrupt(false, field(List.of(checked), blocks), checked);
  }

  @Test
  void aFieldMustHaveTheTablesThatItsRunsNeed() {
    List<RunRecord> runs = List.of(FIRST, SECOND);
    Section units = new Section(1024, UnitChecksums.bytes(50));
    for (FieldTables wrong : List.of(
        field(runs, 0),
        field(runs, OFFSETS - 8),
        field(runs, OFFSETS + 8),
        field(runs, ValueAlignment.NONE, units, 0, OFFSETS),
        field(runs, ValueAlignment.NONE, Section.NONE, 1, OFFSETS))) {
      requireCorrupt(true, wrong, FIRST, SECOND);
    }
  }

  @Test
  void theAlignmentIsTwoPowersOfTwo() {
    List<RunRecord> runs = List.of(FIRST, SECOND);
    ValueAlignment pages = new ValueAlignment(4, 4096);
    byte[] sealed = json(true, field(runs, pages, Section.NONE, 0, OFFSETS)).write();
    assertThat(TablesJson.read("f", sealed, JSON_AT).field(7).alignment()).isEqualTo(pages);
    for (int[] wrong : new int[][] {{3, 64}, {16, 64}, {8, 4}, {0, 1}, {1, 48}, {1, 1 << 21}}) {
      ObjectNode node = SealedJson.open("f", sealed).node().deepCopy();
      node.remove("crc32c");
      ((ObjectNode) node.get("fields").get(0)).putArray("align").add(wrong[0]).add(wrong[1]);
      TablesJson json = TablesJson.read("f", SealedJson.seal(node), JSON_AT);
      assertThatThrownBy(() -> json.field(7)).isInstanceOf(CorruptDataException.class);
    }
    ObjectNode node = SealedJson.open("f", sealed).node().deepCopy();
    node.remove("crc32c");
    ((ArrayNode) node.get("fields").get(0).get("align")).remove(1);
    TablesJson json = TablesJson.read("f", SealedJson.seal(node), JSON_AT);
    assertThatThrownBy(() -> json.field(7)).isInstanceOf(CorruptDataException.class);
  }

  /**
   * A value is found again by two ends alone, and a gap is hardly longer than the value after it.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8})
  void aPlaceFollowsFromTwoEnds(int least) {
    Random random = Budget.random();
    for (int most = least; most <= 1 << 20; most *= 2) {
      ValueAlignment alignment = new ValueAlignment(least, most);
      long end = 64;
      for (int i = Budget.of(2_000); i > 0; i--) {
        int length = random.nextInt(4) == 0
            ? Math.max(0, most - 10 + random.nextInt(20))
            : random.nextInt(2 * most + 1);
        long start = alignment.startFor(end, length);
        assertThat(alignment.start(end, start + length)).isEqualTo(start);
        assertThat(start % least).isZero();
        assertThat(start - end).isBetween(0L, (long) Math.max(least, length + least) - 1);
        if (length >= most) {
          assertThat(start % most).isZero();
        }
        end = start + length;
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 1023, 1024, 1025, 2048, 5000})
  void blocksTileTheirSection(long values) {
    for (int unitValues : new int[] {0, 1, 2, 512, 1024}) {
      long bytes = 0;
      long counted = 0;
      for (long block = 0; block < VariableBlocks.blockCount(values); block++) {
        int count = VariableBlocks.valuesOf(block, values);
        int units = unitValues == 0 ? 0 : (count + unitValues - 1) / unitValues;
        assertThat(VariableBlocks.bytes(count, unitValues)).isEqualTo(8 + 4 * count + 4 * units);
        int padded = VariableBlocks.paddedBytes(count, unitValues);
        assertThat(padded % 8).isZero();
        assertThat(padded - VariableBlocks.bytes(count, unitValues)).isBetween(4, 11);
        bytes += padded;
        counted += count;
      }
      assertThat(counted).isEqualTo(values);
      assertThat(VariableBlocks.runBytes(values, unitValues)).isEqualTo(bytes);
    }
    List<Integer> longest = new ArrayList<>();
    for (int unitValues = 1; unitValues <= 1024; unitValues *= 2) {
      longest.add(VariableBlocks.paddedBytes(1024, unitValues));
    }
    assertThat(longest).allMatch(bytes -> bytes <= VariableBlocks.MOST_BYTES);
  }
}
