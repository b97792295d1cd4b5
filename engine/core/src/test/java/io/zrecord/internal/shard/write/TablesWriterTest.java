package io.zrecord.internal.shard.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.internal.format.UnitChecksums;
import io.zrecord.internal.format.ValidityUnits;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.testing.MemoryStorage;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Writes a tables file and reads it with {@link TablesFile}. */
class TablesWriterTest {
  private static final UUID SHARD = new UUID(1, 2);
  private static final UUID FILE = new UUID(3, 4);
  private static final String DIRECTORY = "shard/" + SHARD;
  private static final int LENGTH = 40_000;
  private static final List<ChunkFile> CHUNKS = List.of(ChunkFile.of(new UUID(5, 6), 12_000_000));
  private static final FieldSpec NUMBERS =
      new FieldSpec(3, "numbers", ElementType.I32, Shape.of(64), Compression.of(Codec.RAW));
  private static final FieldSpec TEXT =
      new FieldSpec(9, "text", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD));

  /** 40,000 × 256 B are 2,500 units of 4 KiB, in three groups. */
  private static final int UNITS = 2500;

  private final MemoryStorage storage = new MemoryStorage();
  private final TablesRef ref = write();

  private TablesRef write() {
    try (TableSpool spool = new TableSpool(storage, DIRECTORY + "/x.spool", 64 << 10, 4);
        TablesWriter writer = new TablesWriter(storage, DIRECTORY, SHARD, FILE, LENGTH, true)) {
      SpooledTable units = spool.table();
      SpooledTable bits = spool.table();
      SpooledTable entries = spool.table();
      SpooledTable checksums = spool.table();
      for (int i = 0; i < LENGTH; i++) {
        if (i < UNITS) {
          units.putInt(~i);
        }
        if (i % 64 == 0) {
          bits.putLong(7L * i);
        }
        entries.putLong(64 + 8L * i);
        entries.putLong(i);
        checksums.putInt(i ^ 0x5555);
      }
      spool.complete();
      writer.fixed(
          NUMBERS,
          new TablesWriter.Amount(5, 256L * LENGTH),
          4096,
          List.of(RunRecord.fixed(0, 0, LENGTH, 64, 256L * LENGTH, 0)),
          units,
          bits);
      writer.entries(TEXT, new TablesWriter.Amount(1, 77), entries.reader(), checksums.reader());
      return writer.seal(CHUNKS, Durability.COMMIT);
    }
  }

  private TablesFile open(TablesRef opened) {
    return open(SHARD, CHUNKS, opened);
  }

  private TablesFile open(UUID shardId, List<ChunkFile> chunks, TablesRef opened) {
    ShardSummary shard =
        new ShardSummary(shardId, LENGTH, chunks, List.of(opened), new TreeMap<>());
    return TablesFile.open(storage, shard, opened, kept -> {});
  }

  private static byte[] bytes(Windows windows, long position, int length) {
    byte[] bytes = new byte[length];
    windows.copy(position, bytes, 0, length);
    return bytes;
  }

  @Test
  void whatIsWrittenIsReadBack() {
    TablesFile file = open(ref);
    Windows windows = file.windows();
    FieldTables numbers = file.json().field(3);
    assertThat(file.json().chunks()).isEqualTo(CHUNKS);
    assertThat(numbers.absentCount()).isEqualTo(5);
    assertThat(numbers.shape()).isEqualTo(NUMBERS.shape());
    assertThat(file.runs(numbers, 256, new Binding(SHARD, 3)))
        .containsExactly(RunRecord.fixed(0, 0, LENGTH, 64, 256L * LENGTH, 0));
    for (int unit : new int[] {0, 1, 1023, 1024, 2047, 2048, UNITS - 1}) {
      assertThat(windows.intAt(numbers.units().position() + UnitChecksums.at(unit)))
          .isEqualTo(~unit);
    }
    for (int slot : new int[] {0, 64, 32_704, 32_768, 39_936}) {
      assertThat(windows.longAt(numbers.validity().position() + ValidityUnits.wordAt(slot)))
          .isEqualTo(7L * slot);
    }
    FieldTables text = file.json().field(9);
    assertThat(file.runs(text, -1, new Binding(SHARD, 9)))
        .containsExactly(RunRecord.entries(LENGTH));
    for (int slot : new int[] {0, 1, 1023, 1024, 39_935, 39_936, LENGTH - 1}) {
      long at = text.offsets().position() + EntryUnits.entryAt(slot);
      assertThat(windows.longAt(at)).isEqualTo(64 + 8L * slot);
      assertThat(windows.longAt(at + 8)).isEqualTo(slot);
      assertThat(windows.intAt(text.offsets().position() + EntryUnits.checksumAt(slot, LENGTH)))
          .isEqualTo(slot ^ 0x5555);
    }
  }

  @Test
  void everyUnitHasItsBoundChecksum() {
    Windows windows = open(ref).windows();
    FieldTables numbers = open(ref).json().field(3);
    FieldTables text = open(ref).json().field(9);
    for (long group = 0; group < UnitChecksums.groupCount(UNITS); group++) {
      checkUnit(
          windows,
          numbers.units().position() + UnitChecksums.groupAt(group),
          UnitChecksums.groupBytes(group, UNITS),
          new Binding(SHARD, 3),
          Binding.Kind.CHECKSUMS,
          group);
    }
    for (long unit = 0; unit < ValidityUnits.unitCount(LENGTH); unit++) {
      checkUnit(
          windows,
          numbers.validity().position() + ValidityUnits.unitAt(unit),
          ValidityUnits.unitBytes(unit, LENGTH),
          new Binding(SHARD, 3),
          Binding.Kind.VALIDITY,
          unit);
    }
    for (long unit = 0; unit < EntryUnits.unitCount(LENGTH); unit++) {
      checkUnit(
          windows,
          text.offsets().position() + EntryUnits.unitAt(unit),
          EntryUnits.unitBytes(unit, LENGTH),
          new Binding(SHARD, 9),
          Binding.Kind.OFFSETS,
          unit);
    }
  }

  private static void checkUnit(
      Windows windows, long at, int bytes, Binding binding, Binding.Kind kind, long number) {
    assertThat(windows.intAt(at + bytes))
        .as("%s %s", kind, number)
        .isEqualTo(binding.bind(kind, number, Crc32c.of(bytes(windows, at, bytes))));
  }

  @Test
  void everyByteOutsideSectionsIsTheHeaderOrJsonOrZero() {
    Windows windows = open(ref).windows();
    byte[] file = bytes(windows, 0, (int) ref.bytes());
    new FileHeader(FileHeader.Kind.TABLES, SHARD, FILE).check("f", Arrays.copyOf(file, 64));
    TablesTrailer trailer = TablesTrailer.read(
        "f", Arrays.copyOfRange(file, file.length - TablesTrailer.BYTES, file.length), file.length);
    assertThat(trailer).isEqualTo(new TablesTrailer(ref.jsonPosition(), ref.jsonBytes()));
    Arrays.fill(file, 0, 64, (byte) 0);
    Arrays.fill(file, (int) ref.jsonPosition(), file.length, (byte) 0);
    for (int id : new int[] {3, 9}) {
      FieldTables field = open(ref).json().field(id);
      for (var section : List.of(field.runs(), field.units(), field.validity(), field.offsets())) {
        Arrays.fill(file, (int) section.position(), (int) section.end(), (byte) 0);
      }
    }
    assertThat(file).containsOnly(0);
  }

  @Test
  void anotherFileThanTheManifestNamesIsRefused() {
    UUID id = ref.id();
    int seal = ref.jsonChecksum();
    List<Integer> ids = ref.fieldIds();
    for (TablesRef wrong : List.of(
        new TablesRef(id, ref.bytes() - 1, ref.jsonPosition(), ref.jsonBytes(), seal, ids),
        new TablesRef(id, ref.bytes(), ref.jsonPosition(), ref.jsonBytes(), seal + 1, ids),
        new TablesRef(id, ref.bytes(), ref.jsonPosition() + 64, ref.jsonBytes() - 64, seal, ids),
        new TablesRef(id, ref.bytes(), ref.jsonPosition(), ref.jsonBytes() - 1, seal, ids),
        new TablesRef(id, ref.bytes(), ref.jsonPosition(), ref.jsonBytes(), seal, List.of(3, 4)))) {
      assertThatThrownBy(() -> open(wrong)).isInstanceOf(CorruptDataException.class);
    }
    assertThatThrownBy(() -> open(
            new TablesRef(id, ref.bytes() + 1, ref.jsonPosition(), ref.jsonBytes(), seal, ids)))
        .isInstanceOf(TruncatedFileException.class);
    assertThatThrownBy(() -> open(new TablesRef(
            new UUID(9, 9), ref.bytes(), ref.jsonPosition(), ref.jsonBytes(), seal, ids)))
        .isInstanceOf(MissingFileException.class);
    assertThatThrownBy(() -> open(SHARD, List.of(), ref))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("which the dataset does not name");
    ChunkFile shorter = ChunkFile.of(CHUNKS.get(0).id(), CHUNKS.get(0).bytes() - 8);
    assertThatThrownBy(() -> open(SHARD, List.of(shorter), ref))
        .isInstanceOf(CorruptDataException.class);
    ChunkFile other = ChunkFile.of(new UUID(9, 9), 64);
    assertThat(open(SHARD, List.of(other, CHUNKS.get(0)), ref).shardChunk(0)).isOne();
  }

  @Test
  void theFileIsForcedBeforeItIsClosed() {
    assertThat(storage.log()).contains("force " + DIRECTORY + "/" + FILE + ".tables");
    assertThat(storage.openFileCount()).isZero();
    assertThat(storage.names()).containsExactly(DIRECTORY + "/" + FILE + ".tables");
  }
}
