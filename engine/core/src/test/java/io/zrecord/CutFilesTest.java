package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.FieldSpec;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Budget;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a table are cut while readers have them mapped: each failure is a typed exception. */
final class CutFilesTest {
  private static final int CUTS = Budget.of(20);

  @TempDir
  Path directory;

  private final Random random = Budget.random();

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  @Test
  void aFileThatIsCutUnderAGatherIsATypedException() throws IOException {
    Path path = directory.resolve("table");
    ChangedTable.write(path, Budget.seed());
    int refused = 0;
    for (Verification verification : Verification.values()) {
      for (Path file : files(path)) {
        byte[] content = Files.readAllBytes(file);
        for (int cut = 0; cut < CUTS; cut++) {
          OpenShards.shared().clear();
          try (RecordDataset dataset = RecordDataset.open(
              LocalStorage.at(path),
              new RecordDataset.ReadOptions(verification, new ReadMetrics()))) {
            if (random.nextBoolean()) {
              gather(dataset);
            }
            try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
              opened.setLength(random.nextInt(content.length));
            }
            for (int i = 0; i < 5; i++) {
              refused += isRefused(dataset, file) ? 1 : 0;
            }
          }
          Files.write(file, content);
        }
      }
    }
    assertThat(refused).isPositive();
  }

  private boolean isRefused(RecordDataset dataset, Path file) {
    try {
      gather(dataset);
      return false;
    } catch (ZRecordException e) {
      return true;
    } catch (RuntimeException | Error e) {
      throw new AssertionError(file + " was cut", e);
    }
  }

  /** Gathers some records, and looks at each value. */
  private void gather(RecordDataset dataset) {
    long[] indices = random.longs(100, 0, dataset.length()).toArray();
    try (Batch batch = dataset.gather(indices)) {
      for (FieldSpec field : dataset.schema().fields()) {
        for (int i = 0; i < indices.length; i++) {
          if (!batch.isAbsent(field.name(), i)) {
            assertThat(batch.bytes(field.name(), i)).isNotNull();
          }
        }
      }
    }
  }

  private static List<Path> files(Path path) throws IOException {
    try (Stream<Path> found = Files.walk(path)) {
      return found
          .filter(file -> file.toString().matches(".*/shard/.*"))
          .filter(Files::isRegularFile)
          .sorted()
          .toList();
    }
  }
}
