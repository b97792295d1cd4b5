package io.zrecord.spark.rows;

import java.util.UUID;

/**
 * Where a record was before a statement gave it another partition.
 *
 * @param shard identity of the shard
 * @param slot of the record in the shard
 */
record Place(UUID shard, long slot) {}
