/**
 * Paths of datasets: maps what a user writes to storages of the engine. Public to the rest of the
 * connector only. Start with {@link io.zrecord.spark.path.PathIdentifiers}.
 */
@NullMarked
package io.zrecord.spark.path;

import org.jspecify.annotations.NullMarked;
