package io.zrecord.spark.changes;

import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.path.SparkErrors;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The changes of a table between two versions, as a table that is read. Immutable. */
public final class ChangesTable implements Table, SupportsRead {
  private final String name;
  private final ChangesRange range;
  private final StructType columns;

  /**
   * Makes the table.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if a field of the table has the name of a
   *     column of changes
   */
  public ChangesTable(String name, ChangesRange range) {
    this.name = name;
    this.range = range;
    this.columns = ChangeColumns.of(range.to().storage().location(), range.to().schema());
  }

  @Override
  public String name() {
    return name;
  }

  /** Returns the columns of the last version, then those that say what a row is. */
  @Override
  @SuppressWarnings("deprecation") // Spark 3.5 calls this method too.
  public StructType schema() {
    return columns;
  }

  @Override
  public Map<String, String> properties() {
    return Map.of();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return SparkErrors.planned(
        () -> new ChangesScanBuilder(range, columns, ReadConf.ofRecords(options, Map.of())));
  }
}
