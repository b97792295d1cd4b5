/**
 * The description of a dataset: fields with an element type, a shape and a codec. Small immutable
 * values, safe to share between threads and to serialize. Invalid values cannot be built
 * ({@link java.lang.IllegalArgumentException}). Depends on no other package. Start with
 * {@link io.zrecord.schema.RecordSchema}.
 */
@NullMarked
package io.zrecord.schema;

import org.jspecify.annotations.NullMarked;
