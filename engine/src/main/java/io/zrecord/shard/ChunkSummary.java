package io.zrecord.shard;

import java.io.Serializable;

/**
 * Size of a chunk as planners need it.
 *
 * @param recordCount records whose values are in it
 * @param lengthBytes published end, header included
 */
public record ChunkSummary(long recordCount, long lengthBytes) implements Serializable {}
