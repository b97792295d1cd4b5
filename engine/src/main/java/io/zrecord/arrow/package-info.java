/**
 * Writes the batches of a feed as a stream of Arrow record batches, in Arrow's IPC streaming format. The only package that knows Arrow,
 * of which it needs the generated classes of the format alone: values go from the feed's buffers to the channel. Start with {@link
 * io.zrecord.arrow.ArrowStream}.
 */
@NullMarked
package io.zrecord.arrow;

import org.jspecify.annotations.NullMarked;
