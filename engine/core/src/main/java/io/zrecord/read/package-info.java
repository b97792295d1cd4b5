/**
 * The parts of every read: sets of indices, the reader of one field, the time of verification, and
 * the counters of a read. Index sets are immutable, and counters are thread-safe. A field reader
 * belongs to one thread. Damaged values are a {@link io.zrecord.errors.CorruptDataException}. Start
 * with {@link io.zrecord.read.FieldReader}.
 */
@NullMarked
package io.zrecord.read;

import org.jspecify.annotations.NullMarked;
