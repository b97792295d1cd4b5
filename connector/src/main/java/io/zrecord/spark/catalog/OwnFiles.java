package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetPath;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.connector.catalog.Identifier;

/**
 * Compares the place that the entry of a managed table names with the place where Spark keeps the
 * files of a table of that name.
 *
 * <p>Spark moves the files of a managed table when the table is renamed. An entry that also had its
 * location among its properties was pointed back to the old directory by the next change. That
 * directory may be another table's by then. An entry without a location among its properties is
 * never such an entry, so nothing is looked up for it.
 *
 * @param entry the entry as the metastore has it
 * @param home where Spark keeps the files of a managed table of this name
 * @param others the places of all other tables of the database, listed when asked for
 */
record OwnFiles(SessionEntry entry, String home, Supplier<List<String>> others) {

  /** Returns the comparison for an entry that may point to a place that is not the table's. */
  static Optional<OwnFiles> ofDoubtful(
      Identifier identifier, SessionEntry entry, Supplier<List<String>> others) {
    if (!entry.isManaged() || !entry.keepsLocation()) {
      return Optional.empty();
    }
    String home = Metastore.defaultLocation(identifier);
    return DatasetPath.of(home).isSamePlaceAs(DatasetPath.of(entry.location()))
        ? Optional.empty()
        : Optional.of(new OwnFiles(entry, home, others));
  }

  /**
   * Tells whether the table's files are at home: a dataset with the declared columns is there that
   * no other table names, and the entry names the former home of the table, where there is nothing
   * or another table. A user may have set another location on purpose.
   */
  boolean areAtHome() {
    DatasetPath there = DatasetPath.of(home);
    DatasetPath named = DatasetPath.of(entry.location());
    return named.isBeside(there)
        && there.exists()
        && (!named.exists() || isOfAnother(named))
        && !isOfAnother(there)
        && DeclaredTable.of(entry.at(home)).isSound();
  }

  /** Tells whether another table has its files at the place that the entry names. */
  boolean areOfAnother() {
    return isOfAnother(DatasetPath.of(entry.location()));
  }

  private boolean isOfAnother(DatasetPath place) {
    String name = nameOf(place.path());
    return others.get().stream()
        .filter(location -> nameOf(location).equals(name))
        .anyMatch(location -> isAt(place, location));
  }

  /** Returns the last name of a path, which equal places share. Opens no file system. */
  private static String nameOf(String location) {
    return new Path(location).getName();
  }

  private static boolean isAt(DatasetPath place, String location) {
    try {
      return place.isSamePlaceAs(DatasetPath.of(location));
    } catch (IllegalArgumentException e) {
      return false; // No file system of this session, so no place of a table that it can read.
    }
  }
}
