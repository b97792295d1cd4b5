/**
 * Repairs of damage that a check found. A repair plans its changes, shows the plan, and then
 * carries the plan out. Belongs to one thread. A file that cannot be changed is a
 * {@link io.zrecord.errors.ZRecordException}. Start with {@link io.zrecord.repair.DatasetRepair}.
 */
@NullMarked
package io.zrecord.repair;

import org.jspecify.annotations.NullMarked;
