package io.zrecord.internal.shard;

import io.zrecord.internal.format.RankedBitmap;

/**
 * The changed values of a field in a shard.
 *
 * @param slots the slots whose values were changed
 * @param values their values, by the rank of the slot
 */
public record ChangedField(RankedBitmap slots, EntryField values) {}
