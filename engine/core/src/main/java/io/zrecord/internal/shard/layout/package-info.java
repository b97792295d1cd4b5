/**
 * The ways in which a field keeps its values in a shard (FORMAT.md section 5): runs of one width,
 * runs of any width, blocks, entries, and what a patch changes. Thread-safe. Tables that contradict
 * each other are a {@link io.zrecord.errors.CorruptDataException}. Start with
 * {@link io.zrecord.internal.shard.layout.OpenField}.
 */
@NullMarked
package io.zrecord.internal.shard.layout;

import org.jspecify.annotations.NullMarked;
