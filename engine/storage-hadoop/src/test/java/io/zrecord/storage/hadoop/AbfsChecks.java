package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.testing.FaultyProxy;
import java.io.IOException;

/** What the ABFS of every version of Hadoop keeps. Stateless. */
final class AbfsChecks {
  private AbfsChecks() {}

  /**
   * Publishes a free name. Fails unless the proxy's fault was met, the outcome is known, and the
   * file is there.
   */
  static void requirePublished(FaultyProxy proxy, Storage storage, String name) {
    byte[] content = ("content of " + name).getBytes(UTF_8);
    // False says that the name is taken: the caller reads back by whom.
    storage.publish(name, content);
    assertThat(proxy.faults()).as(name).isPositive();
    proxy.heal();
    assertThat(storage.read(name, 1000)).as(name).isEqualTo(content);
    assertThat(storage.publish(name, new byte[1])).as(name).isFalse();
  }

  /** Fails if a publication left its temporary file in a directory. */
  static void requireNoTemporaryFile(Storage storage, String directory) {
    assertThat(storage.list(directory))
        .isNotEmpty()
        .extracting(StoredFile::name)
        .noneMatch(name -> name.endsWith(".tmp"));
  }

  /** Fails unless an account without a hierarchical namespace refuses writes. */
  static void requireFlatAccountRefused() throws IOException {
    try (FakeAzure account = FakeAzure.flat()) {
      Storage flat = FakeAzure.storage(account.endpoint(), "data");
      assertThatThrownBy(() -> flat.create("shard/x"))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("no hierarchical namespace");
      assertThatThrownBy(() -> flat.publish("m/x", new byte[1]))
          .isInstanceOf(StorageException.class)
          .isNotInstanceOf(CommitOutcomeUnknownException.class)
          .hasMessageContaining("use an account that has");
    }
  }
}
