package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.FieldRules;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What this release makes of the fields of {@link GoldenFields}, and what it writes. */
final class GoldenFieldsTest {
  @TempDir
  Path directory;

  @Test
  void everyVersionHasItsFields() {
    for (int i = 0; i < GoldenFields.RECORDS; i++) {
      assertThat(value(0, "label", i)).isEqualTo(number(4, i));
      assertThat(value(1, "label", i)).isEqualTo(number(4, i));
      assertThat(value(2, "label", i)).isEqualTo(number(4, -i));
      assertThat(value(4, "class", i)).isEqualTo(number(8, -i));
      assertThat(value(3, "text", i)).isEqualTo(("text " + i).getBytes(StandardCharsets.UTF_8));
      for (int version = 1; version <= 4; version++) {
        assertThat(value(version, "score", i))
            .isEqualTo(i == 2 ? null : number(4, Float.floatToRawIntBits(i / 2f)));
      }
      assertThat(value(4, "split", i)).isEqualTo("train".getBytes(StandardCharsets.UTF_8));
    }
    TableSnapshot newest = version(4);
    assertThat(newest.shards().get(0).tables()).hasSize(3);
    assertThat(newest.schema().find("split").orElseThrow().rules().comment())
        .isEqualTo("the part of the data");
    assertThat(newest.schema().find("split").orElseThrow().rules().isNullable()).isFalse();
  }

  @Test
  void itIsSound() {
    assertThat(findings(GoldenFields.DIRECTORY)).isEmpty();
  }

  @Test
  void anAbsentValueWhereNoneMayBeIsFound() {
    Path strict = directory.resolve("strict");
    GoldenFields.write(strict, FieldRules.NONE.withNullable(false).withInitial(new byte[4]));
    assertThat(findings(strict)).isNotEmpty().allMatch(text -> text.contains("1 absent values"));
  }

  @Test
  void damageOfAFileThatAnOlderVersionNeedsIsFound() throws IOException {
    Path damaged = directory.resolve("damaged");
    GoldenFields.write(damaged);
    String first = files(damaged).stream()
        .filter(name -> name.endsWith(".tables") && name.contains("/11111111-1111-4111"))
        .findFirst()
        .orElseThrow();
    Files.delete(damaged.resolve(first));
    assertThat(findings(damaged)).anyMatch(text -> text.contains(first));
  }

  private static List<String> findings(Path table) {
    List<String> findings = new ArrayList<>();
    DatasetCheck.of(table.toString())
        .allVersions()
        .run(finding -> findings.add(finding.toString()));
    return findings;
  }

  @Test
  void itIsWrittenAgainByteForByte() throws IOException {
    Path again = directory.resolve("again");
    GoldenFields.write(again);
    assertThat(files(again)).isEqualTo(files(GoldenFields.DIRECTORY)).hasSizeGreaterThan(8);
    for (String file : files(again)) {
      assertThat(again.resolve(file)).hasSameBinaryContentAs(GoldenFields.DIRECTORY.resolve(file));
    }
  }

  private static List<String> files(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> root.relativize(file).toString())
          .sorted()
          .toList();
    }
  }

  private static TableSnapshot version(long number) {
    return RecordTable.at(LocalStorage.at(GoldenFields.DIRECTORY)).version(number);
  }

  private static byte[] value(long version, String field, long index) {
    try (RecordDataset dataset =
        RecordDataset.open(version(version), RecordDataset.ReadOptions.defaults())) {
      FieldReader reader = dataset.reader(field);
      reader.select(new long[] {index}, 0, 1);
      return reader.isAbsent(0) ? null : reader.value(0);
    }
  }

  private static byte[] number(int bytes, long value) {
    ByteBuffer buffer = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, value);
    return java.util.Arrays.copyOf(buffer.array(), bytes);
  }
}
