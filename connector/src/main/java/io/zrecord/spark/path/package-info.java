/**
 * Paths of datasets: what a user writes, as storages of the engine. Public to the rest of the
 * connector only. Start with {@link io.zrecord.spark.path.PathIdentifiers}.
 */
@NullMarked
package io.zrecord.spark.path;

import org.jspecify.annotations.NullMarked;
