/**
 * Searches for the records whose value of a field is within one of some ranges: by statistics of
 * blocks of records, and by the values themselves. A range of values that are not ordered is an
 * {@link IllegalArgumentException}. Start with
 * {@link io.zrecord.internal.shard.search.RangeSearch}.
 */
@NullMarked
package io.zrecord.internal.shard.search;

import org.jspecify.annotations.NullMarked;
