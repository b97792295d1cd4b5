package io.zrecord.spark.catalog;

/** Builds the message for CREATE TABLE AS SELECT at a path that holds a dataset. Stateless. */
public final class DatasetsInTheWay {
  private DatasetsInTheWay() {}

  /** Returns the message for a table and the path of the dataset that is already there. */
  public static String message(String table, String path) {
    return "Cannot create " + table + " with a query at " + path + ": there is a dataset already,"
        + " and the rows of the query would be added to its rows; create the table without a"
        + " query (create table … using zrecord location '" + path + "') and insert into it, or"
        + " choose another location";
  }
}
