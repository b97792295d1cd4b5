package io.zrecord.store;

import io.zrecord.DatasetProvider;
import io.zrecord.RecordDataset;
import io.zrecord.RecordSource;
import io.zrecord.errors.StoreAbandonedException;
import io.zrecord.internal.dataset.StoreDirectory;
import io.zrecord.storage.Storage;

/** Opens stores for programs that open datasets of any kind. Stateless. */
public final class StoreProvider implements DatasetProvider {
  @Override
  public RecordSource open(Storage store) {
    try {
      return StoreReader.open(StoreDirectory.of(store, "open"));
    } catch (StoreAbandonedException e) {
      // A snapshot replays the journal, which a reader leaves to the next writer.
      return RecordDataset.open(store, RecordDataset.ReadOptions.defaults());
    }
  }

  @Override
  public Snapshot snapshot(Storage store, String action) {
    return StoreSnapshot.temporaryTable(StoreDirectory.of(store, action));
  }
}
