/**
 * The checks of a store (FORMAT.md section 9): meta file, journal, chunks, entries and what readers
 * follow. They are written from FORMAT.md and do not open the store. A check belongs to one thread.
 * Damage is a {@link io.zrecord.findings.Finding}. Start with
 * {@link io.zrecord.internal.store.verify.StoreCheck}.
 */
@NullMarked
package io.zrecord.internal.store.verify;

import org.jspecify.annotations.NullMarked;
