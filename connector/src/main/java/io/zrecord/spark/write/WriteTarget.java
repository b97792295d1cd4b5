package io.zrecord.spark.write;

import io.zrecord.schema.Declarations;
import io.zrecord.spark.partition.PartitionColumns;
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
 * @param partitions columns by which a table that is created or replaced is partitioned
 */
public record WriteTarget(
    RecordTable table,
    Optional<Path> store,
    Optional<DatasetVersion> base,
    Creation creation,
    Declarations declared,
    PartitionColumns partitions) {

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
        dataset.table(), dataset.store(), base, creation, Declarations.NONE, PartitionColumns.NONE);
  }

  /** Returns the same target, where the table that is created or replaced declares something. */
  public WriteTarget declaring(Declarations declarations) {
    return new WriteTarget(table, store, base, creation, declarations, partitions);
  }

  /** Returns the same target, where the table that is created or replaced is partitioned. */
  public WriteTarget partitionedBy(PartitionColumns columns) {
    return new WriteTarget(table, store, base, creation, declared, columns);
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
