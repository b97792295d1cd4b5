/**
 * Stores that are written online: tables of entries that change, a journal, and chunks that grow
 * (FORMAT.md section 9). This package has the files and the state that writers and readers share;
 * writing, reading and rewriting have subpackages. One process writes a store at a time, while
 * readers of any process follow. Damage is a {@link io.zrecord.errors.CorruptDataException}. Start
 * with {@link io.zrecord.internal.store.write.StoreWriter}.
 */
@NullMarked
package io.zrecord.internal.store;

import org.jspecify.annotations.NullMarked;
