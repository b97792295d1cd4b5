package io.zrecord.spark.catalog;

import org.apache.spark.sql.connector.catalog.SupportsSchemaEvolution;
import org.apache.spark.sql.connector.catalog.TableChange;

/**
 * Makes tables that Spark asks, from 4.2 on, which changes of columns a statement {@code WITH
 * SCHEMA EVOLUTION} is to make. Of a table that Spark cannot ask, Spark wants each type of the
 * query, and the statement fails at the first change that the table does not take.
 */
final class EvolvingTables {
  private static final boolean ARE_ASKED = areAsked();

  private EvolvingTables() {}

  private static boolean areAsked() {
    try {
      Class.forName(
          "org.apache.spark.sql.connector.catalog.SupportsSchemaEvolution",
          false,
          ZRecordTable.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** Returns a table as this release of Spark needs the table. */
  static ZRecordTable of(ZRecordTable table) {
    if (!ARE_ASKED || !table.hasEvolution()) {
      return table;
    }
    return table instanceof SessionTable of ? Asked.of(of) : Asked.of(table);
  }

  /** Refers to what older releases of Spark do not have, so that only newer ones load it. */
  private static final class Asked {
    static ZRecordTable of(ZRecordTable table) {
      return new OfName(table);
    }

    static ZRecordTable of(SessionTable table) {
      return new OfSession(table);
    }
  }

  private static final class OfName extends ZRecordTable implements SupportsSchemaEvolution {
    OfName(ZRecordTable same) {
      super(same);
    }

    @Override
    public boolean supportsColumnChange(TableChange.ColumnChange change) {
      return takes(change);
    }

    @Override
    Class<? extends ZRecordTable> kind() {
      return ZRecordTable.class;
    }
  }

  private static final class OfSession extends SessionTable implements SupportsSchemaEvolution {
    OfSession(SessionTable same) {
      super(same);
    }

    @Override
    public boolean supportsColumnChange(TableChange.ColumnChange change) {
      return takes(change);
    }

    @Override
    Class<? extends ZRecordTable> kind() {
      return SessionTable.class;
    }
  }
}
