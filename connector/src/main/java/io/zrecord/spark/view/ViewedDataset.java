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
 * @param history the versions and tags that the view shows; empty for views of one version
 */
record ViewedDataset(
    String path, ViewName view, DatasetVersion version, boolean isStore, String history) {
  TableSnapshot snapshot() {
    return version.snapshot();
  }

  /** Returns the name for plans and messages. */
  String name() {
    return ZRecordOptions.FORMAT + ".`" + path + "` " + view;
  }

  /** Returns a name that changes with what the view shows. */
  String id() {
    return version.id() + " " + view + history;
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
