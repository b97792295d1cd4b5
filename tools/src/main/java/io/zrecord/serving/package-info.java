/**
 * Work for another process on the same machine: writing datasets, and care for them. The other
 * process puts values into memory that both read, and sends short frames; the Python package writes
 * in this way. Only a frame that asks for a commit commits. What arrives is not trusted: a frame
 * that breaks a rule is an {@link java.lang.IllegalArgumentException} and ends its session without
 * a commit. Every class belongs to one thread. Start with {@link io.zrecord.serving.EngineServer}.
 */
@NullMarked
package io.zrecord.serving;

import org.jspecify.annotations.NullMarked;
