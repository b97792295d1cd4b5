package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.inspect.DatasetInspection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories of other programs, in which nothing is made or removed. */
class ForeignDirectoryTest {
  @TempDir
  Path directory;

  @Test
  void aJournalAndOldSnapshotsOfAnotherProgramStayAsTheyAre() throws IOException {
    Path old = Files.createDirectories(directory.resolve("snapshot/0001"));
    Files.writeString(old.resolve("state"), "of another program");
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(3600)));
    for (String journal : List.of("", "x".repeat(1000))) {
      Files.writeString(directory.resolve("journal"), journal);
      List<Path> before = content();
      assertThatThrownBy(() -> RecordDataset.open(directory.toString()))
          .isInstanceOf(NotADatasetException.class);
      assertThatThrownBy(() -> DatasetInspection.of(directory.toString()))
          .isInstanceOf(NotADatasetException.class);
      assertThatThrownBy(() -> StoreSnapshot.temporary(directory))
          .hasMessageContaining("meta.json");
      assertThat(content()).isEqualTo(before);
    }
  }

  private List<Path> content() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.sorted().toList();
    }
  }
}
