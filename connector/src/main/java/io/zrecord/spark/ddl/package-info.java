/**
 * Definitions of tables in the words of Spark: what {@code CREATE TABLE} declares, and what
 * {@code ALTER TABLE} changes, as one commit of a manifest. No shard is touched. Throws exceptions
 * of Spark with a condition. Stateless. Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.ddl.TableDefinition}.
 */
@NullMarked
package io.zrecord.spark.ddl;

import org.jspecify.annotations.NullMarked;
