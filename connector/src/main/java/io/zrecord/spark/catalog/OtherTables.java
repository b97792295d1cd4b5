package io.zrecord.spark.catalog;

import io.zrecord.spark.path.SparkStorages;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Says where the other tables of a session catalog have their files, those of other databases and
 * of other data sources included. Asks the metastore twice for each database, at each comparison.
 *
 * @param identifier the table that is compared with all others
 */
record OtherTables(Identifier identifier) {
  private static final Logger LOG = LoggerFactory.getLogger(OtherTables.class);

  /**
   * A table and its files.
   *
   * @param table name of the table, for messages
   * @param location where the files are
   * @param isManaged whether dropping the table deletes the files
   */
  record Place(String table, String location, boolean isManaged) {}

  /** Tells whether another table has its files at a place. */
  boolean areAt(String place) {
    return places()
        .anyMatch(other -> SparkStorages.isWithin(place, other.location())
            && SparkStorages.isWithin(other.location(), place));
  }

  /**
   * Finds a table such that dropping it, or this table, deletes files of the other.
   *
   * @param place where the files of this table are
   * @param isManaged whether dropping this table deletes its files
   */
  Optional<Place> inTheWay(String place, boolean isManaged) {
    return places()
        .filter(other -> isManaged || other.isManaged())
        .filter(other -> SparkStorages.isWithin(place, other.location())
            || SparkStorages.isWithin(other.location(), place))
        .findFirst();
  }

  private Stream<Place> places() {
    String database = Metastore.databaseOf(identifier);
    return Metastore.databases().stream()
        .flatMap(name -> tables(name).stream()
            .filter(table -> !name.equalsIgnoreCase(database)
                || !table.identifier().table().equalsIgnoreCase(identifier.name()))
            .flatMap(table -> placeOf(name, table).stream()));
  }

  /** A database that nobody may look into hides its tables. */
  private static List<CatalogTable> tables(String database) {
    try {
      return Metastore.tables(database);
    } catch (RuntimeException e) {
      LOG.warn("No place is compared with those of the tables in the database {}", database, e);
      return List.of();
    }
  }

  /** Returns the place of a table; empty for a view. */
  private static Optional<Place> placeOf(String database, CatalogTable table) {
    Option<URI> location = table.storage().locationUri();
    return location.isEmpty()
        ? Optional.empty()
        : Optional.of(new Place(
            database + "." + table.identifier().table(),
            new Path(location.get()).toString(),
            table.tableType().equals(CatalogTableType.MANAGED())));
  }
}
