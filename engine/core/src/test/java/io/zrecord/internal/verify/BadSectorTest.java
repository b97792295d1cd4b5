package io.zrecord.internal.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.verify.SealedShardCheck.Depth;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.verify.BadSectors;
import io.zrecord.verify.DatasetCheck;
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
  private static final int TEXT = 1;
  private static final int LABEL = 2;
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
        RecordDatasetWriter.append(table.toString(), SCHEMA, WriteOptions.defaults())) {
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

  private ShardOnDisk files() {
    return ShardOnDisk.of(shard);
  }

  private String nameOf(Path file) {
    return table().relativize(file).toString();
  }

  private Path table() {
    return shard.getParent().getParent();
  }

  private CheckSummary check(Path file, long from) {
    return check(BadSectors.of(table(), nameOf(file), from, from + SECTOR_BYTES));
  }

  private CheckSummary check(BadSectors files) {
    findings.clear();
    CheckRun run = new CheckRun(findings::add);
    shardCheck(run, files).run();
    return run.summary();
  }

  private Runnable shardCheck(CheckRun run, MutableFiles files) {
    ShardSummary summary = files().summary();
    return () -> new SealedShardCheck(run, files, Depth.VALUES).check(summary, SCHEMA, 0);
  }

  @Test
  void ofEndsCostsTheBlock() {
    CheckSummary summary = check(files().tables(), files().placeAt(TEXT, 512));
    requireBlockIsLost();
    assertThat(summary.valueCount()).isEqualTo(2 * COUNT);
  }

  @Test
  void ofChecksumsCostsTheBlock() {
    long at = files().checksumAt(TEXT, 256);
    check(BadSectors.of(table(), nameOf(files().tables()), at, at + 4));
    requireBlockIsLost();
  }

  private void requireBlockIsLost() {
    assertThat(findings.stream().filter(f -> f.kind() == Kind.ENTRY))
        .singleElement()
        .returns("text", Finding::field)
        .returns(0L, Finding::firstIndex)
        .returns((long) COUNT, Finding::count);
    assertThat(findings).hasSize(1);
  }

  @Test
  void ofPresenceBitsIsNamed() {
    Section bits = files().field(LABEL).validity();
    CheckSummary summary =
        check(BadSectors.of(table(), nameOf(files().tables()), bits.position(), bits.end()));
    assertThat(findings).hasSize(1);
    assertThat(findings.get(0))
        .returns(Kind.PRESENCE, Finding::kind)
        .returns("label", Finding::field)
        .returns((long) COUNT, Finding::count);
    assertThat(summary.valueCount()).isEqualTo(2 * COUNT);
  }

  @Test
  void ofAChunkCostsTheValuesInIt() {
    ShardOnDisk files = files();
    long from = files.offset(TEXT, 300) / SECTOR_BYTES * SECTOR_BYTES;
    check(files.chunk(0), from);
    long lost = 0;
    for (int i = 0; i < COUNT; i++) {
      long first = files.unitSlot(TEXT, i);
      long last = Math.min(COUNT, first + files.unitValues(TEXT, i)) - 1;
      long at = files.offset(TEXT, first);
      long end = files.offset(TEXT, last) + files.storedBytes(TEXT, last);
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
    for (Path file : new Path[] {files().tables(), files().chunk(0)}) {
      for (String reason : new String[] {"Permission denied", "Too many open files"}) {
        BadSectors files =
            new BadSectors(table(), nameOf(file), 0, 1 << 30, new IOException(reason));
        assertThatThrownBy(() -> check(files))
            .as("%s, %s", file, reason)
            .isInstanceOf(FileUnavailableException.class);
        assertThat(findings).isEmpty();
      }
    }
  }

  @Test
  void anInterruptIsNoFinding() {
    Runnable check = shardCheck(new CheckRun(findings::add), new LocalMutableFiles(table()));
    Thread.currentThread().interrupt();
    try {
      check.run();
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(findings).isEmpty();
    assertThat(DatasetCheck.of(table().toString()).run(findings::add).isSound()).isTrue();
  }

  @Test
  void aLaterFormatIsNoFinding() throws IOException {
    setVersion(files().chunk(0), 60);
    assertThatThrownBy(() -> DatasetCheck.of(table().toString()).run(findings::add))
        .isInstanceOf(UnsupportedFormatException.class);
    write();
    setVersion(files().tables(), 60);
    assertThatThrownBy(() -> DatasetCheck.of(table().toString()).run(findings::add))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThat(findings).isEmpty();
  }

  private static void setVersion(Path file, int checksumAt) throws IOException {
    byte[] content = Files.readAllBytes(file);
    ByteBuffer bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).putInt(8, 3);
    bytes.putInt(checksumAt, Crc32c.of(content, 0, checksumAt));
    Files.write(file, content);
  }
}
