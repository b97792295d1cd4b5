/**
 * The ways to compress values (FORMAT.md section 4); no I/O. All input is untrusted: lengths are
 * checked before anything is allocated, and contradictions are a
 * {@link io.zrecord.errors.CorruptDataException}. A codec belongs to one thread. Start with
 * {@link io.zrecord.internal.codec.ValueCodec}.
 */
@NullMarked
package io.zrecord.internal.codec;

import org.jspecify.annotations.NullMarked;
