package io.zrecord.storage.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.UnmappedStorage;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A storage that is read through a cache keeps the contract of a storage. */
class CachedStorageTest extends StorageContractTest {
  @TempDir
  Path directory;

  @Override
  protected Storage emptyStorage() {
    return CachedStorage.of(new UnmappedStorage(new MemoryStorage(), 1 << 22), cache());
  }

  private BlockCache cache() {
    return TestCaches.at(directory, 64 << 20);
  }

  @Test
  void whatIsLocalOrMappedIsNotCached() throws IOException {
    Storage local = LocalStorage.at(directory);
    assertThat(CachedStorage.of(local, cache())).isSameAs(local);
    Storage mapped = CachedStorage.of(new MemoryStorage(), cache());
    mapped.publish("f", new byte[100]);
    try (ReadableFile file = mapped.open("f")) {
      file.region(0, 100);
    }
    assertThat(TestCaches.blocks(directory)).isEmpty();
  }

  @Test
  void manifestsAndHintsAreReadFromTheStorage() throws IOException {
    storage.publish("manifest/0.json", new byte[] {1});
    storage.replace("manifest/latest", new byte[] {1});
    assertThat(storage.read("manifest/latest", 10)).containsExactly(1);
    storage.replace("manifest/latest", new byte[] {2});
    assertThat(storage.read("manifest/latest", 10)).containsExactly(2);
    assertThat(storage.read("manifest/0.json", 10)).containsExactly(1);
    assertThat(TestCaches.blocks(directory)).isEmpty();
  }

  @Test
  void theStorageWithoutTheCacheIsAtHand() {
    Storage far = new MadeUpStorage();
    assertThat(far.uncached()).isSameAs(far);
    assertThat(CachedStorage.of(far, cache()).uncached()).isSameAs(far);
  }

  /** Two layers of one cache would wait for each other. */
  @Test
  void aStorageIsReadThroughOneCacheOnly() throws IOException {
    MadeUpStorage far = new MadeUpStorage();
    Storage twice = CachedStorage.of(CachedStorage.of(far, cache()), cache());
    assertThat(twice.uncached()).isSameAs(far);
    try (ReadableFile file = twice.open("f", 100)) {
      assertThat(file.region(0, 100).get(5)).isEqualTo(MadeUpStorage.bytes("f", 5, 1)[0]);
    }
  }

  @Test
  void anotherCacheIsAnotherIdentity() {
    Storage far = new MadeUpStorage();
    BlockCache cache = cache();
    assertThat(CachedStorage.of(far, cache).identity())
        .isEqualTo(CachedStorage.of(far, cache).identity())
        .isNotEqualTo(far.identity());
  }
}
