/**
 * Random words, draws and permutations as functions of a key and a position (SAMPLERS.md sections 2
 * to 4), for samplers and for tables that are written in a random order. Many positions are
 * computed at once, in lanes. Depends on no other package. Everything is immutable and thread-safe.
 * Start with {@link io.zrecord.internal.random.Permutation}.
 */
@NullMarked
package io.zrecord.internal.random;

import org.jspecify.annotations.NullMarked;
