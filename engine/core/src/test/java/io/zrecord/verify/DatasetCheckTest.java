package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.ShardOnDisk;
import java.io.IOException;
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
  private static final int TEXT = 1;
  private static final int ZIPPED = 2;
  private static final int LABEL = 3;
  private static final int IMAGE = 4;
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
  /** Values of compressed fields stand alone; BlockDamageTest has those in blocks. */
  private static final WriteOptions OPTIONS = WriteOptions.defaults().withBlockBytes(0);

  private final List<Finding> findings = new ArrayList<>();

  @BeforeEach
  void write() throws IOException {
    table = directory.resolve("table");
    append(table, OPTIONS);
    shard = shards(table).get(0);
  }

  private static void append(Path path, WriteOptions options) {
    Random random = new Random(7);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), SCHEMA, options)) {
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
    CheckSummary summary = check(DatasetCheck.of(dataset.toString()));
    List<Finding> damages = findings.stream().filter(f -> f.kind().isDamage()).toList();
    assertThat(damages).hasSize(1);
    assertThat(summary.isSound()).isFalse();
    assertThat(summary.damageCount()).isOne();
    return damages.get(0);
  }

  /** Returns the only damage beside that of the block that the damaged byte is in. */
  private Finding damageBesideTheBlock() {
    assertThat(check(DatasetCheck.of(table.toString())).isSound()).isFalse();
    assertThat(findings).hasSize(2);
    assertThat(findings).filteredOn(f -> f.kind() == Kind.ENTRY_FILE).hasSize(1);
    return findings.stream()
        .filter(f -> f.kind() != Kind.ENTRY_FILE)
        .findFirst()
        .orElseThrow();
  }

  private ShardOnDisk files() {
    return ShardOnDisk.of(shard);
  }

  private Path tables() {
    return files().tables();
  }

  private Path chunk() {
    return files().chunk(0);
  }

  @Test
  void aSoundTableHasNoFindings() {
    CheckSummary summary = check(DatasetCheck.of(table.toString()));
    assertThat(findings).isEmpty();
    assertThat(summary.isSound()).isTrue();
    assertThat(summary.recordCount()).isEqualTo(COUNT);
    assertThat(summary.valueCount()).isEqualTo(4L * COUNT);
    assertThat(summary.bytes()).isPositive();
  }

  @Test
  void aFlippedValueIsNamed() throws IOException {
    Damage.flip(chunk(), files().offset(TEXT, 321) + 1);
    Finding found = onlyDamage(table);
    assertThat(found.kind()).isEqualTo(Kind.VALUE);
    assertThat(found.field()).isEqualTo("text");
    assertThat(found.firstIndex()).isEqualTo(files().unitSlot(TEXT, 321));
    assertThat(found.count()).isEqualTo(unitCount(TEXT, 321));
    assertThat(found.file()).endsWith(chunk().getFileName().toString());
    assertThat(found.problem()).contains("checksum");
  }

  @Test
  void aFlippedCompressedValueIsNamed() throws IOException {
    Damage.flip(chunk(), files().offset(ZIPPED, 777) + 6);
    assertThat(onlyDamage(table))
        .returns("zipped", Finding::field)
        .returns(files().unitSlot(ZIPPED, 777), Finding::firstIndex)
        .returns(unitCount(ZIPPED, 777), Finding::count);
  }

  /** Returns the number of values that have one checksum. */
  private long unitCount(int field, long slot) {
    return Math.min(files().unitValues(field, slot), COUNT - files().unitSlot(field, slot));
  }

  @Test
  void aFlippedEndThatLeadsOutOfTheRunIsNamed() {
    Damage.flip(tables(), files().placeAt(TEXT, 17) + 3);
    assertThat(damageBesideTheBlock())
        .returns(Kind.ENTRY, Finding::kind)
        .returns("text", Finding::field)
        .returns(0L, Finding::firstIndex)
        .returns(unitCount(TEXT, 17), Finding::count);
  }

  /** Within a unit an end only tells where one value ends and the next begins. */
  @Test
  void aFlippedEndWithinAUnitIsDamageOfTheBlock() throws IOException {
    byte[] bytes = Files.readAllBytes(tables());
    bytes[(int) files().placeAt(TEXT, 17)] ^= 1;
    Files.write(tables(), bytes);
    assertThat(onlyDamage(table)).returns(Kind.ENTRY_FILE, Finding::kind);
  }

  @Test
  void aFlippedChecksumIsNamed() {
    Damage.flip(tables(), files().checksumAt(TEXT, 999));
    assertThat(damageBesideTheBlock())
        .returns(Kind.VALUE, Finding::kind)
        .returns(files().unitSlot(TEXT, 999), Finding::firstIndex);
  }

  @Test
  void severalBadValuesAreAllNamedInOrder() {
    List<String> bad = new ArrayList<>();
    long values = 0;
    for (int field : new int[] {TEXT, ZIPPED}) {
      for (int index : new int[] {3, 550, 900}) {
        Damage.flip(tables(), files().checksumAt(field, index));
        bad.add((field == TEXT ? "text" : "zipped") + files().unitSlot(field, index));
        values += unitCount(field, index);
      }
    }
    // 550 and 900 are in one unit of short texts, whose checksum was flipped twice.
    Damage.flip(tables(), files().checksumAt(TEXT, 550) + 1);
    bad.remove(2);
    values -= unitCount(TEXT, 900);
    CheckSummary summary = check(DatasetCheck.of(table.toString()));
    assertThat(summary.badValueCount()).isEqualTo(values);
    assertThat(findings.stream()
            .filter(f -> f.kind() != Kind.ENTRY_FILE)
            .map(f -> f.field() + f.firstIndex())
            .toList())
        .isEqualTo(bad);
  }

  @Test
  void aDamagedListOfRunsIsNamed() {
    Damage.flip(tables(), files().field(IMAGE).runs().position() + 9);
    assertThat(onlyDamage(table))
        .returns(Kind.RUNS, Finding::kind)
        .returns("image", Finding::field)
        .returns((long) COUNT, Finding::count);
  }

  @Test
  void aFlippedUnitOfARunIsNamedWithItsRecords() {
    // The second unit of the first run: bytes from 4,096 to 8,191, that is records 40 to 81.
    Damage.flip(chunk(), files().runOffset(IMAGE, 0) + 4096 + 9);
    assertThat(onlyDamage(table))
        .returns(Kind.VALUE, Finding::kind)
        .returns("image", Finding::field)
        .returns(40L, Finding::firstIndex)
        .returns(42L, Finding::count);
  }

  @Test
  void aFlippedChecksumOfAUnitIsNamedOnce() {
    Damage.flip(tables(), files().field(IMAGE).units().position() + 5);
    assertThat(onlyDamage(table))
        .returns(Kind.RUNS, Finding::kind)
        .returns("image", Finding::field);
  }

  @Test
  void flippedPresenceBitsAreNamed() {
    Damage.flip(tables(), files().field(LABEL).validity().position() + 50);
    check(DatasetCheck.of(table.toString()));
    assertThat(findings).isNotEmpty().allMatch(f -> f.kind() == Kind.PRESENCE);
    assertThat(findings.get(0).field()).isEqualTo("label");
    assertThat(findings.get(0).file()).endsWith(".tables");
  }

  @Test
  void aDamagedJsonIsNamed() {
    Damage.flip(tables(), files().json().position() + 20);
    assertThat(onlyDamage(table))
        .returns(Kind.META, Finding::kind)
        .returns((long) COUNT, Finding::count);
  }

  @Test
  void whatIsBesideTheTablesIsChecked() throws IOException {
    byte[] content = Files.readAllBytes(tables());
    Path file = tables();
    long gap = files().field(TEXT).runs().end();
    assertThat(gap % 64).as("control").isZero();
    long between = files().field(TEXT).offsets().end();
    assertThat(between % 64).as("control").isNotZero();
    for (long at : new long[] {20, 50, between, content.length - 3}) {
      Damage.flip(file, at);
      assertThat(onlyDamage(table)).returns(Kind.META, Finding::kind);
      Files.write(file, content);
    }
    Files.write(file, Arrays.copyOf(content, content.length + 1));
    assertThat(onlyDamage(table)).returns(Kind.META, Finding::kind);
  }

  @Test
  void aReplacedTablesFileIsNamed() throws IOException {
    Path other = directory.resolve("other");
    append(other, OPTIONS);
    Files.write(
        tables(), Files.readAllBytes(ShardOnDisk.of(shards(other).get(0)).tables()));
    assertThat(onlyDamage(table)).returns(Kind.META, Finding::kind);
  }

  @Test
  void aMissingChunkIsNamedWithItsValues() {
    String name = chunk().getFileName().toString();
    Damage.delete(chunk());
    CheckSummary summary = check(DatasetCheck.of(table.toString()));
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
            && f.stretch().file().endsWith(name));
    // The empty value at 0 needs no byte of the chunk; images come in units that share a record.
    assertThat(summary.badValueCount()).isGreaterThan(4 * COUNT - 2);
  }

  @Test
  void aChunkIsNamedThatIsShorterAndNotOneThatIsLonger() throws IOException {
    Path chunk = chunk();
    byte[] content = Files.readAllBytes(chunk);
    Damage.cut(chunk, content.length - 8);
    check(DatasetCheck.of(table.toString()));
    assertThat(findings.get(0).kind()).isEqualTo(Kind.CHUNK);
    assertThat(findings.get(0).problem()).contains("were published");
    // What is lost is at the end of the last stripe.
    assertThat(findings.get(1))
        .returns(Kind.VALUE, Finding::kind)
        .returns(COUNT - 1L, f -> f.firstIndex() + f.count() - 1);
    // Bytes after the end have no meaning.
    Files.write(chunk, Arrays.copyOf(content, content.length + 8));
    assertThat(check(DatasetCheck.of(table.toString())).isSound()).isTrue();
    assertThat(findings).isEmpty();
  }

  @Test
  void aDamagedChunkHeaderIsNamed() {
    Damage.flip(chunk(), 30);
    assertThat(onlyDamage(table).problem()).contains("its header");
  }

  @Test
  void aCutTablesFileIsNamed() throws IOException {
    Damage.cut(tables(), Files.size(tables()) - 1);
    assertThat(onlyDamage(table)).returns(Kind.META, Finding::kind);
    Damage.delete(shard.resolve(tablesName()));
    assertThat(onlyDamage(table)).returns((long) COUNT, Finding::count);
  }

  private String tablesName() throws IOException {
    try (Stream<Path> found = Files.list(shard)) {
      return found
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> name.endsWith(".tables"))
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void aDamagedManifestIsNamed() {
    append(table, OPTIONS);
    Damage.flip(table.resolve("manifest/00000000000000000001.json"), 30);
    assertThat(onlyDamage(table))
        .returns(Kind.MANIFEST, Finding::kind)
        .matches(f -> f.problem().contains("version 1"));
    assertThat(findings).anyMatch(f -> f.kind() == Kind.NOTE);
    // The values of the newest version that can be read are checked instead.
    Damage.flip(tables(), files().checksumAt(TEXT, 9));
    assertThat(check(DatasetCheck.of(table.toString())).badValueCount())
        .isIn(0L, unitCount(TEXT, 9));
  }

  @Test
  void valuesOfAnOlderVersionAreCheckedWhenAskedFor() throws IOException {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.overwrite(table.toString(), SCHEMA, OPTIONS)) {
      writer.newAppender().set("text", "new").endRecord();
      writer.commit();
    }
    Damage.flip(tables(), files().checksumAt(TEXT, 0));
    assertThat(check(DatasetCheck.of(table.toString())).isSound()).isTrue();
    long bad = unitCount(TEXT, 0);
    assertThat(check(DatasetCheck.of(table.toString()).version(0)).badValueCount())
        .isEqualTo(bad);
    assertThat(check(DatasetCheck.of(table.toString()).allVersions()).badValueCount())
        .isEqualTo(bad);
    // The files of every version are looked at in any case.
    Damage.delete(tables());
    assertThat(check(DatasetCheck.of(table.toString())).isSound()).isFalse();
    assertThatThrownBy(() -> check(DatasetCheck.of(table.toString()).version(2)))
        .isInstanceOf(VersionNotFoundException.class);
  }

  @Test
  void whatNoVersionNamesIsANote() throws IOException {
    Files.createDirectories(table.resolve("shard/left-over"));
    Files.write(table.resolve("shard/left-over/x"), new byte[77]);
    Files.write(table.resolve("manifest/.0.tmp"), new byte[1]);
    assertThat(check(DatasetCheck.of(table.toString())).isSound()).isTrue();
    assertThat(findings).hasSize(2).allMatch(f -> f.kind() == Kind.ORPHAN);
    assertThat(findings.get(0).problem()).contains("77 bytes");
  }

  @Test
  void withoutChecksumsTheStructureIsChecked() throws IOException {
    Path other = directory.resolve("unchecked");
    append(other, OPTIONS.withChecksum(Checksum.NONE));
    assertThat(check(DatasetCheck.of(other.toString())).isSound()).isTrue();
    assertThat(findings).hasSize(1).allMatch(f -> f.kind() == Kind.NOTE);
    ShardOnDisk unchecked = ShardOnDisk.of(shards(other).get(0));
    Damage.flip(unchecked.tables(), unchecked.placeAt(TEXT, 5) + 3);
    assertThat(check(DatasetCheck.of(other.toString())).badValueCount()).isPositive();
  }

  @Test
  void whatIsNoDatasetIsRefused() {
    assertThatThrownBy(() -> check(DatasetCheck.of(directory.toString())))
        .isInstanceOf(NotADatasetException.class);
    assertThatThrownBy(() -> check(DatasetCheck.of(shard.toString())))
        .isInstanceOf(NotADatasetException.class);
  }
}
