package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.BlockRecord;
import io.zrecord.internal.format.BlockUnits;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.testing.Cases;
import io.zrecord.testing.ShardOnDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Damage of values that are compressed together is found by readers and by a check. */
class BlockDamageTest {
  private static final int TEXT = 1;
  private static final int NUMBER = 2;
  private static final int COUNT = 2000;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.parse("zstd"))
      .field("number", ElementType.I64, Shape.scalar(), Compression.parse("lz4"))
      .build();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE).withBlockBytes(4096);

  private final long seed = Budget.seed();
  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private ShardSummary shard;
  private ShardOnDisk onDisk;

  @BeforeEach
  void write() {
    Storage storage = LocalStorage.at(directory);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, OPTIONS)) {
      for (int i = 0; i < COUNT; i++) {
        byte[] text = text(i);
        if (i % 11 != 3) {
          writer.put(0, text, 0, text.length);
        }
        writer.putLong(1, number(i));
        writer.endRecord();
      }
      shard = writer.finish().orElseThrow();
    }
    RecordTable.at(storage)
        .commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
            .shards(List.of(shard))
            .build());
    onDisk = ShardOnDisk.of(directory.resolve(shard.directory()));
    assertThat(onDisk.field(TEXT).blockBytes()).isEqualTo(4096);
    assertThat(onDisk.field(NUMBER).blockBytes()).isEqualTo(4096);
  }

  /** All texts of blocks are equally long, so that blocks of equal lengths can be exchanged. */
  private static byte[] text(int number) {
    return String.format("text %04d of many", number).getBytes(StandardCharsets.UTF_8);
  }

  private static long number(int number) {
    return 1_000_003L * number * number;
  }

  private List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(directory.toString()).run(findings::add);
    return findings;
  }

  /** Reads all values; returns whether they are those that were written. */
  private boolean isReadAsWritten() {
    OpenShards.shared().clear();
    ReadOptions reading = new ReadOptions(Verification.FIRST, new ReadMetrics());
    try (RecordDataset dataset =
        RecordDataset.openShard(LocalStorage.at(directory), SCHEMA, onDisk.summary(), reading)) {
      boolean isRight = true;
      for (String name : new String[] {"text", "number"}) {
        FieldReader reader = dataset.reader(name);
        reader.selectRange(0, COUNT, Long.MAX_VALUE);
        for (int i = 0; i < COUNT; i++) {
          byte[] expected = name.equals("number")
              ? ByteBuffer.allocate(8)
                  .order(ByteOrder.LITTLE_ENDIAN)
                  .putLong(number(i))
                  .array()
              : i % 11 == 3 ? new byte[0] : text(i);
          isRight &= Arrays.equals(reader.value(i), expected);
        }
      }
      return isRight;
    }
  }

  private static void flip(Path file, long position) throws IOException {
    byte[] content = Files.readAllBytes(file);
    content[(int) position] ^= (byte) (1 << (position & 7));
    Files.write(file, content);
  }

  @Test
  void whatWasWrittenIsSound() {
    assertThat(isReadAsWritten()).isTrue();
    assertThat(findings()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {TEXT, NUMBER})
  void aFlippedBitOfABlockIsFound(int field) throws IOException {
    for (int round = Math.max(5, Budget.of(20)); round > 0; round--) {
      BlockRecord block = onDisk.block(field, random.nextInt(3));
      long position = block.position() + random.nextInt(block.storedBytes());
      flip(onDisk.chunk(0), position);
      assertThatThrownBy(this::isReadAsWritten)
          .as("seed %s, byte %s", seed, position)
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("the block at byte " + block.position());
      List<Finding> findings = findings();
      assertThat(findings).hasSize(1);
      assertThat(findings.get(0).kind()).isEqualTo(Finding.Kind.VALUE);
      assertThat(findings.get(0).firstIndex()).isEqualTo(block.firstSlot());
      assertThat(findings.get(0).count()).isEqualTo(block.slots());
      flip(onDisk.chunk(0), position);
    }
    assertThat(findings()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {TEXT, NUMBER})
  void aFlippedBitOfTheRecordsIsFound(int field) throws IOException {
    long bytes = onDisk.field(field).offsets().bytes();
    for (long at : Cases.before(bytes - 4)) {
      long position = onDisk.field(field).offsets().position() + at;
      flip(onDisk.tables(), position);
      assertThatThrownBy(this::isReadAsWritten)
          .as("byte %s", at)
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("has checksum");
      assertThat(findings()).as("byte %s", at).isNotEmpty();
      flip(onDisk.tables(), position);
    }
  }

  /** Without the checksum of the records, most damage of a record still contradicts something. */
  @Test
  void aRecordThatIsSealedAgainIsRefusedOrLeadsToTheSameValues() throws IOException {
    byte[] sound = Files.readAllBytes(onDisk.tables());
    int refused = 0;
    long[] bits = Cases.before(8 * BlockUnits.RECORD_BYTES);
    for (long bit : bits) {
      byte[] changed = sound.clone();
      changed[(int) (onDisk.blockAt(TEXT, 1) + bit / 8)] ^= (byte) (1 << bit % 8);
      Files.write(onDisk.tables(), changed);
      onDisk.sealBlocks(TEXT, 0);
      assertThat(findings()).as("bit %s", bit).isNotEmpty();
      try {
        assertThat(isReadAsWritten()).as("bit %s", bit).isTrue();
      } catch (CorruptDataException | UnsupportedFormatException e) {
        refused++;
      }
    }
    assertThat(refused).isEqualTo(bits.length);
    Files.write(onDisk.tables(), sound);
  }

  @Test
  void exchangedBlocksAreFound() throws IOException {
    exchange(false);
    assertThatThrownBy(this::isReadAsWritten)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("checksum");
    assertThat(findings()).hasSize(2);
  }

  /**
   * Blocks whose checksums were bound again read as other values: the test above is no accident.
   */
  @Test
  void controlOfExchangedBlocks() throws IOException {
    exchange(true);
    assertThat(isReadAsWritten()).isFalse();
    assertThat(findings()).isEmpty();
  }

  /** Exchanges what the records of two blocks with equal counts of bytes and values say. */
  private void exchange(boolean binds) throws IOException {
    int second = 0;
    BlockRecord a = onDisk.block(NUMBER, 0);
    BlockRecord b;
    do {
      b = onDisk.block(NUMBER, ++second);
    } while (b.rawBytes() != a.rawBytes() || b.slots() != a.slots());
    byte[] changed = Files.readAllBytes(onDisk.tables());
    ByteBuffer tables = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
    put(tables, 0, b, binds);
    put(tables, second, a, binds);
    Files.write(onDisk.tables(), changed);
    onDisk.sealBlocks(NUMBER, 0);
  }

  private void put(ByteBuffer tables, int block, BlockRecord other, boolean binds)
      throws IOException {
    int at = (int) onDisk.blockAt(NUMBER, block);
    byte[] chunk = Files.readAllBytes(onDisk.chunk(0));
    int checksum = new Binding(onDisk.json().shardId(), NUMBER)
        .bind(
            Binding.Kind.BLOCK,
            block,
            Crc32c.of(chunk, (int) other.position(), other.storedBytes()));
    tables.putLong(at + BlockUnits.POSITION_AT, other.position());
    tables.putInt(at + BlockUnits.STORED_AT, other.storedBytes());
    tables.putInt(at + BlockUnits.FLAGS_AT, other.flags());
    tables.putInt(at + BlockUnits.CHECKSUM_AT, binds ? checksum : other.checksum());
  }

  /** A block cannot make a reader take more memory than values of the field have. */
  @Test
  void bombsAreRefused() throws IOException {
    byte[] sound = Files.readAllBytes(onDisk.tables());
    for (int field : new int[] {TEXT, NUMBER}) {
      for (int raw : new int[] {4097, 1 << 24, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
        for (int slots : new int[] {1, 2, Integer.MAX_VALUE, -1, 0}) {
          byte[] changed = sound.clone();
          int at = (int) onDisk.blockAt(field, 0);
          ByteBuffer tables = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
          tables.putInt(at + BlockUnits.RAW_AT, raw);
          tables.putInt(at + BlockUnits.SLOTS_AT, slots);
          Files.write(onDisk.tables(), changed);
          onDisk.sealBlocks(field, 0);
          assertThatThrownBy(this::isReadAsWritten)
              .as("%s bytes, %s values", raw, slots)
              .isInstanceOf(CorruptDataException.class);
          assertThat(findings()).isNotEmpty();
        }
      }
    }
  }

  /** A scan would read the first values of a block that begins too early; a look-up would not. */
  @Test
  void aBlockThatOverlapsTheOneBeforeIsRefusedByAScan() throws IOException {
    BlockRecord second = onDisk.block(NUMBER, 1);
    byte[] changed = Files.readAllBytes(onDisk.tables());
    ByteBuffer tables = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
    tables.putLong((int) onDisk.blockAt(NUMBER, 1), second.firstSlot() - 1);
    Files.write(onDisk.tables(), changed);
    onDisk.sealBlocks(NUMBER, 0);
    OpenShards.shared().clear();
    ReadOptions reading = new ReadOptions(Verification.FIRST, new ReadMetrics());
    try (RecordDataset dataset =
        RecordDataset.openShard(LocalStorage.at(directory), SCHEMA, onDisk.summary(), reading)) {
      FieldReader reader = dataset.reader("number");
      int count = (int) second.firstSlot() + 5;
      byte[] target = new byte[count * Long.BYTES];
      assertThatThrownBy(() -> {
            reader.selectRange(0, count, Long.MAX_VALUE);
            reader.copyAll(target, 0);
          })
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("is not within its run, or not possible");
    }
  }

  /** With {@code ALWAYS} each selection compares them, though they were right before. */
  @Test
  void presenceBitsThatChangeBetweenTwoSelectionsAreFound() throws IOException {
    OpenShards.shared().clear();
    ReadOptions always = new ReadOptions(Verification.ALWAYS, new ReadMetrics());
    long position = onDisk.field(TEXT).validity().position() + 1;
    try (RecordDataset dataset =
        RecordDataset.openShard(LocalStorage.at(directory), SCHEMA, onDisk.summary(), always)) {
      FieldReader reader = dataset.reader("text");
      long[] indices = {5, 900, 6, 901};
      reader.select(indices, 0, indices.length);
      assertThat(reader.value(1)).isEqualTo(text(900));
      try (var file = new java.io.RandomAccessFile(onDisk.tables().toFile(), "rw")) {
        file.seek(position);
        int bits = file.read();
        file.seek(position);
        file.write(bits ^ 1);
      }
      assertThatThrownBy(() -> reader.select(indices, 0, indices.length))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("the table at byte");
    }
  }

  @Test
  void aBlockThatDecodesToOtherLengthsIsRefused() throws IOException {
    BlockRecord block = onDisk.block(TEXT, 0);
    byte[] sound = Files.readAllBytes(onDisk.tables());
    for (int change : new int[] {-1, 1}) {
      byte[] changed = sound.clone();
      int at = (int) onDisk.blockAt(TEXT, 0);
      ByteBuffer tables = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
      tables.putInt(at + BlockUnits.RAW_AT, block.rawBytes() + change);
      Files.write(onDisk.tables(), changed);
      onDisk.sealBlocks(TEXT, 0);
      assertThatThrownBy(this::isReadAsWritten)
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("cannot be decoded");
      assertThat(findings().get(0).problem()).contains("cannot be decoded");
    }
  }

  @Test
  void aCutChunkIsOneFinding() throws IOException {
    BlockRecord block = onDisk.block(TEXT, 2);
    byte[] chunk = Files.readAllBytes(onDisk.chunk(0));
    Files.write(onDisk.chunk(0), Arrays.copyOf(chunk, (int) block.position() + 1));
    assertThatThrownBy(this::isReadAsWritten).isInstanceOf(ZRecordException.class);
    List<Finding> ofText =
        findings().stream().filter(finding -> "text".equals(finding.field())).toList();
    assertThat(ofText).hasSize(1);
    assertThat(ofText.get(0).firstIndex()).isEqualTo(block.firstSlot());
    assertThat(ofText.get(0).count()).isEqualTo(COUNT - block.firstSlot());
  }
}
