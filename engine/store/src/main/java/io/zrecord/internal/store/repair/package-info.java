/**
 * Repairs of a store that a check found damaged. First the files, so that the store can be opened,
 * then the values. Belongs to one thread. A file that cannot be changed is a
 * {@link io.zrecord.errors.ZRecordException}. Start with
 * {@link io.zrecord.internal.store.repair.StoreRepair}.
 */
@NullMarked
package io.zrecord.internal.store.repair;

import org.jspecify.annotations.NullMarked;
