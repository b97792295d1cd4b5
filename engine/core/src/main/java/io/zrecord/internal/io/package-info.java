/**
 * Input and output on the local file system, and the only place that touches
 * {@link java.nio.channels.FileChannel}, mapped memory and {@code force}. Opens without following
 * links, maps after a check of the length, appends, and makes durable. Classes are thread-safe
 * unless they say otherwise. Every {@link java.io.IOException} becomes one of the project's
 * exceptions. Start with {@link io.zrecord.internal.io.LocalFiles}.
 */
@NullMarked
package io.zrecord.internal.io;

import org.jspecify.annotations.NullMarked;
