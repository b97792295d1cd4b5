/**
 * The only place that touches {@link java.nio.channels.FileChannel}, mapped memory and {@code force}: opening without following
 * links, mapping after a check of the length, appending, making durable, and turning an {@link java.io.IOException} into one of
 * the project's exceptions. Classes are thread-safe unless they say otherwise. Start with {@link
 * io.zrecord.internal.io.LocalFiles}.
 */
@NullMarked
package io.zrecord.internal.io;

import org.jspecify.annotations.NullMarked;
