package io.zrecord.spark.write;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.partition.PartitionColumns;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The target of a write, as it was when the write was planned.
 *
 * @param table the table
 * @param store the store that becomes the table at the commit, if there is a store at the path
 * @param base the newest version at planning; empty if there was none
 * @param creation whether the write creates the table
 * @param declared says what a table that is created or replaced declares, of its fields
 * @param evaluated the checks that Spark evaluates for each row of the write
 * @param isReadByItsAppend whether the query of an append reads the table
 * @param partitions columns by which a table that is created or replaced is partitioned
 * @param definesColumns whether the columns of a write that makes the table are those of a
 *     {@code CREATE TABLE}, which declare more than those of a query
 * @param properties what the statement that creates or replaces the table, or a catalog, says of
 *     the table; goes before what the version says
 */
public record WriteTarget(
    RecordTable table,
    Optional<Path> store,
    Optional<DatasetVersion> base,
    Creation creation,
    Function<RecordSchema, Declarations> declared,
    PartitionColumns partitions,
    List<Constraint> evaluated,
    boolean isReadByItsAppend,
    boolean definesColumns,
    Map<String, String> properties) {
  public WriteTarget {
    properties = Map.copyOf(properties);
  }

  /** The effect of a write without a truncation on a table that exists. */
  public enum Creation {
    /** Adds to the table; creates the table if there is none. */
    APPEND,
    /** Fails, because there must be no table. */
    CREATE,
    /** Replaces the table's records and fields. */
    REPLACE
  }

  /** Returns the target of a write that is planned on a version of a dataset, if there is one. */
  public static WriteTarget at(
      DatasetPath dataset, Optional<DatasetVersion> base, Creation creation) {
    return of(dataset.table(), dataset.store(), base, creation);
  }

  /** Returns the target of a write that adds to a version of a table. */
  public static WriteTarget appending(RecordTable table, DatasetVersion base) {
    return of(table, Optional.empty(), Optional.of(base), Creation.APPEND);
  }

  private static WriteTarget of(
      RecordTable table, Optional<Path> store, Optional<DatasetVersion> base, Creation creation) {
    return new WriteTarget(
        table,
        store,
        base,
        creation,
        fields -> Declarations.NONE,
        PartitionColumns.NONE,
        List.of(),
        false,
        false,
        Map.of());
  }

  /** Returns the same target, where the table that is created or replaced declares something. */
  public WriteTarget declaring(Function<RecordSchema, Declarations> declarations) {
    return new WriteTarget(
        table,
        store,
        base,
        creation,
        declarations,
        partitions,
        evaluated,
        isReadByItsAppend,
        definesColumns,
        properties);
  }

  /** Returns the same target, which the columns of a {@code CREATE TABLE} define. */
  public WriteTarget definedByColumns() {
    return with(partitions, evaluated, isReadByItsAppend, true, properties);
  }

  private WriteTarget with(
      PartitionColumns columns,
      List<Constraint> checks,
      boolean isReadByAppend,
      boolean areDefined,
      Map<String, String> said) {
    return new WriteTarget(
        table, store, base, creation, declared, columns, checks, isReadByAppend, areDefined, said);
  }

  /** Returns the same target with properties, see {@link #properties}. */
  public WriteTarget withProperties(Map<String, String> said) {
    return with(partitions, evaluated, isReadByItsAppend, definesColumns, said);
  }

  /** Returns the same target, where the table that is created or replaced is partitioned. */
  public WriteTarget partitionedBy(PartitionColumns columns) {
    return with(columns, evaluated, isReadByItsAppend, definesColumns, properties);
  }

  /** Returns the same target, of a write of which Spark evaluates checks for each row. */
  public WriteTarget evaluating(List<Constraint> checks) {
    return with(partitions, checks, isReadByItsAppend, definesColumns, properties);
  }

  /** Returns the same target of an append whose query reads the table. */
  public WriteTarget readByItsAppend() {
    return with(partitions, evaluated, true, definesColumns, properties);
  }

  /**
   * Returns the same target as it is now, for an epoch of a stream. Spark loads the table of a
   * stream once, when the stream starts. Spark evaluates no check for a stream.
   *
   * @param location for messages
   * @throws UnsupportedOperationException if there is a store that is written online
   * @throws CommitConflictException if the table was dropped or recreated after it was loaded
   */
  public WriteTarget ofNewest(String location) {
    if (store.isPresent()) {
      throw Unsupported.operation(
          "a stream into " + location + ", which is a store that is written online",
          "append to it once without a stream, which makes a table of it");
    }
    Optional<DatasetVersion> newest = table.find().map(DatasetVersion::of);
    Optional<String> loaded = base.map(DatasetVersion::datasetId);
    if (loaded.isPresent() && !loaded.equals(newest.map(DatasetVersion::datasetId))) {
      throw new CommitConflictException(
          location,
          "Cannot write an epoch of a stream to " + location + ": the table was dropped"
              + (newest.isPresent() ? " and made anew" : "")
              + " since the stream started; start the stream again, with a new checkpoint if the"
              + " table is to have what the stream wrote before");
    }
    return new WriteTarget(
        table,
        store,
        newest,
        creation,
        declared,
        partitions,
        List.of(),
        false,
        definesColumns,
        properties);
  }

  /** Returns the version on which a commit is based. Turns a store into a table now. */
  Optional<TableSnapshot> settledBase() {
    if (store.isEmpty()) {
      return base.map(DatasetVersion::snapshot);
    }
    // Meanwhile, another write may have turned the store into a table.
    return Optional.of(table.exists() ? table.latest() : StoreSnapshot.convert(store.get()));
  }

  /**
   * Returns the options of a write to this target.
   *
   * @param own those that the write has itself
   * @throws IllegalArgumentException if an option is unknown, or a value is not one of the option
   */
  public WriteConf conf(CaseInsensitiveStringMap own) {
    Map<String, String> ofVersion = isCreated()
        ? Map.of()
        : base.map(version -> version.declarations().properties()).orElse(Map.of());
    return new WriteConf(own, ofVersion, properties);
  }

  /** Tells whether a write without a truncation replaces the table. */
  public boolean isReplaced() {
    return creation == Creation.REPLACE;
  }

  /** Tells whether the statement says how the table is partitioned, and what it declares. */
  boolean isCreated() {
    return base.isEmpty() || creation != Creation.APPEND;
  }

  TableChange.Kind kind(Replaced replaced) {
    if (creation == Creation.CREATE) {
      return TableChange.Kind.CREATE;
    }
    if (creation == Creation.REPLACE || replaced.equals(Replaced.EVERYTHING)) {
      return TableChange.Kind.OVERWRITE;
    }
    return replaced.isOfPartitions() ? TableChange.Kind.MERGE : TableChange.Kind.APPEND;
  }
}
