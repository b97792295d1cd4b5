/**
 * Bytes to values and back, as docs/FORMAT.md lays them down; no I/O. Everything read here is untrusted: lengths are checked
 * before anything is allocated, and what does not hold is a {@link io.zrecord.errors.CorruptDataException}. Values are
 * immutable; a {@link io.zrecord.internal.format.ValueCodec} belongs to one thread. Start with {@link
 * io.zrecord.internal.format.ShardMeta}.
 */
@NullMarked
package io.zrecord.internal.format;

import org.jspecify.annotations.NullMarked;
