/**
 * Rules for Spark's analyzer, for what only a whole plan shows: a write together with its query.
 * The rules use the accessors of plans that are the same in every release, and change no plan.
 * Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.rules.OverwriteOfItself} and
 * {@link io.zrecord.spark.rules.UnstagedCreation}.
 */
@NullMarked
package io.zrecord.spark.rules;

import org.jspecify.annotations.NullMarked;
