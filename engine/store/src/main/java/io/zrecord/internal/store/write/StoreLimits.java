package io.zrecord.internal.store.write;

import java.time.Duration;

/**
 * How a store is written.
 *
 * @param durable whether a commit survives power loss
 * @param chunkRecords records at which a chunk is closed
 * @param chunkBytes bytes at which a chunk is closed
 * @param laneCount number of chunks that are written side by side
 * @param checkpointBytes length of the journal at which the tables are forced instead
 * @param closeTimeout how long closing waits for a commit that does not end
 */
public record StoreLimits(
    boolean durable,
    long chunkRecords,
    long chunkBytes,
    int laneCount,
    long checkpointBytes,
    Duration closeTimeout) {}
