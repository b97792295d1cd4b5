package io.zrecord.spark.write;

import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

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
 */
public record WriteTarget(
    RecordTable table,
    Optional<Path> store,
    Optional<DatasetVersion> base,
    Creation creation,
    Function<RecordSchema, Declarations> declared,
    List<Constraint> evaluated,
    boolean isReadByItsAppend) {

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
        table, store, base, creation, fields -> Declarations.NONE, List.of(), false);
  }

  /** Returns the same target, where the table that is created or replaced declares something. */
  public WriteTarget declaring(Function<RecordSchema, Declarations> declarations) {
    return new WriteTarget(
        table, store, base, creation, declarations, evaluated, isReadByItsAppend);
  }

  /** Returns the same target, of a write of which Spark evaluates checks for each row. */
  public WriteTarget evaluating(List<Constraint> checks) {
    return new WriteTarget(table, store, base, creation, declared, checks, isReadByItsAppend);
  }

  /** Returns the same target of an append whose query reads the table. */
  public WriteTarget readByItsAppend() {
    return new WriteTarget(table, store, base, creation, declared, evaluated, true);
  }

  /** Returns the version on which a commit is based. Turns a store into a table now. */
  Optional<TableSnapshot> settledBase() {
    if (store.isEmpty()) {
      return base.map(DatasetVersion::snapshot);
    }
    // Meanwhile, another write may have turned the store into a table.
    return Optional.of(table.exists() ? table.latest() : StoreSnapshot.convert(store.get()));
  }

  /** Tells whether a write without a truncation replaces the table. */
  public boolean isReplaced() {
    return creation == Creation.REPLACE;
  }

  TableChange.Kind kind(boolean truncates) {
    if (creation == Creation.CREATE) {
      return TableChange.Kind.CREATE;
    }
    return truncates || creation == Creation.REPLACE
        ? TableChange.Kind.OVERWRITE
        : TableChange.Kind.APPEND;
  }
}
