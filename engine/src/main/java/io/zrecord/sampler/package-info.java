/**
 * Orders of records: which index stands at which position of an epoch. A sampler is a pure function
 * of (seed, epoch, position), so that a run is resumed from four numbers,
 * {@link io.zrecord.sampler.SamplerState}, by any number of threads and ranks. The algorithms are
 * specified in {@code docs/spec/SAMPLERS.md}. Depends on nothing. Everything is immutable and
 * thread-safe; errors are those of the caller, the JDK's own exceptions. Start with
 * {@link io.zrecord.sampler.Samplers}.
 */
@NullMarked
package io.zrecord.sampler;

import org.jspecify.annotations.NullMarked;
