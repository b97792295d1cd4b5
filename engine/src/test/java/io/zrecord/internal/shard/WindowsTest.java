package io.zrecord.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.storage.ReadableFile;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WindowsTest {
  /** A file of which only the length is known, as one with holes. */
  private static ReadableFile file(long lengthBytes, int regionBytes) {
    return (ReadableFile) Proxy.newProxyInstance(
        ReadableFile.class.getClassLoader(),
        new Class<?>[] {ReadableFile.class},
        (proxy, method, given) -> switch (method.getName()) {
          case "lengthBytes" -> lengthBytes;
          case "preferredRegionBytes" -> regionBytes;
          case "path" -> "file with holes";
          case "isMapped" -> true;
          default -> throw new AssertionError(method);
        });
  }

  @ParameterizedTest
  @CsvSource({
    "4611686018427387904, 1073741824",
    "9223372036854775807, 4194304",
    "140737488355328, 4194304"
  })
  void aFileThatIsTooLongIsRefused(long lengthBytes, int regionBytes) {
    assertThatThrownBy(() -> new Windows(file(lengthBytes, regionBytes), lengthBytes, kept -> {}))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("file with holes");
  }

  @Test
  void sixteenTerabytesAreNotTooLong() {
    long lengthBytes = 16L << 40;
    Windows windows = new Windows(file(lengthBytes, 1 << 30), lengthBytes, kept -> {});
    assertThat(windows.count()).isEqualTo(16 << 10);
  }
}
