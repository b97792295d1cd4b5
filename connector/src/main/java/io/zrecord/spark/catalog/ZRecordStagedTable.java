package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.write.TableCommit;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.spark.write.ZRecordWriteBuilder;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table that a statement creates or replaces. The commit of its write creates the table, so the
 * statement takes effect as a whole or not at all. Without a write, the table is created empty.
 */
class ZRecordStagedTable extends ZRecordTable implements StagedTable {
  private final WriteTarget target;
  private final Map<String, String> options;
  private final UUID commitId = UUID.randomUUID();
  private final DatasetPath dataset;
  private final boolean isNewDirectory;
  private boolean isWritten;

  ZRecordStagedTable(
      ReadPaths path, StructType schema, WriteTarget target, Map<String, String> options) {
    super(path, schema, target);
    this.target = target;
    this.options = options;
    this.dataset = path.datasets().get(0);
    this.isNewDirectory = !dataset.hasDirectory();
  }

  @Override
  public Map<String, String> writeOptions() {
    return Map.copyOf(options);
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    requireObeyed(info.options());
    isWritten = true;
    Map<String, String> all = new HashMap<>(options);
    all.putAll(info.options().asCaseSensitiveMap());
    return new ZRecordWriteBuilder(
        commitId, location(), target, info.schema(), new CaseInsensitiveStringMap(all));
  }

  @Override
  public void commitStagedChanges() {
    if (!isWritten) {
      SparkErrors.done(() -> TableCommit.ofDefinition(
              commitId,
              location(),
              target,
              schema(),
              target.conf(new CaseInsensitiveStringMap(options)),
              true)
          .publish(java.util.List.of(), Long.MAX_VALUE));
    }
  }

  /**
   * Removes empty directories, which would be in the way of another attempt. Removes no file: Spark
   * may call this after a successful commit.
   */
  @Override
  public final void abortStagedChanges() {
    if (isNew()) {
      deleteEmptyDirectories();
    }
  }

  final void deleteEmptyDirectories() {
    if (dataset.deleteEmptyDirectories() && isNewDirectory) {
      dataset.deleteIfEmpty();
    }
  }

  /** Tells whether there was no dataset before. */
  final boolean isNew() {
    return target.base().isEmpty();
  }

  /** Returns the id of the commit that creates or replaces the table. */
  final UUID commitId() {
    return commitId;
  }
}
