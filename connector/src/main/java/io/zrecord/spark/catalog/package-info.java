/**
 * Tables as catalogs of Spark see them: loaded by path or by name, created, replaced, dropped.
 * Resolves an identifier to a table of one version and hands the table to {@code scan},
 * {@code write} and {@code view}. Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.catalog.DatasetCatalog}.
 */
@NullMarked
package io.zrecord.spark.catalog;

import org.jspecify.annotations.NullMarked;
