package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.FabricatedTable;
import io.zrecord.testing.ShardEditor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Lengths for which nobody wrote enough records, in files whose checksums hold: the check ends,
 * with few findings.
 */
final class MadeUpLengthTest {
  private static final long LENGTH = 1L << 55;

  @TempDir
  Path directory;

  private final List<Finding> findings = new ArrayList<>();

  private void check(Path path) {
    DatasetCheck.of(path.toString()).run(finding -> {
      findings.add(finding);
      assertThat(findings).hasSizeLessThan(100);
    });
  }

  /** No check reads as many values as the metadata says there are. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofRuns(boolean isCut) throws IOException {
    long length = 1L << 47;
    RecordSchema schema = RecordSchema.builder().field("field", ElementType.I32).build();
    ChunkFile chunk = ChunkFile.of(UUID.randomUUID(), 64 + 4 * length);
    FabricatedTable table =
        new FabricatedTable(directory.resolve("table"), schema, length, List.of(chunk));
    table.write(List.of(RunRecord.fixed(0, 0, length, 64, 4 * length, 0)));
    byte[] header = FabricatedTable.chunkHeader(chunk);
    Path file = table.shardDirectory().resolve(chunk.fileName());
    int there = isCut ? 0 : 10;
    Files.write(file, Arrays.copyOf(header, header.length + 4 * there));
    check(directory.resolve("table"));
    assertThat(findings).anyMatch(f -> f.kind() == Kind.CHUNK);
    assertThat(findings)
        .anyMatch(f -> f.kind() == Kind.VALUE && f.firstIndex() == 0 && f.count() == length);
    try (RecordDataset dataset = RecordDataset.open(directory.resolve("table").toString())) {
      assertThat(dataset.length()).isEqualTo(length);
      assertThatThrownBy(() -> dataset.gather(new long[] {length - 1}, "field"))
          .isInstanceOf(TruncatedFileException.class);
    }
  }

  /** A length that no file of entries or bits could have is refused. */
  @Test
  void ofAShard() {
    RecordSchema schema = RecordSchema.builder().field("field", ElementType.I32).build();
    ChunkFile chunk = ChunkFile.of(UUID.randomUUID(), 64 + 4 * LENGTH);
    Path path = directory.resolve("table");
    new FabricatedTable(path, schema, LENGTH, List.of(chunk))
        .write(List.of(RunRecord.fixed(0, 0, LENGTH, 64, 4 * LENGTH, 0)));
    check(path);
    assertThat(findings)
        .anyMatch(f -> f.kind() == Kind.META && f.problem().contains("member 'length'"));
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThatThrownBy(() -> dataset.gather(new long[] {0}, "field"))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("member 'length'");
    }
  }

  /** The tables of a field have as many bytes as the file has, whatever a length says. */
  @Test
  void ofEntries() throws IOException {
    Path path = directory.resolve("table");
    RecordSchema schema =
        RecordSchema.builder().field("field", ElementType.UTF8).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < 10; i++) {
        records.set("field", "text " + i).endRecord();
      }
      writer.commit();
    }
    long length = 1L << 47;
    Path shard;
    try (Stream<Path> shards = Files.list(path.resolve("shard"))) {
      shard = shards.findFirst().orElseThrow();
    }
    ShardEditor.of(path, shard).claimLength(length);
    check(path);
    assertThat(findings).anyMatch(f -> f.kind() == Kind.RUNS && f.count() == length);
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThatThrownBy(() -> dataset.gather(new long[] {0}, "field"))
          .isInstanceOf(CorruptDataException.class);
    }
  }
}
