package io.zrecord.internal.store.rewrite;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.internal.io.LocalMutableFiles;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a rewrite of a store does not write. */
class RewriteTargetTest {
  @TempDir
  Path directory;

  @Test
  void aValueThatGrowsBeyondTheLimitIsRefusedBeforeAByteIsWritten() {
    LocalMutableFiles files = new LocalMutableFiles(directory);
    try (RewriteTarget target =
        new RewriteTarget(files, UUID.randomUUID(), 0, Long.MAX_VALUE, Long.MAX_VALUE)) {
      target.begin(Integer.MAX_VALUE, "image");
      assertThatThrownBy(() -> target.begin(Integer.MAX_VALUE + 1L, "image"))
          .isInstanceOf(ValueTooLargeException.class)
          .hasMessageContaining("2147483648 stored bytes to field 'image'")
          .hasMessageContaining("the limit is 2147483647");
    }
  }
}
