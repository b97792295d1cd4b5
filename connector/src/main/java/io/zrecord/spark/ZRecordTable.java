package io.zrecord.spark;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.table.TableSnapshot;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A dataset as Spark sees it, pinned to the version it was resolved at. Several datasets, read by several paths, follow each
 * other. Immutable.
 */
class ZRecordTable implements SupportsRead, SupportsWrite, SupportsMetadataColumns {
  private final String location;
  private final StructType schema;
  private final List<TableSnapshot> snapshots;
  private final Optional<WriteTarget> target;
  private final boolean acceptsAnySchema;

  private ZRecordTable(
      String location,
      StructType schema,
      List<TableSnapshot> snapshots,
      Optional<WriteTarget> target,
      boolean acceptsAnySchema) {
    this.location = location;
    this.schema = schema;
    this.snapshots = List.copyOf(snapshots);
    this.target = target;
    this.acceptsAnySchema = acceptsAnySchema;
  }

  /** One or several versions to be read; nothing can be written. */
  static ZRecordTable forReading(
      String location, StructType schema, List<TableSnapshot> snapshots) {
    return new ZRecordTable(location, schema, snapshots, Optional.empty(), false);
  }

  /** The newest version, to be read and written with the columns that it has. */
  static ZRecordTable strict(String location, TableSnapshot newest, WriteTarget target) {
    return new ZRecordTable(
        location,
        SparkTypes.structOf(newest.schema()),
        List.of(newest),
        Optional.of(target),
        false);
  }

  /** A place to be written with any columns; the write compares them with those of the table itself, if there is one. */
  static ZRecordTable lenient(String location, StructType schema, WriteTarget target) {
    return new ZRecordTable(
        location, schema, target.base().stream().toList(), Optional.of(target), true);
  }

  /** A table that does not exist yet, to be written with these columns; until then it has no rows. */
  ZRecordTable(String location, StructType schema, WriteTarget target) {
    this(location, schema, List.of(), Optional.of(target), false);
  }

  @Override
  public String name() {
    return ZRecordSource.SHORT_NAME + ".`" + location + "`";
  }

  /** Where the table is, for messages. */
  final String location() {
    return location;
  }

  @Override
  @SuppressWarnings("deprecation") // Newer releases prefer columns(), the oldest has schema() only.
  public StructType schema() {
    return schema;
  }

  @Override
  public Set<TableCapability> capabilities() {
    EnumSet<TableCapability> capabilities = EnumSet.of(TableCapability.BATCH_READ);
    if (target.isPresent()) {
      capabilities.add(TableCapability.BATCH_WRITE);
      capabilities.add(TableCapability.TRUNCATE);
    }
    if (acceptsAnySchema) {
      capabilities.add(TableCapability.ACCEPT_ANY_SCHEMA);
    }
    return capabilities;
  }

  @Override
  public MetadataColumn[] metadataColumns() {
    return MetadataColumns.all();
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    if (acceptsAnySchema && snapshots.isEmpty()) {
      throw new NotADatasetException(
          location, "Cannot read " + location + ": there is no dataset. Check the path");
    }
    return new ZRecordScanBuilder(location, snapshots, schema, ReadConf.ofRecords(options));
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    WriteTarget place = target.orElseThrow(() -> new IllegalArgumentException("Cannot write to "
        + location + " as of an older version; leave versionAsOf, tag and timestampAsOf out"));
    return new ZRecordWriteBuilder(location, place, info);
  }
}
