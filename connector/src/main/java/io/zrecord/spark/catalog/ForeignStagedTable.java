package io.zrecord.spark.catalog;

import io.zrecord.spark.path.Unsupported;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;

/**
 * A table of another data source. It is created before it is written, and dropped if the write
 * fails, as Spark does with a catalog that stages nothing.
 */
final class ForeignStagedTable implements StagedTable, SupportsWrite {
  private final Table created;
  private final Runnable drop;

  ForeignStagedTable(Table created, Runnable drop) {
    this.created = created;
    this.drop = drop;
  }

  @Override
  public String name() {
    return created.name();
  }

  @Override
  @SuppressWarnings("deprecation") // Newer releases prefer columns(); the oldest has schema() only.
  public StructType schema() {
    return created.schema();
  }

  @Override
  public Map<String, String> properties() {
    return created.properties();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return created.capabilities();
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    if (created instanceof SupportsWrite written) {
      return written.newWriteBuilder(info);
    }
    throw Unsupported.operation(
        "writing to " + name() + " of another data source with a query that creates it",
        "create the table first and insert into it");
  }

  @Override
  public void commitStagedChanges() {}

  @Override
  public void abortStagedChanges() {
    drop.run();
  }

  /** Returns nothing. No {@code @Override}: older releases lack the method. */
  public CustomTaskMetric[] reportDriverMetrics() {
    return new CustomTaskMetric[0];
  }
}
