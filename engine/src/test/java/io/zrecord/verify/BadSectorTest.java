package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.BindingProbe;
import io.zrecord.verify.Finding.Kind;
import io.zrecord.verify.SealedShardCheck.Depth;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A bad sector costs the values that need it, and the check goes on; what is no fault of the medium
 * ends it.
 */
final class BadSectorTest {
  private static final int COUNT = 1000;
  private static final int SECTOR_BYTES = 512;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8)
      .field("label", ElementType.I32)
      .build();

  @TempDir
  Path directory;

  private Path shard;
  private final List<Finding> findings = new ArrayList<>();

  @BeforeEach
  void write() throws IOException {
    Path table = Files.createTempDirectory(directory, "table").resolve("table");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(table, SCHEMA, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < COUNT; i++) {
        records.set("text", "some text of record " + i);
        (i % 3 == 0 ? records : records.set("label", i)).endRecord();
      }
      writer.commit();
    }
    try (Stream<Path> shards = Files.list(table.resolve("shard"))) {
      shard = shards.findFirst().orElseThrow();
    }
  }

  private CheckSummary check(String file, long from) {
    return check(BadSectors.of(shard, file, from, from + SECTOR_BYTES));
  }

  private CheckSummary check(BadSectors files) {
    findings.clear();
    CheckRun run = new CheckRun(findings::add);
    new SealedShardCheck(run, files, Depth.VALUES).checkAlone();
    return run.summary();
  }

  @Test
  void ofEntriesCostsThoseNearIt() {
    CheckSummary summary = check("text.offset", 2 * 4096 + 1024);
    assertThat(findings).hasSize(1);
    assertThat(findings.get(0))
        .returns(Kind.ENTRY, Finding::kind)
        .returns("text", Finding::field)
        .returns(512L, Finding::firstIndex)
        .returns(256L, Finding::count);
    assertThat(summary.valueCount()).isEqualTo(2 * COUNT);
  }

  @Test
  void ofChecksumsCostsThoseNearIt() {
    check("text.crc32c", 1024);
    assertThat(findings).hasSize(1);
    assertThat(findings.get(0))
        .returns(Kind.ENTRY, Finding::kind)
        .returns(256L, Finding::firstIndex)
        .returns(256L, Finding::count);
  }

  @Test
  void ofPresenceBitsIsNamed() {
    CheckSummary summary = check("label.valid", 0);
    assertThat(findings).hasSize(1);
    assertThat(findings.get(0))
        .returns(Kind.PRESENCE, Finding::kind)
        .returns("label", Finding::field)
        .returns((long) COUNT, Finding::count);
    assertThat(summary.valueCount()).isEqualTo(2 * COUNT);
  }

  @Test
  void ofAChunkCostsTheValuesInIt() throws IOException {
    ByteBuffer entries = ByteBuffer.wrap(Files.readAllBytes(shard.resolve("text.offset")))
        .order(ByteOrder.LITTLE_ENDIAN);
    long from = entries.getLong(16 * 300) / SECTOR_BYTES * SECTOR_BYTES;
    check("chunk/0.zr", from);
    long lost = 0;
    for (int i = 0; i < COUNT; i++) {
      long at = entries.getLong(16 * i);
      long end = at + entries.getInt(16 * i + 12);
      boolean isLost = at < from + SECTOR_BYTES && end > from;
      int index = i;
      assertThat(findings.stream()
              .anyMatch(f -> f.firstIndex() <= index && index < f.firstIndex() + f.count()))
          .as("record %s", i)
          .isEqualTo(isLost);
      lost += isLost ? 1 : 0;
    }
    assertThat(lost).isPositive();
    assertThat(findings).allMatch(f -> "text".equals(f.field()) && f.kind() == Kind.VALUE);
  }

  @Test
  void whatIsNoFaultOfTheContentIsNoFinding() {
    for (String file : new String[] {"text.offset", "text.crc32c", "label.valid", "chunk/0.zr"}) {
      for (String reason : new String[] {"Permission denied", "Too many open files"}) {
        BadSectors files = new BadSectors(shard, file, 0, 1 << 30, new IOException(reason));
        assertThatThrownBy(() -> check(files))
            .as("%s, %s", file, reason)
            .isInstanceOf(FileUnavailableException.class);
        assertThat(findings).isEmpty();
      }
    }
  }

  @Test
  void anInterruptIsNoFinding() {
    SealedShardCheck check = new SealedShardCheck(
        new CheckRun(findings::add), new LocalMutableFiles(shard), Depth.VALUES);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(check::checkAlone)
          .isInstanceOf(FileUnavailableException.class)
          .hasMessageContaining("interrupted");
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(findings).isEmpty();
    assertThat(DatasetCheck.of(shard).run(findings::add).isSound()).isTrue();
  }

  @Test
  void aLaterFormatIsNoFinding() throws IOException {
    setVersion(shard.resolve("chunk/0.zr"), 60, 0);
    assertThatThrownBy(() -> DatasetCheck.of(shard).run(findings::add))
        .isInstanceOf(UnsupportedFormatException.class);
    write();
    Path runs = shard.resolve("label.runs");
    ShardMeta meta = ShardMeta.read("meta", Files.readAllBytes(shard.resolve("meta.json")));
    int field = meta.fields().stream()
        .filter(f -> f.stem().equals("label"))
        .mapToInt(f -> f.spec().id())
        .findFirst()
        .orElseThrow();
    int binding = BindingProbe.crcOfBinding(meta.id(), field, 5, 0);
    setVersion(runs, (int) Files.size(runs) - 4, binding);
    assertThatThrownBy(() -> DatasetCheck.of(shard).run(findings::add))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThat(findings).isEmpty();
  }

  /** Makes a file one of a later format, with a checksum that holds. */
  private static void setVersion(Path file, int checksumAt, int crcOfBinding) throws IOException {
    byte[] content = Files.readAllBytes(file);
    ByteBuffer bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).putInt(8, 3);
    bytes.putInt(checksumAt, Crc32c.of(content, 0, checksumAt) ^ crcOfBinding);
    Files.write(file, content);
  }
}
