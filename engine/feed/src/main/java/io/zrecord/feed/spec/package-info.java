/**
 * Samplers by name and parameters, as options of Spark and of the command line give them. Immutable
 * and thread-safe. A name or a value that is not allowed is an
 * {@link java.lang.IllegalArgumentException} that says what is. Start with
 * {@link io.zrecord.feed.spec.SamplerSpec}.
 */
@NullMarked
package io.zrecord.feed.spec;

import org.jspecify.annotations.NullMarked;
