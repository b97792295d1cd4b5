/**
 * Manifests and how they are found, read and published (FORMAT.md section 7). Values are immutable, the rest is thread-safe. Start
 * with {@link io.zrecord.internal.table.ManifestLog}.
 */
@NullMarked
package io.zrecord.internal.table;

import org.jspecify.annotations.NullMarked;
