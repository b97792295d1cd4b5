package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.inspect.DatasetInspection;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.DatasetSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store is known as such without the module of stores, and nothing is done to it. */
class StoreWithoutModuleTest {
  @TempDir
  Path directory;

  @Test
  void whateverNeedsTheModuleSaysSo() throws IOException {
    Files.writeString(directory.resolve("meta.json"), "{}");
    Files.write(directory.resolve("journal"), new byte[0]);
    String path = directory.toString();
    assertThat(DatasetKind.of(path)).isEqualTo(DatasetKind.STORE);
    List<ThrowingCallable> calls = List.of(
        () -> Datasets.open(path, OptionalLong.empty()),
        () -> RecordDataset.open(path),
        () -> DatasetCheck.of(path).run(finding -> {}),
        () -> DatasetSummary.of(path),
        () -> DatasetInspection.of(path),
        () -> DatasetRepair.of(path).run(finding -> {}, plan -> true));
    for (ThrowingCallable call : calls) {
      assertThatThrownBy(call)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(path + ": it is a store")
          .hasMessageEndingWith("Add zrecord-store");
    }
    try (var files = Files.list(directory)) {
      assertThat(files).hasSize(2);
    }
  }
}
