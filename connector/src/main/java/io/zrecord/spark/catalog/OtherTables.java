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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Says where the other tables of a session catalog have their files, those of other databases and
 * of other data sources included. Asks the metastore twice for each database that is compared: once
 * for the tables of the own database, as long as this object is used, and at each comparison for
 * those of others. Belongs to one thread, for one decision.
 */
final class OtherTables {
  private static final Logger LOG = LoggerFactory.getLogger(OtherTables.class);

  private final Identifier identifier;
  private @Nullable List<CatalogTable> ofOwnDatabase;

  /**
   * Compares a table with all others.
   *
   * @param identifier the table
   */
  OtherTables(Identifier identifier) {
    this.identifier = identifier;
  }

  /**
   * A table and its files.
   *
   * @param table name of the table, for messages
   * @param location where the files are
   * @param isManaged whether dropping the table deletes the files
   */
  record Place(String table, String location, boolean isManaged) {}

  /**
   * Tells whether another table of the same database has its files at a place. Only a table of the
   * same database can have taken the directory of a table that was renamed.
   *
   * @throws IllegalStateException if the tables cannot be listed
   */
  boolean areAt(String place) {
    return placesInOwn()
        .anyMatch(other -> SparkStorages.isWithin(place, other.location())
            && SparkStorages.isWithin(other.location(), place));
  }

  /**
   * Finds a table such that dropping it, or this table, deletes files of the other.
   *
   * @param place where the files of this table are
   * @param isManaged whether dropping this table deletes its files
   * @throws IllegalStateException if the tables of a database cannot be listed, unless the user may
   *     not list those of a database that is not this table's
   */
  Optional<Place> inTheWay(String place, boolean isManaged) {
    return places()
        .filter(other -> isManaged || other.isManaged())
        .filter(other -> SparkStorages.isWithin(place, other.location())
            || SparkStorages.isWithin(other.location(), place))
        .findFirst();
  }

  private Stream<Place> places() {
    String own = Metastore.databaseOf(identifier);
    return Metastore.databases().stream()
        .flatMap(name -> name.equalsIgnoreCase(own) ? placesInOwn() : placesInOther(name));
  }

  private Stream<Place> placesInOwn() {
    String database = Metastore.databaseOf(identifier);
    List<CatalogTable> tables = ofOwnDatabase;
    if (tables == null) {
      tables = Metastore.tables(database);
      ofOwnDatabase = tables;
    }
    return tables.stream()
        .filter(table -> !table.identifier().table().equalsIgnoreCase(identifier.name()))
        .flatMap(table -> placeOf(database, table).stream());
  }

  /** A database that a user may not look into hides its tables. */
  private Stream<Place> placesInOther(String database) {
    try {
      return Metastore.tables(database).stream()
          .flatMap(table -> placeOf(database, table).stream());
    } catch (IllegalStateException e) {
      if (!isDenied(e)) {
        throw e;
      }
      LOG.warn(
          "No place is compared with those of the tables in the database {}: {}",
          database,
          e.toString());
      return Stream.empty();
    }
  }

  /** Every metastore has exceptions of its own for that. */
  private static boolean isDenied(Throwable failure) {
    for (Throwable e = failure; e != null; e = e.getCause()) {
      String said = e.toString();
      if (e instanceof SecurityException
          || said.contains("AccessControlException")
          || said.contains("AuthorizationException")
          || said.contains("Permission denied")) {
        return true;
      }
    }
    return false;
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
