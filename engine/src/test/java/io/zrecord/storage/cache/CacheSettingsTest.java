package io.zrecord.storage.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.storage.Storage;
import io.zrecord.testing.MemoryStorage;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CacheSettingsTest {
  @TempDir
  Path directory;

  private CacheSettings bounded(String bytes) {
    return CacheSettings.of(Map.of("cache.directory", directory.toString(), "cache.bytes", bytes));
  }

  @Test
  void aBoundIsANumberOfBytesWithAUnitOrWithout() {
    assertThat(bounded("123456789").maxBytes()).isEqualTo(123456789);
    assertThat(bounded("5k").maxBytes()).isEqualTo(5L << 10);
    assertThat(bounded("64m").maxBytes()).isEqualTo(64L << 20);
    assertThat(bounded("200g").maxBytes()).isEqualTo(200L << 30);
    assertThat(bounded("3t").maxBytes()).isEqualTo(3L << 40);
  }

  @Test
  void aBoundThatIsNoSizeIsRefused() {
    for (String bytes : List.of("", "much", "-1", "1.5g", "1 g", "1G", "1gb", "9999999999999")) {
      assertThatThrownBy(() -> bounded(bytes))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("cache.bytes is '" + bytes + "'");
    }
    assertThatThrownBy(() -> bounded("999999999999t"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cache.bytes is '999999999999t'");
  }

  @Test
  void aBoundWithoutADirectoryIsRefused() {
    assertThatThrownBy(() -> CacheSettings.of(Map.of("cache.bytes", "1g")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cache.directory");
    assertThatThrownBy(() -> CacheSettings.of(Map.of("cache.directory", " ")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("empty");
  }

  @Test
  void aStorageIsReadThroughACacheOnlyIfThereIsADirectory() {
    Storage storage = new MemoryStorage();
    assertThat(CacheSettings.of(Map.of("endpoint", "x")).of(storage)).isSameAs(storage);
    Storage cached =
        CacheSettings.of(Map.of("cache.directory", directory.toString())).of(storage);
    assertThat(cached).isInstanceOf(CachedStorage.class);
    assertThat(((CachedStorage) cached).uncached()).isSameAs(storage);
  }

  @Test
  void otherOptionsAreLeftToTheStorage() {
    Map<String, String> options =
        Map.of("cache.directory", "d", "cache.bytes", "1g", "region", "x");
    assertThat(CacheSettings.without(options)).isEqualTo(Map.of("region", "x"));
  }
}
