package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ChunkFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what a tables file is made of: its JSON, its trailer, its runs, and its units. */
class TablesFileTest {
  private static final UUID SHARD = new UUID(1, 2);
  private static final UUID FILE = new UUID(3, 4);
  private static final long LENGTH = 50_000;
  private static final long JSON_AT = 4_000_000;
  private static final int WIDTH = 4;
  private static final Binding BINDING = new Binding(SHARD, 7);
  private static final List<ChunkFile> CHUNKS = List.of(
      ChunkFile.of(new UUID(5, 6), 400_000),
      new ChunkFile(new UUID(7, 8), 300_000, 0xffff_fffeL, 12));

  /** 30,000 and 20,000 values of 4 bytes: 30 and 20 units of 4 KiB. */
  private static final List<RunRecord> RUNS = List.of(
      RunRecord.fixed(0, 0, 30_000, 64, 120_000, 0),
      RunRecord.fixed(1, 30_000, 20_000, 128, 80_000, 30));

  private static FieldTables fixed(List<RunRecord> runs, Section units, Section validity) {
    byte[] list = RunRecord.encode(runs);
    return new FieldTables(
        7,
        ElementType.I32,
        Shape.scalar(),
        Compression.of(Codec.RAW),
        3,
        200_000,
        units.isPresent() ? 4096 : 0,
        ValueAlignment.NONE,
        0,
        new Section(64, list.length),
        BINDING.bind(Binding.Kind.RUNS, 0, Crc32c.of(list)),
        units,
        validity,
        Section.NONE,
        Section.NONE);
  }

  private static final Section UNITS = new Section(1024, UnitChecksums.bytes(50));
  private static final Section VALIDITY = new Section(2048, ValidityUnits.bytes(LENGTH));
  private static final FieldTables FIXED = fixed(RUNS, UNITS, VALIDITY);
  private static final FieldTables ENTRIES = entries(EntryUnits.bytes(LENGTH));

  private static FieldTables entries(long offsetBytes) {
    byte[] list = RunRecord.encode(List.of(RunRecord.entries(LENGTH)));
    return new FieldTables(
        9,
        ElementType.U8,
        Shape.of(-1, 3),
        Compression.of(Codec.ZSTD),
        0,
        12_345,
        0,
        ValueAlignment.NONE,
        0,
        new Section(16_384, list.length),
        new Binding(SHARD, 9).bind(Binding.Kind.RUNS, 0, Crc32c.of(list)),
        Section.NONE,
        Section.NONE,
        new Section(32_768, offsetBytes),
        Section.NONE);
  }

  private static TablesJson json(boolean hasChecksums, FieldTables... fields) {
    return TablesJson.of(SHARD, FILE, LENGTH, hasChecksums, CHUNKS, List.of(fields), JSON_AT);
  }

  private static TablesJson read(byte[] json) {
    return TablesJson.read("/d/x.tables", json, JSON_AT);
  }

  private static List<RunRecord> readRuns(List<RunRecord> runs) {
    return readRuns(RunRecord.encode(runs), fixed(runs, UNITS, VALIDITY));
  }

  private static List<RunRecord> readRuns(byte[] section, FieldTables field) {
    return RunRecord.read("/d/x.tables", section, json(true, field), field, WIDTH, BINDING);
  }

  /** Reads a list of one run after a change of the run's bytes, with a checksum that holds. */
  private static void readChangedRun(Consumer<ByteBuffer> change) {
    List<RunRecord> runs = List.of(RunRecord.fixed(0, 0, LENGTH, 64, 200_000, 0));
    byte[] section = RunRecord.encode(runs);
    change.accept(ByteBuffer.wrap(section).order(ByteOrder.LITTLE_ENDIAN));
    FieldTables written = fixed(runs, new Section(1024, UnitChecksums.bytes(49)), VALIDITY);
    FieldTables field = new FieldTables(
        written.id(),
        written.type(),
        written.shape(),
        written.compression(),
        written.absentCount(),
        written.valueBytes(),
        written.unitBytes(),
        written.alignment(),
        written.blockBytes(),
        written.runs(),
        BINDING.bind(Binding.Kind.RUNS, 0, Crc32c.of(section)),
        written.units(),
        written.validity(),
        written.offsets(),
        Section.NONE);
    assertThat(readRuns(section, field)).hasSize(1);
  }

  private static byte[] changed(Consumer<ObjectNode> change) {
    byte[] sealed = json(true, FIXED, ENTRIES).write();
    ObjectNode node = SealedJson.open("f", sealed).node().deepCopy();
    node.remove("crc32c");
    change.accept(node);
    return SealedJson.seal(node);
  }

  private static ObjectNode field(ObjectNode node, int ordinal) {
    return (ObjectNode) node.get("fields").get(ordinal);
  }

  private static void refused(Consumer<ObjectNode> change) {
    byte[] file = changed(change);
    assertThatThrownBy(() -> read(file).fieldIds().forEach(read(file)::field))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("/d/x.tables");
  }

  @Test
  void whatIsWrittenIsReadBack() {
    TablesJson json = json(true, FIXED, ENTRIES);
    TablesJson read = read(json.write());
    assertThat(read.shardId()).isEqualTo(SHARD);
    assertThat(read.fileId()).isEqualTo(FILE);
    assertThat(read.length()).isEqualTo(LENGTH);
    assertThat(read.hasChecksums()).isTrue();
    assertThat(read.chunks()).isEqualTo(CHUNKS);
    assertThat(read.fieldIds()).containsExactly(7, 9);
    assertThat(read.field(7)).isEqualTo(FIXED);
    assertThat(read.field(9)).isEqualTo(ENTRIES);
    assertThat(readRuns(RunRecord.encode(RUNS), read.field(7))).isEqualTo(RUNS);
    assertThat(read(json(false, ENTRIES).write()).hasChecksums()).isFalse();
  }

  @Test
  void theJsonIsThatOfTheSpecification() {
    String json = new String(json(true, FIXED).write(), StandardCharsets.UTF_8);
    assertThat(json)
        .startsWith("{\"format\":2,\"shard\":\"00000000-0000-0001-0000-000000000002\","
            + "\"file\":\"00000000-0000-0003-0000-000000000004\",\"length\":50000,"
            + "\"checksum\":\"crc32c\","
            + "\"chunks\":[[\"00000000-0000-0005-0000-000000000006\",400000],"
            + "[\"00000000-0000-0007-0000-000000000008\",300000,4294967294,12]],"
            + "\"fields\":[{\"id\":7,\"dtype\":\"i32\",\"compress\":\"raw\",\"absent\":3,"
            + "\"valueBytes\":200000,\"unitBytes\":4096,\"runs\":[64,128,\"")
        .contains("\"units\":[1024,204],\"validity\":[2048,6272]}],\"crc32c\":");
  }

  @Test
  void theBytesOfARunAreThoseOfTheSpecification() {
    ByteBuffer run = ByteBuffer.wrap(RunRecord.encode(RUNS)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(run.capacity()).isEqualTo(128);
    assertThat(run.getInt(64)).isEqualTo(1);
    assertThat(run.getInt(68)).isEqualTo(1);
    assertThat(run.getLong(72)).isEqualTo(30_000);
    assertThat(run.getLong(80)).isEqualTo(20_000);
    assertThat(run.getLong(88)).isEqualTo(128);
    assertThat(run.getLong(96)).isEqualTo(80_000);
    assertThat(run.getLong(104)).isEqualTo(30);
    assertThat(run.getLong(112)).isZero();
    assertThat(run.getLong(120)).isZero();
    ByteBuffer entries = ByteBuffer.wrap(RunRecord.encode(List.of(RunRecord.entries(5))))
        .order(ByteOrder.LITTLE_ENDIAN);
    assertThat(entries.getInt(0)).isEqualTo(4);
    assertThat(entries.getInt(4)).isEqualTo(-1);
    assertThat(entries.getLong(16)).isEqualTo(5);
  }

  @Test
  void everyFlippedBitOfTheJsonAndOfTheRunsIsFound() {
    byte[] json = json(true, FIXED, ENTRIES).write();
    for (int bit = 0; bit < 8 * json.length; bit++) {
      byte[] flipped = json.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> read(flipped)).isInstanceOf(ZRecordException.class);
    }
    byte[] runs = RunRecord.encode(RUNS);
    for (int bit = 0; bit < 8 * runs.length; bit++) {
      byte[] flipped = runs.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> readRuns(flipped, FIXED)).isInstanceOf(CorruptDataException.class);
    }
  }

  @Test
  void theRunsOfAnotherFieldOrShardAreFound() {
    for (Binding other : List.of(new Binding(SHARD, 8), new Binding(new UUID(1, 3), 7))) {
      assertThatThrownBy(() ->
              RunRecord.read("f", RunRecord.encode(RUNS), json(true, FIXED), FIXED, WIDTH, other))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("of another field or shard");
    }
  }

  @Test
  void sectionsMustBeWithinTheFile() {
    refused(node -> field(node, 0).putArray("units").add(1024).add(JSON_AT - 1023));
    refused(node -> field(node, 0).putArray("units").add(1024).add(Long.MAX_VALUE));
    refused(node -> field(node, 0).putArray("units").add(Long.MAX_VALUE).add(1));
    refused(node -> field(node, 0).putArray("units").add(1025).add(204));
    refused(node -> field(node, 0).putArray("units").add(0).add(204));
    refused(node -> field(node, 0).putArray("units").add(1024).add(-1));
    refused(node -> field(node, 0).putArray("units").add(1024).add(0));
    refused(node -> field(node, 0).putArray("units").add(1024));
    refused(node -> field(node, 0).putArray("validity").add(2048).add(VALIDITY.bytes() - 8));
    refused(node -> field(node, 0).putArray("validity").add(2048).add(VALIDITY.bytes() + 8));
    refused(node -> field(node, 0).putArray("runs").add(64).add(128));
    refused(node -> field(node, 0).putArray("runs").add(64).add(128).add("5D1F0A2B"));
    refused(node -> field(node, 0).remove("runs"));
    refused(node -> field(node, 0).remove("units"));
    refused(node -> field(node, 1).put("unitBytes", 4096));
    refused(node -> field(node, 0).put("unitBytes", 2048));
    refused(node -> field(node, 0).put("unitBytes", 5000));
    refused(node -> field(node, 0).put("unitBytes", 1 << 17));
  }

  @Test
  void whatIsSenselessIsRefused() {
    refused(node -> node.put("length", 0));
    refused(node -> node.put("length", Long.MAX_VALUE));
    refused(node -> node.put("shard", "x"));
    refused(node -> node.remove("chunks"));
    refused(node -> ((ArrayNode) node.get("chunks")).add("x"));
    refused(node -> ((ArrayNode) node.get("chunks")).add(node.get("chunks").get(0)));
    refused(node -> ((ArrayNode) node.get("chunks").get(0)).add(0));
    refused(node -> ((ArrayNode) node.get("chunks").get(0)).add(0xffff_ffffL).add(0));
    refused(node -> ((ArrayNode) node.get("chunks").get(1)).set(3, -1));
    refused(node -> ((ArrayNode) node.get("chunks").get(0)).set(1, 63));
    refused(node -> ((ArrayNode) node.get("chunks").get(0)).set(0, 7));
    refused(node -> ((ArrayNode) node.get("chunks").get(0)).set(0, "5-6-7-8-9"));
    refused(node -> field(node, 0).put("id", 9));
    refused(node -> field(node, 0).put("id", 0));
    refused(node -> field(node, 0).put("absent", LENGTH + 1));
    refused(node -> field(node, 0).put("valueBytes", -1));
    refused(node -> field(node, 1).putArray("shape").add(1).add(-1));
  }

  @Test
  void aFieldThatCannotBeReadCostsNoOther() {
    TablesJson read = read(changed(node -> field(node, 0).put("dtype", "i31")));
    assertThat(read.fieldIds()).containsExactly(7, 9);
    assertThat(read.field(9)).isEqualTo(ENTRIES);
    assertThatThrownBy(() -> read.field(7))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("'dtype i31'");
    TablesJson zipped = read(changed(node -> field(node, 0).put("compress", "zip")));
    assertThat(zipped.field(9)).isEqualTo(ENTRIES);
    assertThatThrownBy(() -> zipped.field(7))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("zip");
  }

  @Test
  void checksumsOfALaterReleaseAreRefused() {
    byte[] file = changed(node -> node.put("checksum", "md5"));
    assertThatThrownBy(() -> read(file))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("'checksum md5'");
  }

  @Test
  void runsMustFollowEachOtherAndCoverTheShard() {
    List<List<RunRecord>> wrong = new ArrayList<>();
    wrong.add(RUNS.subList(0, 1));
    wrong.add(List.of(RUNS.get(1), RUNS.get(0)));
    RunRecord first = RUNS.get(0);
    for (RunRecord second : List.of(
        RunRecord.fixed(1, 30_000, 20_001, 128, 80_004, 30),
        RunRecord.fixed(1, 30_001, 19_999, 128, 79_996, 30),
        RunRecord.fixed(1, 29_999, 20_001, 128, 80_004, 30),
        RunRecord.fixed(1, 30_000, 20_000, 128, 80_000, 29),
        RunRecord.fixed(1, 30_000, 20_000, 128, 80_001, 30),
        RunRecord.fixed(1, 30_000, 20_000, 124, 80_000, 30),
        RunRecord.fixed(1, 30_000, 20_000, 56, 80_000, 30),
        RunRecord.fixed(1, 30_000, 20_000, -8, 80_000, 30),
        RunRecord.fixed(1, 30_000, 20_000, 220_008, 80_000, 30),
        RunRecord.fixed(1, 30_000, 20_000, Long.MAX_VALUE - 7, 80_000, 30),
        RunRecord.fixed(2, 30_000, 20_000, 128, 80_000, 30),
        RunRecord.fixed(-1, 30_000, 20_000, 128, 80_000, 30),
        RunRecord.fixed(1, 30_000, -1, 128, -4, 30),
        RunRecord.fixed(1, 30_000, Long.MAX_VALUE, 128, -4, 30),
        RunRecord.entries(LENGTH))) {
      wrong.add(List.of(first, second));
    }
    for (List<RunRecord> runs : wrong) {
      assertThatThrownBy(() -> readRuns(runs))
          .as(runs.toString())
          .isInstanceOf(CorruptDataException.class);
    }
    // The last byte that still fits.
    assertThat(readRuns(List.of(first, RunRecord.fixed(1, 30_000, 20_000, 220_000, 80_000, 30))))
        .hasSize(2);
  }

  @Test
  void aFieldMustHaveTheTablesThatItsRunsNeed() {
    byte[] list = RunRecord.encode(RUNS);
    Section fewer = new Section(1024, UnitChecksums.bytes(49));
    Section more = new Section(1024, UnitChecksums.bytes(51));
    for (FieldTables field : List.of(
        fixed(RUNS, Section.NONE, VALIDITY),
        fixed(RUNS, UNITS, Section.NONE),
        fixed(RUNS, fewer, VALIDITY),
        fixed(RUNS, more, VALIDITY))) {
      assertThatThrownBy(() -> readRuns(list, field)).isInstanceOf(CorruptDataException.class);
    }
    for (long bytes : new long[] {0, EntryUnits.bytes(LENGTH) - 8, EntryUnits.bytes(LENGTH) + 8}) {
      FieldTables field = entries(bytes);
      byte[] entries = RunRecord.encode(List.of(RunRecord.entries(LENGTH)));
      assertThatThrownBy(() ->
              RunRecord.read("f", entries, json(true, field), field, -1, new Binding(SHARD, 9)))
          .isInstanceOf(CorruptDataException.class);
    }
  }

  @Test
  void whatALaterReleaseMayUseIsNotDamage() {
    for (Consumer<ByteBuffer> change : List.<Consumer<ByteBuffer>>of(
        run -> run.putInt(0, 5), run -> run.putInt(0, 99), run -> run.putInt(60, 1))) {
      assertThatThrownBy(() -> readChangedRun(change))
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining("field 7");
    }
    assertThatThrownBy(() -> readChangedRun(run -> run.putLong(48, 8)))
        .isInstanceOf(CorruptDataException.class);
    assertThatThrownBy(() -> read(changed(node -> node.put("format", 3))))
        .isInstanceOf(UnsupportedFormatException.class);
    readChangedRun(run -> {});
  }

  @Test
  void theTrailerTellsWhereTheJsonIs() {
    TablesTrailer trailer = new TablesTrailer(4096, 500);
    byte[] bytes = trailer.encode();
    assertThat(bytes).hasSize(16);
    assertThat(TablesTrailer.read("f", bytes, 4612)).isEqualTo(trailer);
    for (long length : new long[] {4611, 4613, 0, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> TablesTrailer.read("f", bytes, length))
          .isInstanceOf(CorruptDataException.class);
    }
    for (int bit = 0; bit < 128; bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> TablesTrailer.read("f", flipped, 4612))
          .isInstanceOf(CorruptDataException.class);
    }
    for (TablesTrailer wrong : List.of(
        new TablesTrailer(0, 4596), new TablesTrailer(4597, -1), new TablesTrailer(-1, 4597))) {
      assertThatThrownBy(() -> TablesTrailer.read("f", wrong.encode(), 4612))
          .isInstanceOf(CorruptDataException.class);
    }
  }

  /** Fills a section unit by unit, and checks that its parts meet without gap and overlap. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 32_767, 32_768, 32_769})
  void unitsTileTheirSections(long slots) {
    boolean[] entries = new boolean[(int) EntryUnits.bytes(slots)];
    for (long slot = 0; slot < slots; slot++) {
      take(entries, EntryUnits.entryAt(slot), 16);
      take(entries, EntryUnits.checksumAt(slot, slots), 4);
    }
    for (long unit = 0; unit < EntryUnits.unitCount(slots); unit++) {
      int bytes = EntryUnits.unitBytes(unit, slots);
      int padded = EntryUnits.paddedBytes(EntryUnits.unitSlots(unit, slots));
      take(entries, EntryUnits.unitAt(unit) + bytes, padded - bytes);
    }
    assertAllTaken(entries);
    assertThat(EntryUnits.unitOf(slots - 1)).isEqualTo(EntryUnits.unitCount(slots) - 1);

    boolean[] bits = new boolean[(int) ValidityUnits.bytes(slots)];
    for (long slot = 0; slot < slots; slot += 64) {
      take(bits, ValidityUnits.wordAt(slot), 8);
    }
    for (long unit = 0; unit < ValidityUnits.unitCount(slots); unit++) {
      take(bits, ValidityUnits.unitAt(unit) + ValidityUnits.unitBytes(unit, slots), 8);
    }
    assertAllTaken(bits);
    assertThat(ValidityUnits.unitOf(slots - 1)).isEqualTo(ValidityUnits.unitCount(slots) - 1);

    boolean[] checksums = new boolean[(int) UnitChecksums.bytes(slots)];
    for (long unit = 0; unit < slots; unit++) {
      take(checksums, UnitChecksums.at(unit), 4);
    }
    for (long group = 0; group < UnitChecksums.groupCount(slots); group++) {
      long end = UnitChecksums.groupAt(group) + UnitChecksums.groupBytes(group, slots);
      take(checksums, end, 4);
    }
    assertAllTaken(checksums);
    assertThat(UnitChecksums.groupOf(slots - 1)).isEqualTo(UnitChecksums.groupCount(slots) - 1);
  }

  private static void take(boolean[] section, long at, int bytes) {
    for (int i = 0; i < bytes; i++) {
      assertThat(section[(int) at + i]).as("byte %s", at + i).isFalse();
      section[(int) at + i] = true;
    }
  }

  private static void assertAllTaken(boolean[] section) {
    boolean[] all = new boolean[section.length];
    Arrays.fill(all, true);
    assertThat(section).isEqualTo(all);
  }

  @Test
  void aUnitIsAPowerOfTwoThatHoldsFourValues() {
    assertThat(FieldTables.unitBytesOf(1)).isEqualTo(4096);
    assertThat(FieldTables.unitBytesOf(784)).isEqualTo(4096);
    assertThat(FieldTables.unitBytesOf(1024)).isEqualTo(4096);
    assertThat(FieldTables.unitBytesOf(1025)).isEqualTo(8192);
    assertThat(FieldTables.unitBytesOf(16_384)).isEqualTo(65_536);
    assertThat(FieldTables.unitBytesOf(16_385)).isEqualTo(65_536);
    assertThat(FieldTables.unitBytesOf(Integer.MAX_VALUE)).isEqualTo(65_536);
  }
}
