package io.zrecord.spark.catalog;

import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.path.SparkErrors;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table that Spark keeps and whose dataset is gone or damaged. Has the columns of the entry, so
 * that the table can be described, given another location, and dropped. Reading and writing fail.
 */
final class BrokenTable extends ZRecordTable {
  private final SessionEntry entry;
  private final RuntimeException problem;

  BrokenTable(SessionEntry entry, RuntimeException problem) {
    super(
        SessionTable.paths(entry),
        entry.declaration().columns(),
        List.of(),
        VersionChoice.named(TimeTravel.newest()),
        Optional.empty(),
        false,
        false);
    this.entry = entry;
    this.problem = problem;
  }

  @Override
  public Map<String, String> properties() {
    return entry.properties();
  }

  /** Returns all capabilities of a sound table, so that Spark asks and receives the reason. */
  @Override
  public Set<TableCapability> capabilities() {
    return EnumSet.of(
        TableCapability.BATCH_READ,
        TableCapability.MICRO_BATCH_READ,
        TableCapability.BATCH_WRITE,
        TableCapability.STREAMING_WRITE,
        TableCapability.TRUNCATE,
        TableCapability.OVERWRITE_BY_FILTER,
        TableCapability.OVERWRITE_DYNAMIC);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new FailingScan(schema(), problem);
  }

  @Override
  public void deleteWhere(Predicate[] predicates) {
    SparkErrors.done(() -> {
      throw problem;
    });
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return SparkErrors.planned(() -> {
      throw problem;
    });
  }

  @Override
  public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
    return SparkErrors.planned(() -> {
      throw problem;
    });
  }
}
