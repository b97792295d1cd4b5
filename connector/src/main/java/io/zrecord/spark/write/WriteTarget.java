package io.zrecord.spark.write;

import io.zrecord.StoreSnapshot;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where a write goes, as it was when the write was planned.
 *
 * @param table the table
 * @param store the store that becomes the table when the write is committed, if one stands there
 * @param base its newest version then; empty if there was none
 * @param creation whether the write creates the table
 */
public record WriteTarget(
    RecordTable table, Optional<Path> store, Optional<DatasetVersion> base, Creation creation) {

  /** What a write without a truncation does with a table that exists. */
  public enum Creation {
    /** Adds to it; creates it if there is none. */
    APPEND,
    /** Fails, as there must be none. */
    CREATE,
    /** Replaces its records and fields. */
    REPLACE
  }

  /** Names a dataset as the target of a write that is planned on a version, if there is one. */
  public static WriteTarget at(
      DatasetPath dataset, Optional<DatasetVersion> base, Creation creation) {
    return new WriteTarget(dataset.table(), dataset.store(), base, creation);
  }

  /** The version that a commit is based on: a store becomes a table now. */
  Optional<TableSnapshot> settledBase() {
    if (store.isEmpty()) {
      return base.map(DatasetVersion::snapshot);
    }
    // Another write may have made a table of it meanwhile.
    return Optional.of(table.exists() ? table.latest() : StoreSnapshot.convert(store.get()));
  }

  /** Whether a write without a truncation replaces what is there. */
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
