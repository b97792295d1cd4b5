/**
 * The checks of the files of a shard. They are written from FORMAT.md and do not use the readers,
 * so a check finds all damage and maps no damaged file. A check belongs to one thread. Damage is a
 * {@link io.zrecord.findings.Finding} that goes to the running check,
 * {@link io.zrecord.internal.verify.CheckRun}. Start with
 * {@link io.zrecord.internal.verify.SealedShardCheck}.
 */
@NullMarked
package io.zrecord.internal.verify;

import org.jspecify.annotations.NullMarked;
