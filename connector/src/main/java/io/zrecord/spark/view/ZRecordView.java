package io.zrecord.spark.view;

import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.SparkErrors;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A view of a dataset as Spark sees it: a table that can be read, pinned to the version at which it
 * was resolved. Immutable.
 */
public final class ZRecordView implements SupportsRead {
  private final ViewedDataset dataset;
  private final ReadPaths paths;

  private ZRecordView(ViewedDataset dataset, ReadPaths paths) {
    this.dataset = dataset;
    this.paths = paths;
  }

  /**
   * Opens a view of the dataset at a path.
   *
   * @throws IllegalArgumentException if the dataset has no such view, or there are several datasets
   */
  public static ZRecordView load(ReadPaths paths, ViewName view, TimeTravel time) {
    if (paths.found().size() != 1) {
      throw new IllegalArgumentException("Cannot read the view " + view + " of "
          + paths.found().size() + " datasets; load one path at a time");
    }
    DatasetPath dataset = paths.datasets().get(0);
    String path = dataset.path();
    boolean isStore = dataset.store().isPresent();
    if (isStore && (view == ViewName.VERSIONS || view == ViewName.FILES)) {
      throw new IllegalArgumentException("Cannot read the view " + view + " of " + path
          + ": it is a store that is written online, and has no versions; its views are "
          + List.of(ViewName.CHUNKS, ViewName.SHARDS, ViewName.FIELDS));
    }
    if (view == ViewName.VERSIONS && !time.isNewest()) {
      throw new IllegalArgumentException("Cannot read the view " + view + " of one version of "
          + path + ": it shows all of them; leave versionAsOf, tag and timestampAsOf out");
    }
    return new ZRecordView(new ViewedDataset(path, view, dataset.version(time), isStore), paths);
  }

  @Override
  public String name() {
    return dataset.name();
  }

  @Override
  @SuppressWarnings("deprecation") // Newer releases prefer columns(); the oldest has schema() only.
  public StructType schema() {
    return ViewRows.schema(dataset.view());
  }

  @Override
  public Set<TableCapability> capabilities() {
    return EnumSet.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    SparkErrors.done(() -> paths.requireObeyed(options));
    return new ViewScan(dataset, ReadConf.ofView(options).partitionCount());
  }

  /**
   * Returns a name of the viewed data as they are now. Spark asks for the name from 4.1 on, to find
   * cached tables.
   */
  public String id() {
    return dataset.id();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ZRecordView table && dataset.equals(table.dataset);
  }

  @Override
  public int hashCode() {
    return dataset.hashCode();
  }
}
