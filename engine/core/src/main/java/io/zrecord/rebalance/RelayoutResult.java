package io.zrecord.rebalance;

import io.zrecord.table.TableSnapshot;

/**
 * The result of a relayout.
 *
 * @param snapshot the new version
 * @param records records written, which are all of the table
 * @param valueBytes stored bytes of their values before
 * @param before bytes of the chunk files before
 * @param after bytes of the chunk files after, without the index map
 * @param shardsBefore number of shards before
 * @param shardsAfter number of shards after
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
