/**
 * Rules for Spark's analyzer: what only a whole plan shows, a write beside its query. Uses the
 * accessors of plans that are the same in every release, and changes no plan. Public to the rest of
 * the connector only. Start with {@link io.zrecord.spark.rules.OverwriteOfItself} and
 * {@link io.zrecord.spark.rules.UnstagedCreation}.
 */
@NullMarked
package io.zrecord.spark.rules;

import org.jspecify.annotations.NullMarked;
