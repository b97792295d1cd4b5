package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.write.WriteTarget;
import java.util.Map;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.types.StructType;

/**
 * A table of a session catalog that a statement creates or replaces. The data are published first,
 * and the entry is written afterwards. If the query fails, there are neither data nor an entry.
 */
final class SessionStagedTable extends ZRecordStagedTable {
  private final DatasetPath dataset;
  private final Registration registration;

  /** Writes the entry of a table. */
  interface Registration {
    /** Creates or changes the entry. */
    void register() throws AnalysisException;
  }

  /**
   * Stages a table.
   *
   * @param options options of every write
   */
  SessionStagedTable(
      ReadPaths place,
      StructType columns,
      WriteTarget target,
      Map<String, String> options,
      Registration registration) {
    super(place, columns, target, options);
    this.dataset = place.datasets().get(0);
    this.registration = registration;
  }

  @Override
  public void commitStagedChanges() {
    super.commitStagedChanges();
    try {
      registration.register();
    } catch (AnalysisException | RuntimeException e) {
      throw new IllegalStateException(
          "Cannot write the entry of " + name() + " to the session's catalog: " + e.getMessage()
              + "; its data " + undo(e),
          e);
    }
  }

  /**
   * Takes a dataset back that this statement created, unless somebody has added to it. Deletes no
   * file of an append that is under way. Returns what became of the data.
   */
  private String undo(Exception e) {
    if (!isNew()) {
      return "at " + dataset.path() + " is replaced";
    }
    try {
      if (!dataset.table().retract(commitId())) {
        return "at " + dataset.path() + " stays, because others use it already";
      }
      deleteEmptyDirectories();
      return "was deleted again";
    } catch (RuntimeException suppressed) {
      e.addSuppressed(suppressed);
      return "at " + dataset.path() + " may be left: " + suppressed.getMessage();
    }
  }
}
