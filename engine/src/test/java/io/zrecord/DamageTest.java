package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.ValidityUnits;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Budget;
import io.zrecord.testing.Cases;
import io.zrecord.testing.ShardOnDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged files are found, named, and kill nothing. */
final class DamageTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE).withStripeBytes(64 << 10);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("entries", ElementType.BYTES)
      .field("dense", ElementType.I32)
      .field("never", ElementType.U8, Shape.of(3), Compression.RAW)
      .field("flate", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.FLATE))
      .field("zstd", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.ZSTD))
      .field("lz4", ElementType.I64, Shape.of(4), Compression.of(Codec.LZ4))
      .build();

  private final long seed = Budget.seed();
  private final ReadMetrics metrics = new ReadMetrics();

  @TempDir
  Path directory;

  private SampleData data;
  private ShardSummary summary;
  private Path shard;

  @BeforeEach
  void write() {
    data = SampleData.random(SCHEMA, 8, 40, seed);
    summary = data.write(LocalStorage.at(directory), OPTIONS, 0, 8);
    shard = directory.resolve(summary.directory());
    OpenShards.shared().clear();
  }

  @Test
  void anyFlippedBitIsFound() throws IOException {
    FileMapStorage storage = FileMapStorage.of(directory);
    requireEqual(open(storage, Verification.FIRST));
    BitSet inChunk = meaningfulChunkBytes();
    BitSet inTables = meaningfulTablesBytes();
    for (var file : storage.files().entrySet()) {
      byte[] content = file.getValue();
      BitSet meaningful = file.getKey().endsWith(".zr") ? inChunk : inTables;
      for (long bit : Cases.before(content.length * 8L)) {
        int at = (int) (bit / 8);
        content[at] ^= (byte) (1 << bit % 8);
        assertThat(isFound(storage))
            .as("bit %s of %s, seed %s", bit, file.getKey(), seed)
            .isEqualTo(meaningful.get(at));
        content[at] ^= (byte) (1 << bit % 8);
      }
    }
    assertThat(metrics.checksumFailures.sum()).isPositive();
  }

  /** Reads all in one of several ways; what comes back without an exception must be right. */
  private boolean isFound(Storage storage) {
    OpenShards.shared().clear();
    try {
      requireEqual(open(storage, Verification.FIRST));
      return false;
    } catch (CorruptDataException
        | TruncatedFileException
        | UnsupportedFormatException
        | MissingFileException
        | NotADatasetException e) {
      assertThat(e.getMessage()).contains(e.resource());
      return true;
    }
  }

  private BitSet meaningfulChunkBytes() {
    BitSet bytes = new BitSet();
    bytes.set(0, 64);
    ShardOnDisk files = ShardOnDisk.of(shard);
    assertThat(files.json().chunks()).hasSize(1);
    for (int field : files.json().fieldIds()) {
      if (files.hasBlocks(field)) {
        for (int i = 0; i < files.json().length(); i++) {
          int offset = (int) files.offset(field, i);
          bytes.set(offset, offset + files.storedBytes(field, i));
        }
      } else {
        for (int run = 0; run < files.runCount(field); run++) {
          int offset = (int) files.runOffset(field, run);
          bytes.set(offset, offset + (int) files.runBytes(field, run));
        }
      }
    }
    return bytes;
  }

  /** Readers need neither the header nor the trailer, and no byte between two tables. */
  private BitSet meaningfulTablesBytes() {
    BitSet bytes = new BitSet();
    ShardOnDisk files = ShardOnDisk.of(shard);
    TablesRef ref = files.summary().tables().get(0);
    bytes.set((int) ref.jsonPosition(), (int) ref.jsonPosition() + ref.jsonBytes());
    long length = files.json().length();
    for (int id : files.json().fieldIds()) {
      FieldTables field = files.field(id);
      for (Section section : List.of(field.runs(), field.units())) {
        bytes.set((int) section.position(), (int) section.end());
      }
      if (field.validity().isPresent()) {
        int end = ValidityUnits.unitBytes(0, length) + Integer.BYTES;
        bytes.set((int) field.validity().position(), (int) field.validity().position() + end);
      }
      if (field.offsets().isPresent()) {
        for (Section unit : files.placeUnits(id)) {
          bytes.set((int) unit.position(), (int) unit.end());
        }
      }
    }
    return bytes;
  }

  @Test
  void aShorterFileIsATypedException() throws IOException {
    FileMapStorage storage = FileMapStorage.of(directory);
    for (var file : List.copyOf(storage.files().entrySet())) {
      byte[] content = file.getValue();
      for (int length = 0; length < content.length; length += 1 + length / 40) {
        storage.files().put(file.getKey(), java.util.Arrays.copyOf(content, length));
        assertThat(isFound(storage)).as("%s bytes of %s", length, file.getKey()).isTrue();
      }
      storage.files().remove(file.getKey());
      assertThat(isFound(storage)).as("without %s", file.getKey()).isTrue();
      storage.files().put(file.getKey(), content);
    }
  }

  @Test
  void aFileCutUnderItsMapIsATypedException() throws IOException {
    RecordSchema schema = RecordSchema.builder()
        .field("large", ElementType.BYTES)
        .field("zipped", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.LZ4))
        .field("row", ElementType.F32, Shape.of(1000), Compression.RAW)
        .build();
    SampleData many = SampleData.random(schema, 400, seed);
    for (Verification verification : Verification.values()) {
      Storage storage = LocalStorage.at(directory.resolve("cut-" + verification));
      ShardSummary cut = many.write(storage, OPTIONS, 0, 400);
      List<Path> files;
      try (Stream<Path> found = Files.walk(Path.of(storage.pathOf(cut.directory())))) {
        files = found.filter(path -> path.toString().matches(".*(zr|tables)")).toList();
      }
      for (Path file : files) {
        byte[] content = Files.readAllBytes(file);
        OpenShards.shared().clear();
        RecordDataset dataset = RecordDataset.openShard(
            storage, schema, cut, new RecordDataset.ReadOptions(verification, new ReadMetrics()));
        List<FieldReader> readers =
            schema.fields().stream().map(field -> dataset.reader(field.name())).toList();
        readers.forEach(DamageTest::readAll);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
          for (long length : new long[] {content.length * 3L / 4, 4097, 1, 0}) {
            channel.truncate(Math.min(length, content.length));
            for (FieldReader reader : readers) {
              try {
                readAll(reader);
              } catch (ZRecordException e) {
                assertThat(e).as("%s", file).isNotInstanceOf(StorageException.class);
              }
            }
          }
          channel.write(ByteBuffer.wrap(content), 0);
        }
      }
    }
  }

  private static void readAll(FieldReader reader) {
    for (int first = 0; first < 400; ) {
      first += reader.selectRange(first, 400 - first, 1 << 20);
      reader.copyAll(ByteBuffer.allocateDirect((int) reader.totalLengthBytes()));
    }
    reader.select(LongStream.range(0, 400).map(i -> i * 7 % 400).toArray(), 0, 400);
    reader.copyAll(new byte[(int) reader.totalLengthBytes()], 0);
    for (int i = 0; i < 400; i++) {
      assertThat(reader.value(i)).hasSize(reader.lengthBytes(i));
    }
  }

  @Test
  void aFileThatWasRestoredIsFoundWhenTheDatasetIsOpenedAgain() throws IOException {
    Path chunk = ShardOnDisk.of(shard).chunk(0);
    byte[] good = Files.readAllBytes(chunk);
    byte[] bad = good.clone();
    for (int i = 64; i < bad.length; i++) {
      bad[i] ^= 1;
    }
    Files.write(chunk, bad);
    assertThatThrownBy(() -> requireEqual(open(LocalStorage.at(directory), Verification.FIRST)))
        .isInstanceOf(CorruptDataException.class);
    // As a tool does that restores: another file takes the name.
    Files.delete(chunk);
    Files.write(chunk, good);
    requireEqual(open(LocalStorage.at(directory), Verification.FIRST));
  }

  @Test
  void theMessageNamesFileFieldIndexAndChecksums() throws IOException {
    FileMapStorage storage = FileMapStorage.of(directory);
    int record = 0;
    while (data.value("entries", record) == null || data.value("entries", record).length == 0) {
      record++;
    }
    long offset = ShardOnDisk.of(shard).offset(1, record);
    String chunk = summary.directory() + "/" + summary.chunks().get(0).fileName();
    storage.files().get(chunk)[(int) offset] ^= 1;
    FieldReader reader = open(storage, Verification.FIRST).reader("entries");
    long[] records = {record};
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> {
            reader.select(records, 0, 1);
            reader.value(0);
          })
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining(chunk)
          .hasMessageContaining("'entries'")
          .hasMessageContaining("one of the values from 0 to ")
          .hasMessageMatching(".*checksum [0-9a-f]{8}, but [0-9a-f]{8} was stored.*");
      assertThatThrownBy(() -> {
            reader.selectRange(records[0], 1, Long.MAX_VALUE);
            reader.view(0);
          })
          .isInstanceOf(CorruptDataException.class);
    }
    FieldReader trusting = open(storage, Verification.NEVER).reader("entries");
    trusting.select(new long[] {record}, 0, 1);
    assertThat(trusting.value(0)).isNotEqualTo(data.value("entries", record));
  }

  @Test
  void aLinkInPlaceOfAChunkIsRefused() throws IOException {
    Path chunk = ShardOnDisk.of(shard).chunk(0);
    Files.copy(chunk, directory.resolve("elsewhere"));
    Files.delete(chunk);
    Files.createSymbolicLink(chunk, directory.resolve("elsewhere"));
    FieldReader reader = open(LocalStorage.at(directory), Verification.FIRST).reader("never");
    assertThatThrownBy(() -> reader.select(new long[] {0}, 0, 1))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("symbolic link");
  }

  @Test
  void aShardOfAnotherPlaceIsRefused() {
    ShardSummary other = new ShardSummary(
        summary.id(),
        summary.length() + 1,
        summary.chunks(),
        summary.tables(),
        summary.valueBytes());
    RecordDataset dataset = RecordDataset.openShard(
        LocalStorage.at(directory), SCHEMA, other, RecordDataset.ReadOptions.defaults());
    FieldReader reader = dataset.reader("dense");
    assertThatThrownBy(() -> reader.select(new long[] {0}, 0, 1))
        .isInstanceOf(CorruptDataException.class);
  }

  private RecordDataset open(Storage storage, Verification verification) {
    return RecordDataset.openShard(
        storage, SCHEMA, summary, new RecordDataset.ReadOptions(verification, metrics));
  }

  private void requireEqual(RecordDataset dataset) {
    assertThat(dataset.length()).isEqualTo(data.count());
    long[] indices = LongStream.range(0, data.count()).toArray();
    for (FieldSpec field : SCHEMA.fields()) {
      FieldReader reader = dataset.reader(field.name());
      reader.select(indices, 0, indices.length);
      for (int i = 0; i < indices.length; i++) {
        byte[] expected = data.value(field.name(), i);
        assertThat(reader.isAbsent(i)).isEqualTo(expected == null);
        assertThat(reader.value(i)).isEqualTo(expected == null ? new byte[0] : expected);
      }
      reader.selectRange(0, data.count(), Long.MAX_VALUE);
      reader.copyAll(new byte[(int) reader.totalLengthBytes()], 0);
    }
  }
}
