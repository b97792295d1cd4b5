/**
 * Conversions between bytes and values, as docs/spec/FORMAT.md specifies them; no I/O. All input is
 * untrusted: lengths are checked before anything is allocated, and contradictions are a
 * {@link io.zrecord.errors.CorruptDataException}. Values are immutable. Start with
 * {@link io.zrecord.internal.format.ShardMeta}.
 */
@NullMarked
package io.zrecord.internal.format;

import org.jspecify.annotations.NullMarked;
