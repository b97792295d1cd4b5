package io.zrecord.spark.catalog;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.SparkErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the entries of zrecord tables true. Heals an entry that names the files of another table,
 * and gives no table a place where dropping one table would delete files of another. Stateless.
 */
final class EntryCare {
  private static final Logger LOG = LoggerFactory.getLogger(EntryCare.class);

  private final Entries entries;

  EntryCare(Entries entries) {
    this.entries = entries;
  }

  /** Returns an entry as the metastore has it; empty if there is none of zrecord. */
  Optional<SessionEntry> written(Identifier identifier) {
    try {
      return SessionEntry.of(entries.catalog(), identifier, entries.load(identifier));
    } catch (NoSuchTableException e) {
      return Optional.empty(); // Whoever asked for a change says so.
    }
  }

  /** Returns an entry with the location that the table really has. Changes nothing. */
  SessionEntry sound(Identifier identifier, SessionEntry entry) {
    try {
      return OwnFiles.ofDoubtful(identifier, entry)
          .filter(OwnFiles::areAtHome)
          .map(files -> entry.at(files.home()))
          .orElse(entry);
    } catch (ZRecordException | IllegalArgumentException e) {
      return entry; // The table says what is wrong when it is read or written.
    }
  }

  /**
   * Prepares a change that moves or deletes the files which the entry of a table names. Corrects
   * the entry if the files are another table's.
   *
   * @throws IllegalStateException if that cannot be done
   */
  void settle(Identifier identifier, String change) {
    SparkErrors.done(() -> settleDoubtful(identifier, change));
  }

  private void settleDoubtful(Identifier identifier, String change) {
    Optional<OwnFiles> doubtful =
        written(identifier).flatMap(entry -> OwnFiles.ofDoubtful(identifier, entry));
    if (doubtful.isEmpty()) {
      return;
    }
    OwnFiles files = doubtful.get();
    if (files.areAtHome()) {
      correct(identifier, files, change);
    } else if (files.areOfAnother()) {
      throw new IllegalStateException(cannot(change, files) + "; give the table a place of its own"
          + " first: alter table " + files.entry().name() + " set location '…'");
    }
  }

  private void correct(Identifier identifier, OwnFiles files, String change) {
    try {
      change(
          identifier,
          files.entry(),
          List.of(TableChange.setProperty(TableCatalog.PROP_LOCATION, files.home())));
      forgetLocation(identifier, files.entry());
    } catch (NoSuchTableException | RuntimeException e) {
      throw new IllegalStateException(
          cannot(change, files) + ", while its own are at " + files.home()
              + ", and the session's catalog does not correct the entry: " + e.getMessage()
              + "; try again as somebody who may alter the table",
          e);
    }
  }

  private static String cannot(String change, OwnFiles files) {
    return "Cannot " + change + " " + files.entry().name() + ": its entry names "
        + files.entry().location() + ", where the files of another table are or were";
  }

  /** Leaves an entry its location, and takes the copy away that a rename would make untrue. */
  void forgetLocation(Identifier identifier, SessionEntry entry) throws NoSuchTableException {
    change(identifier, entry, List.of(TableChange.removeProperty(TableCatalog.PROP_LOCATION)));
  }

  /**
   * Gives a table another location. Every Spark takes a location among the properties for the
   * truth, which it is not after a rename. So a managed table has none there afterwards.
   */
  void move(Identifier identifier, SessionEntry entry, TableChange move)
      throws NoSuchTableException {
    requireUntaken(identifier, entry, move);
    requireDataset(identifier, entry, move);
    change(identifier, entry, List.of(move, SessionEntry.notingDataset()));
    if (entry.isManaged()) {
      forgetLocation(identifier, entry);
    }
    if (move instanceof TableChange.SetProperty set) {
      copyColumns(identifier, entry, Metastore.absolute(set.value(), identifier));
    }
  }

  /**
   * Copies the columns of a dataset into the entry, for programs that look nowhere else, after a
   * commit has changed those of the dataset. Nothing of zrecord reads the copy of a table that has
   * a dataset. Does not fail: the commit has taken effect. A metastore of Hive keeps the copy from
   * before: Hive takes hardly any other columns, and tells each that it refuses as an error.
   */
  void copyColumns(Identifier identifier, SessionEntry entry, String place) {
    try {
      if (!entry.hadDataset()) {
        change(identifier, entry, List.of(SessionEntry.notingDataset()));
      }
      if (!Metastore.isOfHive()) {
        Metastore.setColumns(identifier, columnsAt(place));
      }
    } catch (Exception e) { // Spark throws checked ones where Java expects none.
      LOG.warn(
          "The entry of {} keeps the columns from before in the session's catalog, which other"
              + " programs may read: {}",
          entry.name(),
          e.getMessage());
    }
    entries.invalidate(identifier);
  }

  /** Returns the columns as Spark's own catalog sees them, which compares. */
  static StructType columnsAt(String place) {
    return ColumnMetadata.withoutApplications(
        ZRecordTables.load(ReadPaths.literal(place), TimeTravel.newest()).schema());
  }

  /** Tells whether a change is of the location. */
  static boolean isMove(TableChange change) {
    return isOf(change, TableCatalog.PROP_LOCATION);
  }

  /** Refuses a place where the table would have no dataset, which may be somebody else's. */
  private static void requireDataset(
      Identifier identifier, SessionEntry entry, TableChange change) {
    if (change instanceof TableChange.SetProperty set) {
      String place = Metastore.absolute(set.value(), identifier);
      SparkErrors.done(() -> {
        if (!DatasetPath.of(place).exists()) {
          throw new NotADatasetException(
              place,
              "Cannot give " + entry.name() + " the location " + place
                  + ", where there is no dataset; move or copy the files there first");
        }
      });
    }
  }

  private static void requireUntaken(
      Identifier identifier, SessionEntry entry, TableChange change) {
    if (change instanceof TableChange.SetProperty set
        && set.property().equals(TableCatalog.PROP_LOCATION)) {
      String place = Metastore.absolute(set.value(), identifier);
      requireUntaken(
          identifier, "give " + entry.name() + " the location " + place, place, entry.isManaged());
    }
  }

  /**
   * Refuses a place for a table where dropping one of two tables would delete files of the other.
   *
   * @param what what cannot be done then, for the message
   * @param isManaged whether dropping the table deletes its files
   * @throws IllegalArgumentException if another table has files there, within or above
   */
  static void requireUntaken(Identifier identifier, String what, String place, boolean isManaged) {
    SparkErrors.planned(() -> new OtherTables(identifier).inTheWay(place, isManaged))
        .ifPresent(other -> {
          throw new IllegalArgumentException(
              "Cannot " + what + ", where another table has its files: "
                  + other.table() + " is at " + other.location() + ". Dropping "
                  + (isManaged && other.isManaged()
                      ? "one of the two tables"
                      : isManaged ? "this table" : other.table())
                  + " would delete files of the other; name another directory");
        });
  }

  /** Changes an entry. Spark 3 forgets the comment of a table unless a change repeats it. */
  private void change(Identifier identifier, SessionEntry entry, List<TableChange> changes)
      throws NoSuchTableException {
    List<TableChange> all = new ArrayList<>(changes);
    String comment = entry.properties().get(TableCatalog.PROP_COMMENT);
    if (comment != null
        && changes.stream().noneMatch(change -> isOf(change, TableCatalog.PROP_COMMENT))) {
      all.add(TableChange.setProperty(TableCatalog.PROP_COMMENT, comment));
    }
    entries.alter(identifier, all.toArray(TableChange[]::new));
  }

  private static boolean isOf(TableChange change, String property) {
    return (change instanceof TableChange.SetProperty set && set.property().equals(property))
        || (change instanceof TableChange.RemoveProperty removed
            && removed.property().equals(property));
  }
}
