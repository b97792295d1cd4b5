package io.zrecord.spark.catalog;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.write.WriteTarget;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table of a session catalog. The entry says where the dataset is, and the options of every
 * write. All else is what the dataset says: columns, what they declare, partitions and properties.
 */
class SessionTable extends ZRecordTable {
  private final SessionEntry entry;

  private SessionTable(
      SessionEntry entry,
      StructType columns,
      DatasetVersion read,
      VersionChoice choice,
      WriteTarget target) {
    super(
        paths(entry), columns, List.of(read), choice, Optional.of(target), false, entry.isNamed());
    this.entry = entry;
  }

  /** Creates the same table. */
  SessionTable(SessionTable same) {
    super(same);
    this.entry = same.entry;
  }

  /**
   * Loads the version that the session's defaults select, to be read and written. If nobody has
   * made the dataset since Spark's own catalog made the entry, the table has the columns of the
   * entry.
   *
   * <p>Never fails: a table whose dataset is gone or damaged says so when it is read or written.
   */
  static ZRecordTable load(SessionEntry entry) {
    return load(entry, VersionChoice.byDefault(VersionChoice.ofSession()), false);
  }

  /** Loads the newest version of a table of which Spark's own catalog shows only the options. */
  static ZRecordTable loadUnnamed(SessionEntry entry) {
    return load(entry, VersionChoice.loadedNewest(), false);
  }

  /** Loads the newest version to be written, see {@link ZRecordTable#forWriting}. */
  static ZRecordTable loadForWriting(SessionEntry entry) {
    return load(entry, VersionChoice.loadedNewest(), true);
  }

  private static ZRecordTable load(SessionEntry entry, VersionChoice choice, boolean isWritten) {
    try {
      return loadSound(entry, choice, isWritten);
    } catch (VersionNotFoundException e) {
      throw e;
    } catch (ZRecordException | IllegalArgumentException e) {
      return new BrokenTable(entry, e);
    }
  }

  private static ZRecordTable loadSound(
      SessionEntry entry, VersionChoice choice, boolean isWritten) {
    StorageSettings.refuseToKeep(entry.options());
    DatasetPath dataset = DatasetPath.of(entry.location());
    Optional<DatasetVersion> newest = dataset.newest();
    if (newest.isEmpty()) {
      requireNeverMade(entry);
      return DeclaredTable.of(entry);
    }
    DatasetVersion read =
        choice.loaded().isNewest() ? newest.get() : dataset.version(choice.loaded());
    WriteTarget target = WriteTarget.at(dataset, newest, WriteTarget.Creation.APPEND);
    StructType columns = WrittenColumns.of(SparkTypes.structOf(read.schema()), target);
    return EvolvingTables.of(new SessionTable(
        entry,
        isWritten ? ColumnMetadata.withoutApplications(columns) : columns,
        read,
        choice,
        target));
  }

  /**
   * Makes the dataset that an entry declares, with no records, if there never was one.
   *
   * @throws NotADatasetException if the dataset is gone
   */
  static void requireDataset(SessionEntry entry) {
    DatasetPath dataset = DatasetPath.of(entry.location());
    if (!dataset.exists()) {
      requireNeverMade(entry);
      new ZRecordStagedTable(
              paths(entry),
              entry.declaration().columns(),
              WriteTarget.at(dataset, Optional.empty(), WriteTarget.Creation.CREATE),
              WriteConf.writeOptionsAmong(entry.options()))
          .commitStagedChanges();
    }
  }

  private static void requireNeverMade(SessionEntry entry) {
    if (entry.hadDataset()) {
      throw new NotADatasetException(
          entry.location(),
          "Cannot read or write " + entry.name() + ": there is no dataset at " + entry.location()
              + ", which the table's entry names; bring the files back, or alter the table's"
              + " location");
    }
  }

  /** Returns the place of a table, with the name that the session has for it. */
  static ReadPaths paths(SessionEntry entry) {
    return ReadPaths.ofTable(entry.name(), entry.location(), Map.of());
  }

  /** Returns what the dataset keeps, and what the entry says of the place and of the writes. */
  @Override
  public Map<String, String> properties() {
    Map<String, String> all = new HashMap<>(super.properties());
    all.remove(TableCatalog.PROP_IS_MANAGED_LOCATION);
    entry.properties().forEach((name, value) -> {
      if (SessionEntry.isOfEntry(name)) {
        all.put(name, value);
      }
    });
    return all;
  }

  @Override
  public Map<String, String> writeOptions() {
    return WriteConf.writeOptionsAmong(entry.options());
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return super.newWriteBuilder(withOptions(info, info.schema(), writeOptions()));
  }

  /** Returns what Spark says of a write, with options that the write does not give itself. */
  static LogicalWriteInfo withOptions(
      LogicalWriteInfo info, StructType columns, Map<String, String> more) {
    // Names stay as the user wrote them, for messages.
    Map<String, String> options = new HashMap<>(info.options().asCaseSensitiveMap());
    more.forEach((key, value) -> {
      if (!info.options().containsKey(key)) {
        options.put(key, value);
      }
    });
    return new SaidWrite(info.queryId(), columns, new CaseInsensitiveStringMap(options));
  }

  private record SaidWrite(String queryId, StructType schema, CaseInsensitiveStringMap options)
      implements LogicalWriteInfo {}
}
