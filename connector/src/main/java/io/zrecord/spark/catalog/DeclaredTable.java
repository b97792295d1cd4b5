package io.zrecord.spark.catalog;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.stream.StreamableWriteBuilder;
import io.zrecord.spark.write.WriteTarget;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table of a session catalog: an entry that declares columns, and a dataset. If the two do not
 * fit, or the dataset is damaged, the table has the declared columns, so that the table can be
 * described, altered and dropped. Only reading and writing fail then. Immutable.
 */
final class DeclaredTable extends ZRecordTable {
  private final SessionEntry entry;
  private final Optional<StructType> found;
  private final Optional<RuntimeException> problem;

  private DeclaredTable(
      SessionEntry entry,
      StructType columns,
      List<DatasetVersion> versions,
      VersionChoice choice,
      Optional<WriteTarget> target,
      boolean isNamed,
      Optional<StructType> found,
      Optional<RuntimeException> problem) {
    super(ReadPaths.literal(entry.location()), columns, versions, choice, target, false, isNamed);
    this.entry = entry;
    this.found = found;
    this.problem = problem;
  }

  /** Loads the newest version of the dataset that an entry names. Never fails. */
  static DeclaredTable of(SessionEntry entry) {
    return load(entry, entry.isNamed(), WrittenColumns::of);
  }

  /**
   * Loads the same to be written. A statement that writes may read the table as well, so a column
   * that only the declaration has as NOT NULL is nullable here, too. The write refuses NULL for
   * such a column. Spark must not load the table again: the columns would be others.
   */
  static DeclaredTable forWriting(SessionEntry entry) {
    return load(
        entry,
        false,
        (columns, target) ->
            WrittenColumns.of(ColumnMetadata.withoutApplications(columns), target));
  }

  private static DeclaredTable load(
      SessionEntry entry,
      boolean isLoadedAgain,
      BiFunction<StructType, WriteTarget, StructType> marked) {
    try {
      StorageSettings.refuseToKeep(entry.options());
      DatasetPath dataset = DatasetPath.of(entry.location());
      Optional<DatasetVersion> newest = dataset.newest();
      Optional<StructType> found = newest.map(version -> SparkTypes.structOf(version.schema()));
      Optional<String> mismatch = found.flatMap(entry.declaration()::mismatch);
      WriteTarget target = WriteTarget.at(dataset, newest, WriteTarget.Creation.APPEND)
          .withProperties(entry.properties());
      if (mismatch.isPresent()) {
        // What Spark gives for declared columns may be those of the query of a stream.
        Optional<WriteTarget> ofStreams = Optional.of(target).filter(any -> !entry.isNamed());
        return broken(entry, found, ofStreams, mismatch(entry, mismatch.get()));
      }
      StructType columns = found
          .map(there ->
              entry.declaration().over(there, WrittenColumns.numbered(Optional.of(target))))
          .orElseGet(entry.declaration()::alone);
      return new DeclaredTable(
          entry,
          marked.apply(columns, target),
          newest.stream().toList(),
          VersionChoice.loadedNewest(),
          Optional.of(target),
          isLoadedAgain,
          found,
          Optional.empty());
    } catch (ZRecordException | IllegalArgumentException e) {
      return broken(entry, Optional.empty(), Optional.empty(), e);
    }
  }

  /**
   * Loads the dataset that an entry names as it was at a time, for reading. That version decides
   * which columns exist. The declaration applies to columns that have the declared type, so that
   * versions from before a change of the columns stay readable.
   *
   * @throws ZRecordException if there is no such version, or it is damaged
   */
  static DeclaredTable at(SessionEntry entry, TimeTravel time) {
    DatasetVersion version = DatasetPath.of(entry.location()).version(time);
    StructType found = SparkTypes.structOf(version.schema());
    return new DeclaredTable(
        entry,
        entry.declaration().over(found, version.numberedFields()),
        List.of(version),
        VersionChoice.named(time),
        Optional.empty(),
        false,
        Optional.of(found),
        Optional.empty());
  }

  private static DeclaredTable broken(
      SessionEntry entry,
      Optional<StructType> found,
      Optional<WriteTarget> ofStreams,
      RuntimeException problem) {
    return new DeclaredTable(
        entry,
        entry.declaration().alone(),
        List.of(),
        VersionChoice.named(TimeTravel.newest()),
        ofStreams,
        false,
        found,
        Optional.of(problem));
  }

  private static RuntimeException mismatch(SessionEntry entry, String what) {
    return new SchemaMismatchException(
        entry.location(),
        "Cannot read or write " + entry.name() + ": " + what + ". Append rows, or none, with the"
            + " declared columns to " + entry.location() + " with mergeSchema=true; or, if "
            + entry.location() + " is the LOCATION of the table, drop the table, which keeps the"
            + " files, and create it again without columns");
  }

  @Override
  public String name() {
    return entry.name();
  }

  @Override
  public Map<String, String> properties() {
    return entry.properties();
  }

  /**
   * Returns the columns with CHAR and VARCHAR as they were declared, for statements that describe
   * the table. Spark itself takes such columns for strings of limited length when it reads.
   */
  @Override
  public StructType schema() {
    return CharVarcharUtils.getRawSchema(super.schema());
  }

  /** Returns all capabilities of a sound table, so that Spark asks and receives the reason. */
  @Override
  public Set<TableCapability> capabilities() {
    return problem.isEmpty()
        ? super.capabilities()
        : EnumSet.of(
            TableCapability.BATCH_READ,
            TableCapability.MICRO_BATCH_READ,
            TableCapability.BATCH_WRITE,
            TableCapability.STREAMING_WRITE,
            TableCapability.TRUNCATE,
            TableCapability.OVERWRITE_BY_FILTER,
            TableCapability.OVERWRITE_DYNAMIC);
  }

  /** Returns the columns of the dataset; empty if there is no dataset. */
  Optional<StructType> found() {
    return found;
  }

  /** Tells whether the dataset cannot be read. */
  boolean isUnreadable() {
    return problem.isPresent() && found.isEmpty();
  }

  /** Tells whether the dataset can be read, if there is one, and fits the declaration. */
  boolean isSound() {
    return problem.isEmpty();
  }

  /** Returns the options that every write of the table has. */
  @Override
  public Map<String, String> writeOptions() {
    return WriteConf.writeOptionsAmong(entry.options());
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return problem.isPresent()
        ? new FailingScan(schema(), problem.get())
        : super.newScanBuilder(options);
  }

  @Override
  WriteTarget requireTarget() {
    if (problem.isPresent()) {
      throw problem.get();
    }
    return super.requireTarget();
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    if (problem.isPresent()) {
      return SparkErrors.planned(() -> ofStreams(info));
    }
    if (found.isEmpty()) {
      SparkErrors.done(() -> requireDeclared(info.schema()));
    }
    // Names stay as the user wrote them, for messages.
    Map<String, String> options = new HashMap<>(info.options().asCaseSensitiveMap());
    writeOptions().forEach((key, value) -> {
      if (!info.options().containsKey(key)) {
        options.put(key, value);
      }
    });
    StructType columns = required(info.schema());
    return super.newWriteBuilder(new DeclaredWrite(
        info,
        found.isEmpty() ? entry.declaration().described(columns) : columns,
        new CaseInsensitiveStringMap(options)));
  }

  @Override
  public StructType required(StructType written) {
    return entry.declaration().required(written, WrittenColumns.numbered(target()));
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

  /** A stream is compared with the dataset when an epoch is planned, and not with a declaration. */
  private WriteBuilder ofStreams(LogicalWriteInfo info) {
    WriteTarget place = target().orElseThrow(problem::get);
    requireObeyed(info.options());
    return StreamableWriteBuilder.ofStreams(location(), place, info, problem.get());
  }

  /** The information from Spark about a write, with the columns and options of the declaration. */
  private record DeclaredWrite(
      LogicalWriteInfo info, StructType schema, CaseInsensitiveStringMap options)
      implements LogicalWriteInfo {
    @Override
    public String queryId() {
      return info.queryId();
    }
  }
}
