package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.WriteOptions;
import io.zrecord.verify.Finding.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damages of tables and sealed shards are found and named; sound ones pass. */
final class DatasetCheckTest {
  private static final int COUNT = 1000;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8)
      .field("zipped", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.ZSTD))
      .field("label", ElementType.I32)
      .field("image", ElementType.U8, Shape.of(10, 10), Compression.RAW)
      .build();

  @TempDir
  Path directory;

  private Path table;
  private Path shard;
  private final List<Finding> findings = new ArrayList<>();

  @BeforeEach
  void write() throws IOException {
    table = directory.resolve("table");
    append(table, WriteOptions.defaults());
    shard = shards(table).get(0);
  }

  private static void append(Path path, WriteOptions options) {
    Random random = new Random(7);
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(path, SCHEMA, options)) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < COUNT; i++) {
        byte[] image = new byte[100];
        random.nextBytes(image);
        records.set("text", "text " + i).set("image", image).set("zipped", new byte[i]);
        if (i % 3 != 0) {
          records.set("label", i);
        }
        records.endRecord();
      }
      writer.commit();
    }
  }

  private static List<Path> shards(Path table) throws IOException {
    try (Stream<Path> shards = Files.list(table.resolve("shard"))) {
      return shards.sorted().toList();
    }
  }

  private CheckSummary check(DatasetCheck check) {
    findings.clear();
    return check.run(findings::add);
  }

  private Finding onlyDamage(Path dataset) {
    CheckSummary summary = check(DatasetCheck.of(dataset));
    List<Finding> damages = findings.stream().filter(f -> f.kind().isDamage()).toList();
    assertThat(damages).hasSize(1);
    assertThat(summary.isSound()).isFalse();
    assertThat(summary.damageCount()).isOne();
    return damages.get(0);
  }

  private static long entryWord(Path file, int record, int at) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file))
        .order(ByteOrder.LITTLE_ENDIAN)
        .getLong(16 * record + at);
  }

  @Test
  void aSoundTableHasNoFindings() {
    CheckSummary summary = check(DatasetCheck.of(table));
    assertThat(findings).isEmpty();
    assertThat(summary.isSound()).isTrue();
    assertThat(summary.recordCount()).isEqualTo(COUNT);
    assertThat(summary.valueCount()).isEqualTo(4L * COUNT);
    assertThat(summary.bytes()).isPositive();
  }

  @Test
  void aSoundShardStandingAloneHasNoFindings() {
    assertThat(check(DatasetCheck.of(shard)).recordCount()).isEqualTo(COUNT);
    assertThat(findings).isEmpty();
  }

  @Test
  void aFlippedValueIsNamed() throws IOException {
    Path chunk = shard.resolve("chunk/0.zr");
    Damage.flip(chunk, entryWord(shard.resolve("text.offset"), 321, 0) + 1);
    Finding found = onlyDamage(table);
    assertThat(found.kind()).isEqualTo(Kind.VALUE);
    assertThat(found.field()).isEqualTo("text");
    assertThat(found.firstIndex()).isEqualTo(321);
    assertThat(found.count()).isOne();
    assertThat(found.problem()).contains("chunk/0.zr").contains("checksum");
  }

  @Test
  void aFlippedCompressedValueIsNamed() throws IOException {
    Damage.flip(shard.resolve("chunk/0.zr"), entryWord(shard.resolve("zipped.offset"), 777, 0) + 6);
    assertThat(onlyDamage(table))
        .returns("zipped", Finding::field)
        .returns(777L, Finding::firstIndex);
  }

  @Test
  void aFlippedEntryIsNamed() {
    Damage.flip(shard.resolve("text.offset"), 16 * 17 + 6);
    assertThat(onlyDamage(table))
        .returns(Kind.ENTRY, Finding::kind)
        .returns("text", Finding::field)
        .returns(17L, Finding::firstIndex);
  }

  @Test
  void aFlippedChecksumIsNamed() {
    Damage.flip(shard.resolve("text.crc32c"), 4 * 999);
    assertThat(onlyDamage(table))
        .returns(Kind.VALUE, Finding::kind)
        .returns(999L, Finding::firstIndex);
  }

  @Test
  void severalBadValuesAreAllNamedInOrder() {
    for (int index : new int[] {900, 3, 450}) {
      Damage.flip(shard.resolve("text.crc32c"), 4L * index);
      Damage.flip(shard.resolve("zipped.offset"), 16L * index + 5);
    }
    CheckSummary summary = check(DatasetCheck.of(table));
    assertThat(summary.badValueCount()).isEqualTo(6);
    assertThat(findings.stream().map(f -> f.field() + f.firstIndex()).toList())
        .containsExactly("text3", "text450", "text900", "zipped3", "zipped450", "zipped900");
  }

  @Test
  void aDamagedRunsFileIsNamed() {
    Damage.flip(shard.resolve("image.runs"), 70);
    assertThat(onlyDamage(table))
        .returns(Kind.RUNS, Finding::kind)
        .returns("image", Finding::field)
        .returns((long) COUNT, Finding::count);
  }

  @Test
  void aFlippedBlockOfARunIsNamedWithItsRecords() throws IOException {
    ByteBuffer runs = ByteBuffer.wrap(Files.readAllBytes(shard.resolve("image.runs")))
        .order(ByteOrder.LITTLE_ENDIAN);
    // The second block of the first run: bytes from 65,536 on, that is records from 655 on.
    Damage.flip(shard.resolve("chunk/0.zr"), runs.getLong(64 + 16) + 65_536 + 9);
    assertThat(onlyDamage(table))
        .returns(Kind.VALUE, Finding::kind)
        .returns("image", Finding::field)
        .returns(655L, Finding::firstIndex)
        .returns(345L, Finding::count);
  }

  @Test
  void flippedPresenceBitsAreNamed() {
    Damage.flip(shard.resolve("label.valid"), 50);
    check(DatasetCheck.of(table));
    assertThat(findings).isNotEmpty().allMatch(f -> f.kind() == Kind.PRESENCE);
    assertThat(findings.get(0).field()).isEqualTo("label");
    assertThat(findings.get(0).file()).endsWith("label.valid");
  }

  @Test
  void aDamagedMetaFileIsNamed() {
    Damage.flip(shard.resolve("meta.json"), 20);
    assertThat(onlyDamage(table))
        .returns(Kind.META, Finding::kind)
        .returns((long) COUNT, Finding::count);
  }

  @Test
  void aReplacedMetaFileIsNamed() throws IOException {
    ShardMeta meta = ShardMeta.read("meta", Files.readAllBytes(shard.resolve("meta.json")));
    Files.write(
        shard.resolve("meta.json"),
        new ShardMeta(
                meta.id(), meta.length(), true, meta.chunkBytes() + 1, meta.chunks(), meta.fields())
            .write());
    assertThat(onlyDamage(table).problem()).contains("it was replaced");
  }

  @Test
  void aMissingChunkIsNamedWithItsValues() {
    Damage.delete(shard.resolve("chunk/0.zr"));
    CheckSummary summary = check(DatasetCheck.of(table));
    assertThat(findings)
        .anyMatch(f -> f.kind() == Kind.CHUNK && f.problem().contains("no such file"));
    // One stretch for all values, not a finding for each.
    assertThat(findings).filteredOn(f -> "text".equals(f.field())).hasSize(1);
    assertThat(findings)
        .anyMatch(f -> f.kind() == Kind.VALUE
            && "text".equals(f.field())
            && f.firstIndex() == 0
            && f.count() == COUNT
            && f.stretch() != null
            && f.stretch().file().endsWith("chunk/0.zr"));
    // The empty value at 0 needs no byte of the chunk; images come in blocks that share a record.
    assertThat(summary.badValueCount()).isGreaterThan(4 * COUNT - 2);
  }

  @Test
  void aChunkIsNamedThatIsShorterAndNotOneThatIsLonger() throws IOException {
    Path chunk = shard.resolve("chunk/0.zr");
    byte[] content = Files.readAllBytes(chunk);
    Damage.cut(chunk, content.length - 8);
    check(DatasetCheck.of(table));
    assertThat(findings.get(0).kind()).isEqualTo(Kind.CHUNK);
    assertThat(findings.get(0).problem()).contains("were published");
    // What is lost is at the end of the last stripe.
    assertThat(findings.get(1))
        .returns(Kind.VALUE, Finding::kind)
        .returns(COUNT - 1L, f -> f.firstIndex() + f.count() - 1);
    // Bytes after the end have no meaning.
    Files.write(chunk, Arrays.copyOf(content, content.length + 8));
    assertThat(check(DatasetCheck.of(table)).isSound()).isTrue();
    assertThat(findings).isEmpty();
  }

  @Test
  void aDamagedChunkHeaderIsNamed() {
    Damage.flip(shard.resolve("chunk/0.zr"), 30);
    assertThat(onlyDamage(table).problem()).contains("its header");
  }

  @Test
  void aCutFileOfEntriesIsNamedWithTheRecordsLost() {
    Damage.cut(shard.resolve("text.offset"), 16 * 990);
    CheckSummary summary = check(DatasetCheck.of(table));
    assertThat(findings).hasSize(2);
    assertThat(findings.get(0).kind()).isEqualTo(Kind.ENTRY_FILE);
    assertThat(findings.get(1)).returns(990L, Finding::firstIndex).returns(10L, Finding::count);
    assertThat(summary.badValueCount()).isEqualTo(10);
  }

  @Test
  void aMissingFileOfChecksumsIsNamed() {
    Damage.delete(shard.resolve("zipped.crc32c"));
    CheckSummary summary = check(DatasetCheck.of(table));
    assertThat(findings.get(0).kind()).isEqualTo(Kind.ENTRY_FILE);
    assertThat(summary.badValueCount()).isEqualTo(COUNT);
  }

  @Test
  void aDamagedManifestIsNamed() {
    append(table, WriteOptions.defaults());
    Damage.flip(table.resolve("manifest/00000000000000000001.json"), 30);
    assertThat(onlyDamage(table))
        .returns(Kind.MANIFEST, Finding::kind)
        .matches(f -> f.problem().contains("version 1"));
    assertThat(findings).anyMatch(f -> f.kind() == Kind.NOTE);
    // The values of the newest version that can be read are checked instead.
    Damage.flip(shard.resolve("text.crc32c"), 4 * 9);
    assertThat(check(DatasetCheck.of(table)).badValueCount()).isBetween(0L, 1L);
  }

  @Test
  void valuesOfAnOlderVersionAreCheckedWhenAskedFor() throws IOException {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.overwrite(table, SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("text", "new").endRecord();
      writer.commit();
    }
    Damage.flip(shard.resolve("text.crc32c"), 0);
    assertThat(check(DatasetCheck.of(table)).isSound()).isTrue();
    assertThat(check(DatasetCheck.of(table).version(0)).badValueCount()).isOne();
    assertThat(check(DatasetCheck.of(table).allVersions()).badValueCount()).isOne();
    // The files of every version are looked at in any case.
    Damage.delete(shard.resolve("text.crc32c"));
    assertThat(check(DatasetCheck.of(table)).isSound()).isFalse();
    assertThatThrownBy(() -> check(DatasetCheck.of(table).version(2)))
        .isInstanceOf(VersionNotFoundException.class);
  }

  @Test
  void whatNoVersionNamesIsANote() throws IOException {
    Files.createDirectories(table.resolve("shard/left-over"));
    Files.write(table.resolve("shard/left-over/x"), new byte[77]);
    Files.write(table.resolve("manifest/.0.tmp"), new byte[1]);
    assertThat(check(DatasetCheck.of(table)).isSound()).isTrue();
    assertThat(findings).hasSize(2).allMatch(f -> f.kind() == Kind.ORPHAN);
    assertThat(findings.get(0).problem()).contains("77 bytes");
  }

  @Test
  void withoutChecksumsTheStructureIsChecked() throws IOException {
    Path other = directory.resolve("unchecked");
    append(other, WriteOptions.defaults().withChecksum(Checksum.NONE));
    assertThat(check(DatasetCheck.of(other)).isSound()).isTrue();
    assertThat(findings).hasSize(1).allMatch(f -> f.kind() == Kind.NOTE);
    Damage.flip(shards(other).get(0).resolve("text.offset"), 16 * 5 + 9);
    assertThat(check(DatasetCheck.of(other)).badValueCount()).isOne();
  }

  @Test
  void whatIsNoDatasetIsRefused() {
    assertThatThrownBy(() -> check(DatasetCheck.of(directory)))
        .isInstanceOf(NotADatasetException.class);
    assertThatThrownBy(() -> check(DatasetCheck.of(shard).version(0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no table");
  }
}
