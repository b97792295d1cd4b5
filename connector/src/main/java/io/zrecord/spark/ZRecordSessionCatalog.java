package io.zrecord.spark;

import io.zrecord.spark.catalog.StagingSessionCatalog;

/**
 * Keeps zrecord tables in Spark's session catalog: {@code create table t using zrecord}. Set
 * {@code spark.sql.catalog.spark_catalog=io.zrecord.spark.ZRecordSessionCatalog}. Spark handles
 * tables of its own file sources as before. Replacing a table of any other source is refused.
 *
 * <p>Spark 3.5 cannot keep tables of sources such as zrecord without this catalog. Spark 4 can, but
 * creates and replaces tables in several steps; steps that are not safe are refused.
 */
public final class ZRecordSessionCatalog extends StagingSessionCatalog {
  /** Makes the catalog of a session. */
  public ZRecordSessionCatalog() {
    LateExtensions.ensure();
  }
}
