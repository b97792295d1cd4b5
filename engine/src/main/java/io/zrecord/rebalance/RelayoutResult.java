package io.zrecord.rebalance;

import io.zrecord.table.TableSnapshot;

/**
 * What a relayout did.
 *
 * @param snapshot the version that it made
 * @param records that were written, all of the table
 * @param valueBytes stored bytes of their values before
 * @param before bytes of the chunk files before
 * @param after bytes of the chunk files after, without the index map
 * @param shardsBefore shards before
 * @param shardsAfter shards after
 * @param indexMap directory of the index map, relative to the table's
 */
public record RelayoutResult(
    TableSnapshot snapshot,
    long records,
    long valueBytes,
    long before,
    long after,
    int shardsBefore,
    int shardsAfter,
    String indexMap) {}
