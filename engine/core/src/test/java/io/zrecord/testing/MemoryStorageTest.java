package io.zrecord.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MemoryStorageTest extends StorageContractTest {
  @Override
  protected Storage emptyStorage() {
    return new MemoryStorage();
  }

  @Test
  void powerLossLeavesForcedBytesUnderForcedNames() {
    MemoryStorage memory = new MemoryStorage();
    try (WritableFile file = memory.create("a/b/c")) {
      file.write(ByteBuffer.wrap(new byte[] {1, 2}));
      file.force();
      file.write(ByteBuffer.wrap(new byte[] {3}));
    }
    memory.forceDirectory("a/b");
    assertThat(memory.afterPowerLoss().names()).isEmpty();
    memory.forceDirectory("a");
    assertThat(memory.afterPowerLoss().read("a/b/c", 10)).containsExactly(1, 2);
  }

  @Test
  void aPublishedFileSurvivesPowerLoss() {
    MemoryStorage memory = new MemoryStorage();
    memory.publish("a/b", new byte[] {1, 2});
    assertThat(memory.afterPowerLoss().read("a/b", 10)).containsExactly(1, 2);
    assertThat(memory.afterPowerLoss().afterPowerLoss().names()).containsExactly("a/b");
  }

  @Test
  void powerLossMayUndoADeletionUntilTheDirectoryIsForced() {
    MemoryStorage memory = new MemoryStorage();
    for (String name : List.of("a/b", "a/c", "a/d/e")) {
      memory.publish(name, new byte[] {1});
    }
    memory.create("a/never-forced").close();
    for (String name : List.of("a/b", "a/d", "a/never-forced")) {
      memory.delete(name);
    }
    assertThat(memory.pendingDeletions()).containsExactly("a/b", "a/d/e");
    assertThat(memory.afterPowerLoss().names()).containsExactly("a/c");
    assertThat(memory.afterPowerLoss(Set.of("a/b")).names()).containsExactly("a/b", "a/c");
    memory.forceDirectory("a/d");
    assertThat(memory.pendingDeletions()).hasSize(2);
    memory.forceDirectory("a");
    assertThat(memory.pendingDeletions()).isEmpty();
  }

  @Test
  void chosenCallsFail() {
    MemoryStorage memory = new MemoryStorage().failingFrom(1, 1);
    WritableFile file = memory.create("f");
    assertThatThrownBy(() -> file.write(ByteBuffer.allocate(1)))
        .isInstanceOf(StorageException.class);
    file.write(ByteBuffer.allocate(1));
    assertThat(memory.openFileCount()).isOne();
    file.close();
    assertThat(memory.openFileCount()).isZero();
    assertThat(memory.log()).containsExactly("create f", "write f", "write f", "close f");
  }
}
