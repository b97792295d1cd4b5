package io.zrecord.spark.view;

import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.table.TableSnapshot;

/**
 * Names a view of a dataset, pinned to the version at which the dataset was resolved. Immutable.
 * Equal to another of the same path, view and version.
 *
 * @param isStore whether the version is a snapshot of a store
 */
record ViewedDataset(String path, ViewName view, DatasetVersion version, boolean isStore) {
  TableSnapshot snapshot() {
    return version.snapshot();
  }

  /** Returns the name for plans and messages. */
  String name() {
    return ZRecordOptions.FORMAT + ".`" + path + "` " + view;
  }

  /**
   * Returns a name that changes with what the view shows. The views of versions and of files show
   * every version, those that only tag or expire included. The other views show the records.
   */
  String id() {
    return switch (view) {
          case VERSIONS, FILES -> snapshot().version() + "/" + snapshot().commitId();
          case CHUNKS, SHARDS, FIELDS -> version.id();
        }
        + " " + view;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ViewedDataset dataset
        && path.equals(dataset.path)
        && id().equals(dataset.id());
  }

  @Override
  public int hashCode() {
    return id().hashCode();
  }
}
