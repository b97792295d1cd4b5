package io.zrecord.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.read.ReadMetrics;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.UnmappedStorage;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WindowsTest {
  /** A file of which only the length is known, as one with holes. */
  private static ReadableFile file(long lengthBytes, int regionBytes, boolean isMapped) {
    return (ReadableFile) Proxy.newProxyInstance(
        ReadableFile.class.getClassLoader(),
        new Class<?>[] {ReadableFile.class},
        (proxy, method, given) -> switch (method.getName()) {
          case "lengthBytes" -> lengthBytes;
          case "preferredRegionBytes" -> regionBytes;
          case "path" -> "file with holes";
          case "isMapped" -> isMapped;
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
    assertThatThrownBy(
            () -> new Windows(file(lengthBytes, regionBytes, true), lengthBytes, kept -> {}))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("file with holes");
  }

  @Test
  void sixteenTerabytesAreNotTooLong() {
    long lengthBytes = 16L << 40;
    Windows windows = new Windows(file(lengthBytes, 1 << 30, true), lengthBytes, kept -> {});
    assertThat(windows.count()).isEqualTo(16 << 10);
  }

  @Test
  void aWindowThatIsKeptInMemoryHasAtMostFourMebibytes() {
    long lengthBytes = 64L << 20;
    ReadableFile remote = file(lengthBytes, 8 << 20, false);
    Windows table = new Windows(remote, lengthBytes, kept -> {});
    Windows values = new Windows(remote, lengthBytes, false, first -> {}, kept -> {});
    Windows mapped = new Windows(file(lengthBytes, 8 << 20, true), lengthBytes, kept -> {});
    assertThat(table.count()).isEqualTo(16);
    assertThat(values.count()).isEqualTo(8);
    assertThat(mapped.count()).isEqualTo(8);
  }

  /** Those who ask again keep no thread that another file needs. */
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
  void aSmallFileIsAskedForOnce() {
    UnmappedStorage storage = new UnmappedStorage(new MemoryStorage(), 1 << 20);
    storage.beginTogether(2);
    Windows first = small(storage, "first");
    Windows second = small(storage, "second");
    for (int i = 0; i < 100; i++) {
      first.askForSmall(new ReadMetrics());
    }
    second.askForSmall(new ReadMetrics());
    while (!first.isHere() || !second.isHere()) {
      Thread.onSpinWait();
    }
    assertThat(storage.mostInFlight()).isEqualTo(2);
    assertThat(storage.requests()).isEqualTo(2);
  }

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
  void aSmallFileThatDidNotComeIsAskedForAgain() {
    UnmappedStorage storage = new UnmappedStorage(new MemoryStorage(), 1 << 20);
    Windows file = small(storage, "f.zr");
    storage.failNext(1);
    while (!file.isHere()) {
      file.askForSmall(new ReadMetrics());
      Thread.onSpinWait();
    }
    assertThat(storage.requests()).isEqualTo(2);
  }

  private static Windows small(UnmappedStorage storage, String name) {
    storage.publish(name, new byte[1000]);
    return new Windows(((Storage) storage).open(name, 1000), 1000, false, first -> {}, kept -> {});
  }
}
