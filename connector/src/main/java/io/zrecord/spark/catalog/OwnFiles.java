package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetPath;
import java.util.Optional;
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
 * @param others all other tables
 */
record OwnFiles(SessionEntry entry, String home, OtherTables others) {

  /** Returns the comparison for an entry that may point to a place that is not the table's. */
  static Optional<OwnFiles> ofDoubtful(Identifier identifier, SessionEntry entry) {
    if (!entry.isManaged() || !entry.keepsLocation()) {
      return Optional.empty();
    }
    String home = Metastore.defaultLocation(identifier);
    return DatasetPath.of(home).isSamePlaceAs(DatasetPath.of(entry.location()))
        ? Optional.empty()
        : Optional.of(new OwnFiles(entry, home, new OtherTables(identifier)));
  }

  /**
   * Tells whether the table's files are at home: a dataset is there that no other table names, and
   * the entry names the former home of the table, where there is nothing or another table. A user
   * may have set another location on purpose.
   */
  boolean areAtHome() {
    DatasetPath there = DatasetPath.of(home);
    DatasetPath named = DatasetPath.of(entry.location());
    return named.isBeside(there)
        && there.exists()
        && (!named.exists() || others.areAt(named.path()))
        && !others.areAt(home);
  }

  /** Tells whether another table has files where dropping this table would delete them. */
  boolean areOfAnother() {
    return others.inTheWay(entry.location(), true).isPresent();
  }
}
