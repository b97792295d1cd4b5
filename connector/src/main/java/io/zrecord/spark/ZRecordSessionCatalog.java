package io.zrecord.spark;

import io.zrecord.spark.catalog.StagingSessionCatalog;

/**
 * Keeps zrecord tables in Spark's session catalog: {@code create table t using zrecord}. Set
 * {@code spark.sql.catalog.spark_catalog=io.zrecord.spark.ZRecordSessionCatalog}. Tables of other
 * data sources are Spark's concern as before.
 *
 * <p>Spark 3.5 cannot keep tables of sources such as zrecord without this catalog. Spark 4 can, but
 * creates and replaces tables in several steps; what is not safe then is refused.
 */
public final class ZRecordSessionCatalog extends StagingSessionCatalog {}
