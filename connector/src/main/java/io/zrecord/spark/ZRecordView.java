package io.zrecord.spark;

import io.zrecord.table.TableSnapshot;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A view of a dataset as Spark sees it: a table that can be read, pinned to the version it was resolved at. Immutable. */
final class ZRecordView implements SupportsRead {
  private final String path;
  private final ViewName view;
  private final TableSnapshot snapshot;
  private final boolean isStore;

  private ZRecordView(String path, ViewName view, TableSnapshot snapshot, boolean isStore) {
    this.path = path;
    this.view = view;
    this.snapshot = snapshot;
    this.isStore = isStore;
  }

  /**
   * A view of the dataset at a path.
   *
   * @throws IllegalArgumentException if it has no such view
   */
  static ZRecordView load(String path, ViewName view, DatasetPaths.Time time) {
    boolean isStore = SparkStorages.storeAt(path).isPresent();
    if (isStore && (view == ViewName.VERSIONS || view == ViewName.FILES)) {
      throw new IllegalArgumentException("Cannot read the view " + view + " of " + path
          + ": it is a store that is written online, and has no versions; its views are "
          + List.of(ViewName.CHUNKS, ViewName.SHARDS, ViewName.FIELDS));
    }
    if (view == ViewName.VERSIONS && !time.isNewest()) {
      throw new IllegalArgumentException("Cannot read the view " + view + " of one version of "
          + path + ": it shows all of them; leave versionAsOf, tag and timestampAsOf out");
    }
    return new ZRecordView(path, view, DatasetPaths.snapshot(path, time), isStore);
  }

  ViewName view() {
    return view;
  }

  TableSnapshot snapshot() {
    return snapshot;
  }

  /** Whether it is a snapshot of a store. */
  boolean isStore() {
    return isStore;
  }

  @Override
  public String name() {
    return ZRecordSource.SHORT_NAME + ".`" + path + "` " + view;
  }

  @Override
  @SuppressWarnings("deprecation") // Newer releases prefer columns(), the oldest has schema() only.
  public StructType schema() {
    return view.schema();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return EnumSet.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new ViewScan(this, ReadConf.ofView(options).partitionCount());
  }
}
