package io.zrecord.spark.metadata;

import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.SparkErrors;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A metadata table of a dataset as Spark sees it: a table that can only be read, pinned to the
 * version at which it was loaded. Immutable.
 */
public final class MetadataTable implements SupportsRead {
  private final DescribedVersion described;
  private final ReadPaths paths;
  private final VersionChoice choice;

  private MetadataTable(DescribedVersion described, ReadPaths paths, VersionChoice choice) {
    this.described = described;
    this.paths = paths;
    this.choice = choice;
  }

  /**
   * Loads a metadata table of the dataset at a path.
   *
   * @throws IllegalArgumentException if the dataset has no such metadata table, or there are
   *     several datasets
   */
  public static MetadataTable load(ReadPaths paths, ViewName view, VersionChoice choice) {
    return new MetadataTable(
        new DescribedVersion(
            name(paths, view), view, Optional.of(version(paths, view, choice.loaded()))),
        paths,
        choice);
  }

  /** Loads the same of a table that a catalog declares. Has no rows if nobody has written it. */
  public static MetadataTable loadDeclared(ReadPaths paths, ViewName view, VersionChoice choice) {
    if (!choice.loaded().isNewest() || dataset(paths, view).exists()) {
      return load(paths, view, choice);
    }
    return new MetadataTable(
        new DescribedVersion(name(paths, view), view, Optional.empty()), paths, choice);
  }

  private static String name(ReadPaths paths, ViewName view) {
    return paths.table().orElseGet(() -> ZRecordOptions.FORMAT + ".`" + paths + "`") + "." + view;
  }

  private static DatasetPath dataset(ReadPaths paths, ViewName view) {
    if (paths.found().size() != 1) {
      throw new IllegalArgumentException("Cannot read the metadata table " + view + " of "
          + paths.found().size() + " datasets; load one path at a time");
    }
    return paths.datasets().get(0);
  }

  private static DatasetVersion version(ReadPaths paths, ViewName view, TimeTravel time) {
    DatasetPath dataset = dataset(paths, view);
    if (dataset.store().isPresent() && !view.isOfStores()) {
      throw new IllegalArgumentException("Cannot read the metadata table " + view + " of " + paths
          + ": it is a store that is written online, and has no versions; it has the metadata"
          + " tables "
          + Arrays.stream(ViewName.values())
              .filter(ViewName::isOfStores)
              .map(ViewName::toString)
              .collect(Collectors.joining(", ")));
    }
    if (!view.isOfOneVersion() && !time.isNewest()) {
      throw new IllegalArgumentException("Cannot read the metadata table " + view + " of " + paths
          + " at " + time + ": it shows all of them; leave VERSION AS OF, TIMESTAMP AS OF and the"
          + " options versionAsOf, tag and timestampAsOf out, also as defaults of the session");
    }
    return dataset.version(time);
  }

  @Override
  public String name() {
    return described.name();
  }

  @Override
  @SuppressWarnings("deprecation") // Newer releases prefer columns(); the oldest has schema() only.
  public StructType schema() {
    return SparkErrors.planned(described::columns);
  }

  @Override
  public Map<String, String> properties() {
    return Map.of(
        TableCatalog.PROP_COMMENT, "the " + described.table() + " of " + paths + "; read-only");
  }

  @Override
  public Set<TableCapability> capabilities() {
    return EnumSet.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return SparkErrors.planned(() -> {
      paths.requireObeyed(options);
      ReadConf conf = ReadConf.ofView(options, described.table());
      return new MetadataScan(describedAt(choice.of(name(), options)), conf.partitionCount());
    });
  }

  /**
   * Describes the version that options select. Spark knows the columns already, which differ only
   * with the partitions of a table.
   */
  private DescribedVersion describedAt(TimeTravel time) {
    if (time.equals(choice.loaded())) {
      return described;
    }
    DescribedVersion other = new DescribedVersion(
        name(), described.table(), Optional.of(version(paths, described.table(), time)));
    if (!other.columns().equals(described.columns())) {
      throw new IllegalArgumentException("Cannot read " + name() + " at " + time
          + " here: its columns are " + other.columns().catalogString() + ", and of "
          + choice.loaded() + " " + described.columns().catalogString() + "; use VERSION AS OF");
    }
    return other;
  }

  /**
   * Returns a name of the rows as they are now. Spark asks for the name from 4.1 on, to find cached
   * tables.
   */
  public String id() {
    return described.id();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof MetadataTable table
        && described.equals(table.described)
        && choice.equals(table.choice);
  }

  @Override
  public int hashCode() {
    return described.hashCode();
  }
}
