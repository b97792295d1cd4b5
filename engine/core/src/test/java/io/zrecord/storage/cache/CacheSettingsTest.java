package io.zrecord.storage.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.storage.Storage;
import io.zrecord.testing.MemoryStorage;
import java.nio.file.Path;
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
  void aBoundIsANumberOfBytes() {
    assertThat(bounded("64m").maxBytes()).isEqualTo(64L << 20);
    assertThatThrownBy(() -> bounded("much"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cache.bytes: 'much' is no number of bytes");
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
