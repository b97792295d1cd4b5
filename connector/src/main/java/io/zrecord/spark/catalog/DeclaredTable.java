package io.zrecord.spark.catalog;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.write.WriteTarget;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;

/**
 * A table that Spark keeps and of which there is no dataset yet, as one made by {@code CREATE TABLE
 * LIKE} before Spark 4.2, and the sink of a stream. The first write makes the dataset. Immutable.
 */
final class DeclaredTable extends ZRecordTable {
  private final SessionEntry entry;

  private DeclaredTable(SessionEntry entry, WriteTarget target) {
    super(
        SessionTable.paths(entry),
        entry.declaration().columns(),
        List.of(),
        VersionChoice.named(TimeTravel.newest()),
        Optional.of(target),
        false,
        entry.isNamed());
    this.entry = entry;
  }

  /** Returns the table without records. */
  static DeclaredTable of(SessionEntry entry) {
    WriteTarget target = WriteTarget.at(
        DatasetPath.of(entry.location()), Optional.empty(), WriteTarget.Creation.APPEND);
    return new DeclaredTable(entry, entry.isNamed() ? target.definedByColumns() : target);
  }

  @Override
  public Map<String, String> properties() {
    return entry.properties();
  }

  /** Returns the options that every write of the table has. */
  @Override
  public Map<String, String> writeOptions() {
    return WriteConf.writeOptionsAmong(entry.options());
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    SparkErrors.done(() -> requireDeclared(info.schema()));
    StructType columns =
        entry.isNamed() ? entry.declaration().described(info.schema()) : info.schema();
    return super.newWriteBuilder(SessionTable.withOptions(info, columns, writeOptions()));
  }

  /**
   * Requires that the first write makes the fields that are declared. Spark brings the columns of a
   * statement into this form, and not those of a stream.
   */
  private void requireDeclared(StructType columns) {
    entry.declaration().mismatch(columns).ifPresent(what -> {
      throw new SchemaMismatchException(
          entry.location(),
          "Cannot write to " + entry.name() + ", whose dataset is made by its first write: "
              + what.replace("the dataset has", "the rows have")
              + ". Give the columns that are declared, or insert once by a statement before");
    });
  }
}
