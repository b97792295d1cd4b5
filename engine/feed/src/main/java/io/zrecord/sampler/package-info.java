/**
 * Orders of records: which index is at which position of an epoch. A sampler is a pure function of
 * (seed, epoch, position), so that any number of threads and ranks can resume a run from four
 * numbers, {@link io.zrecord.sampler.SamplerState}. The algorithms are specified in
 * {@code docs/spec/SAMPLERS.md}. This package depends on random words and permutations only.
 * Everything is immutable and thread-safe; errors are those of the caller, the JDK's own
 * exceptions. Start with {@link io.zrecord.sampler.Samplers}.
 */
@NullMarked
package io.zrecord.sampler;

import org.jspecify.annotations.NullMarked;
