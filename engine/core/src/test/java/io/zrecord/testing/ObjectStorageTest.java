package io.zrecord.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ObjectStorageTest extends StorageContractTest {
  private Instant serverTime = Instant.ofEpochMilli(5);
  private final ObjectStorage objects = new ObjectStorage(() -> serverTime);

  @Override
  protected Storage emptyStorage() {
    return new ObjectStorage();
  }

  private void put(String key) {
    objects.publish(key, new byte[] {1});
  }

  private List<String> listed(String directory) {
    return objects.list(directory).stream().map(StoredFile::name).toList();
  }

  @Test
  void anObjectIsThereWhenItsFileIsFinished() {
    WritableFile file = objects.create("a/b");
    file.write(ByteBuffer.wrap(new byte[] {1, 2}));
    file.force();
    assertThat(objects.exists("a/b")).isFalse();
    assertThat(objects.exists("a")).isFalse();
    file.finish();
    assertThat(objects.read("a/b", 10)).containsExactly(1, 2);
  }

  @Test
  void aFileThatIsGivenUpLeavesNothing() {
    try (WritableFile file = objects.create("a/b")) {
      file.write(ByteBuffer.wrap(new byte[] {1, 2}));
    }
    assertThat(objects.names()).isEmpty();
  }

  @Test
  void aDirectoryIsThereWhileAKeyBelowItIsAndIsAsOldAsTheRequest() {
    put("a/b/c");
    serverTime = Instant.ofEpochMilli(9);
    assertThat(objects.list("a")).containsExactly(new StoredFile("b", true, 0, 9));
    assertThat(objects.list("a/b")).containsExactly(new StoredFile("c", false, 1, 5));
    assertThat(objects.deleteIfEmpty("a/b")).isFalse();
    objects.delete("a/b/c");
    assertThat(objects.exists("a")).isFalse();
    assertThat(objects.deleteIfEmpty("a/b")).isTrue();
  }

  @Test
  void aLateListMissesWhatWasPutAndShowsWhatWasDeleted() {
    put("a/1");
    put("a/2");
    objects.delete("a/1");
    put("a/3");
    assertThat(listed("a")).containsExactly("2", "3");
    objects.listingWithout(1);
    assertThat(listed("a")).containsExactly("2");
    objects.listingWithout(3);
    assertThat(listed("a")).containsExactly("1");
    assertThat(objects.exists("a/3")).isTrue();
    assertThatThrownBy(() -> objects.read("a/1", 10)).hasMessageContaining("a/1");
    objects.listingWithout(0);
    assertThat(listed("a")).containsExactly("2", "3");
  }

  @Test
  void requestsAreCountedByPages() {
    List<String> keys = IntStream.range(0, 2001).mapToObj(i -> "a/" + i + "/x").toList();
    keys.forEach(this::put);
    objects.forgetRequests();
    assertThat(objects.listTree("a")).hasSize(2001);
    assertThat(objects.requests()).containsOnly(java.util.Map.entry("list", 3));
    objects.deleteAll(keys);
    assertThat(objects.requests()).containsEntry("delete", 3);
    assertThat(objects.names()).isEmpty();
  }
}
