/**
 * Output of a feed's batches as a stream of Arrow record batches, in Arrow's IPC streaming format.
 * The only package that knows Arrow, and only through the generated classes of the format: values
 * go from the feed's buffers to the channel. A stream belongs to one thread. A failed write is a
 * {@link java.io.IOException}. Start with {@link io.zrecord.arrow.ArrowStream}.
 */
@NullMarked
package io.zrecord.arrow;

import org.jspecify.annotations.NullMarked;
