package io.zrecord.internal.shard.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.ValueAlignment;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.FileIds;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.ForwardingStorage;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The longest values there can be, of zeros, in chunk files with holes. */
final class HugeValuesTest {
  private static final UUID ID = UUID.fromString("9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11");
  private static final int LONGEST = Integer.MAX_VALUE;
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("v", ElementType.BYTES).build();

  @TempDir
  Path directory;

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  /** A storage whose chunk files have holes in place of zeros. */
  private static final class HollowStorage extends ForwardingStorage {
    private final Path root;

    HollowStorage(Path root) {
      super(LocalStorage.at(root));
      this.root = root;
    }

    @Override
    public WritableFile create(String name) {
      try {
        if (!name.endsWith(".zr")) {
          return super.create(name);
        }
        Path path = root.resolve(name);
        Files.createDirectories(path.getParent());
        return new HollowFile(new RandomAccessFile(path.toFile(), "rw"), path.toString());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final class HollowFile implements WritableFile {
    private final RandomAccessFile file;
    private final String path;
    private long position;

    HollowFile(RandomAccessFile file, String path) {
      this.file = file;
      this.path = path;
    }

    @Override
    public void write(ByteBuffer... sources) {
      for (ByteBuffer source : sources) {
        byte[] bytes = new byte[source.remaining()];
        source.get(bytes);
        write(bytes);
        position += bytes.length;
      }
    }

    private void write(byte[] bytes) {
      for (byte one : bytes) {
        if (one != 0) {
          try {
            file.seek(position);
            file.write(bytes);
            return;
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }
      }
    }

    void skip(long bytes) {
      position += bytes;
    }

    @Override
    public String path() {
      return path;
    }

    @Override
    public long positionBytes() {
      return position;
    }

    @Override
    public void force() {}

    @Override
    public void close() {
      try {
        file.setLength(position);
        file.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Writes values of zeros, except that the last byte of each is its number. */
  private ShardSummary write(int... lengths) {
    Storage storage = new HollowStorage(directory);
    String name = "shard/" + ID;
    WriteOptions options =
        WriteOptions.defaults().withDurability(Durability.NONE).withChunkBytes(1L << 40);
    FieldSpec field = SCHEMA.fields().get(0);
    try (TableSpool spool = new TableSpool(storage, name + "/x.spool", 1 << 20, 2);
        ChunkWriter chunks = new ChunkWriter(storage, name, ID, ID, options)) {
      ColumnTables tables = new ColumnTables(spool, false, new Binding(ID, field.id()));
      VariableRuns runs = new VariableRuns(tables, ValueAlignment.NONE);
      long bytes = 0;
      for (int i = 0; i < lengths.length; i++) {
        WritableFile file =
            runs.begin(chunks, new VariableRuns.Stretch(1, lengths[i], lengths[i], lengths[i]));
        ((HollowFile) file).skip(lengths[i] - 1L);
        file.write(ByteBuffer.wrap(new byte[] {(byte) i}));
        runs.addSummed(lengths[i]);
        bytes += lengths[i];
      }
      runs.endRun();
      chunks.roll();
      spool.complete();
      try (TablesWriter writer =
          new TablesWriter(storage, name, ID, FileIds.tables(ID), lengths.length, false)) {
        writer.variable(field, new TablesWriter.Amount(0, bytes), runs, spool.table());
        TablesRef ref = writer.seal(chunks.chunks(), Durability.NONE);
        return new ShardSummary(ID, lengths.length, chunks.chunks(), List.of(ref), new TreeMap<>());
      }
    }
  }

  private List<RunRecord> runs(ShardSummary shard) {
    Storage storage = LocalStorage.at(directory);
    TablesFile file = TablesFile.open(storage, shard, shard.tables().get(0), kept -> {});
    return file.runs(file.json().field(1), -1, new Binding(ID, 1));
  }

  private FieldReader reader(ShardSummary shard) {
    return RecordDataset.openShard(
            LocalStorage.at(directory),
            SCHEMA,
            shard,
            new RecordDataset.ReadOptions(Verification.FIRST, new ReadMetrics()))
        .reader("v");
  }

  @Test
  void theLongestValueAndItsNeighbours() {
    ShardSummary shard = write(5, LONGEST, 7);
    assertThat(runs(shard)).hasSize(1);
    FieldReader reader = reader(shard);
    reader.select(new long[] {2, 1, 0}, 0, 3);
    assertThat(reader.lengthBytes(1)).isEqualTo(LONGEST);
    assertThat(reader.value(0)).hasSize(7).endsWith(2);
    assertThat(reader.value(2)).hasSize(5).endsWith(0);
    assertThat(reader.totalLengthBytes()).isEqualTo(LONGEST + 12L);
    assertThat(reader.selectRange(0, 3, Long.MAX_VALUE)).isEqualTo(3);
    assertThat(reader.lengthBytes(1)).isEqualTo(LONGEST);
    assertThat(reader.value(2)).hasSize(7).endsWith(2);
    assertThat(reader.selectRange(0, 3, LONGEST)).isOne();
    assertThat(reader.selectRange(1, 2, LONGEST)).isOne();
  }

  /** Three such values would be 2³² bytes and more from the base of their block. */
  @Test
  void aRunEndsBeforeABlockHasTooManyBytes() {
    ShardSummary shard = write(LONGEST, 1, LONGEST, 1, 1, LONGEST, 9);
    List<RunRecord> runs = runs(shard);
    // 2 · (2³¹ − 1) + 1 is the greatest number of 32 bits.
    assertThat(runs).extracting(RunRecord::count).containsExactly(3L, 4L);
    assertThat(runs.get(0).bytes()).isEqualTo(0xffff_ffffL);
    assertThat(runs.get(1).offset() % 8).isZero();
    FieldReader reader = reader(shard);
    reader.select(new long[] {1, 3, 4, 6}, 0, 4);
    assertThat(reader.value(0)).containsExactly(1);
    assertThat(reader.value(1)).containsExactly(3);
    assertThat(reader.value(2)).containsExactly(4);
    assertThat(reader.value(3)).hasSize(9).endsWith(6);
    reader.select(new long[] {2}, 0, 1);
    assertThat(reader.lengthBytes(0)).isEqualTo(LONGEST);
  }
}
