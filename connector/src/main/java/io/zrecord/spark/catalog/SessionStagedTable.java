package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.write.WriteTarget;
import java.util.Map;
import org.apache.spark.sql.types.StructType;

/**
 * A table of a session catalog that a statement creates or replaces. The data are published first,
 * and the entry is written afterwards. If the query fails, there are neither data nor an entry.
 */
final class SessionStagedTable extends ZRecordStagedTable {
  private final Staging staging;

  /**
   * The effect of a statement.
   *
   * @param name name of the table, for messages
   * @param dataset place of the data
   * @param columns columns that the entry declares
   * @param target where the write goes
   * @param options options of every write
   * @param registration writes the entry
   */
  record Staging(
      String name,
      DatasetPath dataset,
      StructType columns,
      WriteTarget target,
      Map<String, String> options,
      Registration registration) {}

  /** Writes the entry of a table. */
  interface Registration {
    /** Creates or changes the entry. */
    void register() throws Exception;
  }

  SessionStagedTable(Staging staging) {
    super(
        ReadPaths.literal(staging.dataset().path()),
        new Declaration(staging.columns()).alone(),
        staging.target(),
        staging.options());
    this.staging = staging;
  }

  @Override
  public String name() {
    return staging.name();
  }

  @Override
  public void commitStagedChanges() {
    super.commitStagedChanges();
    try {
      staging.registration().register();
    } catch (Exception e) {
      throw new IllegalStateException(
          "Cannot write the entry of " + staging.name() + " to the session's catalog: "
              + e.getMessage() + "; its data " + undo(e),
          e);
    }
  }

  /**
   * Takes a dataset back that this statement created, unless somebody has added to it. Deletes no
   * file of an append that is under way. Returns what became of the data.
   */
  private String undo(Exception e) {
    String path = staging.dataset().path();
    if (!isNew()) {
      return "at " + path + " is replaced";
    }
    try {
      if (!staging.dataset().table().retract(commitId())) {
        return "at " + path + " stays, because others use it already";
      }
      deleteEmptyDirectories();
      return "was deleted again";
    } catch (RuntimeException suppressed) {
      e.addSuppressed(suppressed);
      return "at " + path + " may be left: " + suppressed.getMessage();
    }
  }

  /** The entry keeps all declarations, and may change them without the dataset. */
  @Override
  boolean keepsDeclarations() {
    return false;
  }
}
