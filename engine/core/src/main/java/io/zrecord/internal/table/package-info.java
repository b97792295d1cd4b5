/**
 * Manifests, and the tags in them: how versions are found, read and published (FORMAT.md section
 * 7). Values are immutable, and logs are thread-safe. A damaged manifest is a
 * {@link io.zrecord.errors.CorruptDataException}, and a publication without a known outcome a
 * {@link io.zrecord.errors.CommitOutcomeUnknownException}. Start with
 * {@link io.zrecord.internal.table.ManifestLog}, then
 * {@link io.zrecord.internal.table.RetainedVersions}.
 */
@NullMarked
package io.zrecord.internal.table;

import org.jspecify.annotations.NullMarked;
