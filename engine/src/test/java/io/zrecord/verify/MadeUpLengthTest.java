package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordStore;
import io.zrecord.StoreOptions;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.Run;
import io.zrecord.internal.format.RunsFile;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.WriteOptions;
import io.zrecord.verify.Finding.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Lengths for which nobody wrote enough records, in files whose checksums hold: the check ends,
 * with few findings.
 */
final class MadeUpLengthTest {
  private static final int COUNT = 10;
  private static final long LENGTH = 1L << 55;

  @TempDir
  Path directory;

  private final List<Finding> findings = new ArrayList<>();

  private void check(Path path) {
    DatasetCheck.of(path).run(finding -> {
      findings.add(finding);
      assertThat(findings).hasSizeLessThan(100);
    });
  }

  private Path shard(ElementType type, Checksum checksum) throws IOException {
    Path table = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder().field("field", type).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(table, schema, WriteOptions.defaults().withChecksum(checksum))) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < COUNT; i++) {
        if (i == 3) {
          records.endRecord();
        } else if (type.equals(ElementType.I32)) {
          records.set("field", i).endRecord();
        } else {
          records.set("field", "text " + i).endRecord();
        }
      }
      writer.commit();
    }
    try (Stream<Path> shards = Files.list(table.resolve("shard"))) {
      return shards.findFirst().orElseThrow();
    }
  }

  private static ShardMeta meta(Path shard) throws IOException {
    return ShardMeta.read("meta", Files.readAllBytes(shard.resolve("meta.json")));
  }

  private static void write(Path shard, ShardMeta meta, FieldMeta field, List<ChunkMeta> chunks)
      throws IOException {
    ShardMeta changed = new ShardMeta(
        meta.id(), LENGTH, meta.hasChecksums(), meta.chunkBytes(), chunks, List.of(field));
    Files.write(shard.resolve("meta.json"), changed.write());
  }

  @Test
  void ofEntries() throws IOException {
    Path shard = shard(ElementType.UTF8, Checksum.CRC32C);
    ShardMeta meta = meta(shard);
    write(shard, meta, meta.fields().get(0), meta.chunks());
    check(shard);
    assertThat(findings)
        .anyMatch(
            f -> f.kind() == Kind.ENTRY && f.firstIndex() == COUNT && f.count() == LENGTH - COUNT);
    Damage.cut(shard.resolve("field.offset"), 0);
    findings.clear();
    check(shard);
    assertThat(findings).anyMatch(f -> f.kind() == Kind.ENTRY && f.count() == LENGTH);
  }

  @Test
  void ofRunsWithoutChecksums() throws IOException {
    Path shard = shard(ElementType.I32, Checksum.NONE);
    ShardMeta meta = meta(shard);
    FieldMeta field = meta.fields().get(0);
    ChunkMeta chunk = meta.chunks().get(0);
    Run run = new Run(0, LENGTH, 64, chunk.id(), 0);
    RunsFile runs = new RunsFile(LENGTH, 4, false, true, List.of(run), new int[0], new int[0]);
    Files.write(
        shard.resolve("field.runs"),
        runs.write(new Binding(meta.id(), field.spec().id())));
    write(
        shard,
        meta,
        new FieldMeta(field.spec(), field.stem(), field.layout(), 1, 4 * LENGTH),
        List.of(new ChunkMeta(chunk.id(), chunk.recordCount(), 64 + 4 * LENGTH)));
    check(shard);
    assertThat(findings)
        .anyMatch(f -> f.kind() == Kind.VALUE && f.firstIndex() == 0 && f.count() == LENGTH);
    assertThat(findings).anyMatch(f -> f.kind() == Kind.PRESENCE);
  }

  /** Returns the uuid in the header of a journal. */
  private static UUID storeId(byte[] journal) {
    ByteBuffer header = ByteBuffer.wrap(journal);
    return new UUID(header.getLong(16), header.getLong(24));
  }

  /** A record of the journal cannot make the store longer by more records than it has. */
  @Test
  void ofAJournal() throws IOException {
    Path path = SampleStore.killedBeforeTables(directory);
    check(path);
    assertThat(findings).as("control").isEmpty();
    Path journal = path.resolve("journal");
    byte[] content = Files.readAllBytes(journal);
    ByteBuffer bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    int at = 64;
    int length = bytes.getInt(at + 4);
    bytes.putLong(at + 32, LENGTH).putInt(at + 20, 0);
    byte[] record = new byte[length];
    System.arraycopy(content, at, record, 0, length);
    Binding binding = new Binding(storeId(content), 0);
    int crc = Crc32c.of(record);
    bytes.putInt(at + 20, binding.bind(Binding.Kind.JOURNAL_RECORD, bytes.getLong(at + 8), crc));
    Files.write(journal, content);
    check(path);
    assertThat(findings)
        .anyMatch(f -> f.kind() == Kind.JOURNAL && f.problem().contains("contradicts"));
    assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()).close())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("contradicts");
  }
}
