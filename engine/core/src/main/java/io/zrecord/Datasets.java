package io.zrecord;

import io.zrecord.internal.dataset.Providers;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.util.OptionalLong;

/** Opens datasets of any kind for reading. Stateless. */
public final class Datasets {
  private Datasets() {}

  /**
   * Opens a dataset of any kind; the caller closes the returned source.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   * @param version a version of a table; empty for the newest
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws IllegalArgumentException if a version is asked for and the dataset is not a table
   */
  public static RecordSource open(String location, OptionalLong version) {
    return open(Storages.at(location), version);
  }

  /** Opens what is at the root of a storage, as {@link #open(String, OptionalLong)} does. */
  public static RecordSource open(Storage storage, OptionalLong version) {
    DatasetKind kind = DatasetKind.of(storage);
    if (version.isPresent() && kind != DatasetKind.TABLE) {
      throw new IllegalArgumentException(
          "Cannot read version " + version.getAsLong() + " of " + storage.location()
              + ": it is no table, and only tables have versions; leave --version out");
    }
    if (kind == DatasetKind.STORE) {
      return Providers.ofStores(DatasetProvider.class, storage, "open").open(storage);
    }
    RecordTable table = RecordTable.at(storage);
    return RecordDataset.open(
        version.isPresent() ? table.version(version.getAsLong()) : table.latest(),
        RecordDataset.ReadOptions.defaults());
  }
}
