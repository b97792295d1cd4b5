package org.apache.spark.sql.connector.catalog;

import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The changes of a table, from Spark 4.2 on. Declared here for the compiler: the jar does not
 * contain this copy, and before 4.2 nothing refers to it.
 */
public interface Changelog {
  String name();

  Column[] columns();

  boolean containsCarryoverRows();

  boolean containsIntermediateChanges();

  boolean representsUpdateAsDeleteAndInsert();

  ScanBuilder newScanBuilder(CaseInsensitiveStringMap options);
}
