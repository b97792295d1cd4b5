package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.findings.CheckListener;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.inspect.SpaceUsage;
import io.zrecord.schema.UnreadableField;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.DatasetSummary;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoldenLaterTest {
  @TempDir
  Path directory;

  @Test
  void theFilesAreWrittenByteForByte() throws IOException {
    GoldenLater.write(directory);
    assertThat(contents(directory)).isEqualTo(contents(GoldenLater.DIRECTORY));
  }

  private static Map<String, String> contents(Path root) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (var files = Files.walk(root)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String hex = java.util.HexFormat.of().formatHex(Files.readAllBytes(file));
        contents.put(root.relativize(file).toString(), hex);
      }
    }
    return contents;
  }

  @Test
  void theOtherFieldIsRead() {
    try (RecordDataset dataset = RecordDataset.open(GoldenLater.DIRECTORY.toString());
        Batch batch = dataset.gather(new long[] {7, 19})) {
      assertThat(dataset.length()).isEqualTo(GoldenLater.RECORDS);
      assertThat(dataset.schema().unreadable())
          .containsExactly(new UnreadableField(2, "far", "dtype f8_e4m3"));
      assertThat(batch.value("near", 0).order(ByteOrder.LITTLE_ENDIAN).getInt(0))
          .isEqualTo(21);
      assertThat(batch.value("near", 1).order(ByteOrder.LITTLE_ENDIAN).getInt(0))
          .isEqualTo(57);
    }
  }

  @Test
  void theFieldOfALaterReleaseIsRefusedByName() {
    try (RecordDataset dataset = RecordDataset.open(GoldenLater.DIRECTORY.toString())) {
      assertThatThrownBy(() -> dataset.gather(new long[] {0}, "far"))
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining("field 'far'")
          .hasMessageContaining("'dtype f8_e4m3'");
    }
  }

  @Test
  void itsValuesAreNotDead() {
    String path = GoldenLater.DIRECTORY.toString();
    SpaceUsage space = DatasetInspection.of(path).run(shard -> {}).space();
    assertThat(space.deadBytes()).isZero();
    assertThat(DatasetSummary.of(path).valueBytes()).hasValue(space.liveBytes());
  }

  @Test
  void aCheckDoesNotCallItSound() {
    CheckListener nobody = finding -> {};
    assertThatThrownBy(() -> DatasetCheck.of(GoldenLater.DIRECTORY.toString()).run(nobody))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("'dtype f8_e4m3'");
  }
}
