package io.zrecord.spark.write;

import io.zrecord.schema.Declarations;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The target of a write, as it was when the write was planned.
 *
 * @param table the table
 * @param store the store that becomes the table at the commit, if there is a store at the path
 * @param base the newest version at planning; empty if there was none
 * @param creation whether the write creates the table
 * @param declared what a table that is created or replaced declares
 * @param isReadByItsAppend whether the query of an append reads the table
 */
public record WriteTarget(
    RecordTable table,
    Optional<Path> store,
    Optional<DatasetVersion> base,
    Creation creation,
    Declarations declared,
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
    return new WriteTarget(
        dataset.table(), dataset.store(), base, creation, Declarations.NONE, false);
  }

  /** Returns the same target, where the table that is created or replaced declares something. */
  public WriteTarget declaring(Declarations declarations) {
    return new WriteTarget(table, store, base, creation, declarations, isReadByItsAppend);
  }

  /** Returns the same target of an append whose query reads the table. */
  public WriteTarget readByItsAppend() {
    return new WriteTarget(table, store, base, creation, declared, true);
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
