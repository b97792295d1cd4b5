package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Datasets;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.DatasetSummary;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store whose files were copied to an object store: who asks for the store is told. */
class RemoteStoreTest {
  @TempDir
  Path directory;

  @BeforeEach
  void createStore() {
    RecordSchema schema = RecordSchema.builder().field("label", ElementType.I32).build();
    RecordStore.create(directory.resolve("store"), schema, StoreOptions.defaults())
        .close();
  }

  @Test
  void aStoreIsOpenedOnALocalFileSystemOnly() {
    requireRefused("open", store -> Datasets.open(store, OptionalLong.empty()));
  }

  @Test
  void aStoreIsCheckedOnALocalFileSystemOnly() {
    requireRefused("check", store -> DatasetCheck.of(store).run(finding -> {}));
  }

  @Test
  void aStoreIsRepairedOnALocalFileSystemOnly() {
    requireRefused("repair", store -> DatasetRepair.of(store).run(finding -> {}, plan -> true));
  }

  @Test
  void aStoreIsInspectedOnALocalFileSystemOnly() {
    requireRefused("inspect", DatasetInspection::of);
    requireRefused("summarize", DatasetSummary::of);
  }

  private void requireRefused(String action, Consumer<Storage> use) {
    Storage local = LocalStorage.at(directory.resolve("store"));
    use.accept(local);
    Storage remote = new ForwardingStorage(local) {
      @Override
      public boolean isRemote() {
        return true;
      }
    };
    assertThatThrownBy(() -> use.accept(remote))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "Cannot %s %s: it is a store, which works on a local file system only",
            action, local.location());
  }
}
