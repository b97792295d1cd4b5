package io.zrecord.spark.catalog;

import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.types.StructType;

/** Reads and changes entries of a session catalog as Spark's own catalog does. */
interface Entries {
  /** Returns the name of the catalog. */
  String catalog();

  /** Loads an entry. */
  Table load(Identifier identifier) throws NoSuchTableException;

  /** Writes an entry. */
  void create(Identifier identifier, StructType columns, Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException;

  /** Changes an entry. */
  void alter(Identifier identifier, TableChange... changes) throws NoSuchTableException;

  /** Removes an entry, and the files of a managed table; false if there is none. */
  boolean drop(Identifier identifier);

  /** Forgets what Spark remembers of a table. */
  void invalidate(Identifier identifier);
}
