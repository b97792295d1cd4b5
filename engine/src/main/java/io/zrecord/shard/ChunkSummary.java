package io.zrecord.shard;

import java.io.Serializable;

/**
 * The size of a chunk, for planners.
 *
 * @param recordCount records whose values are in the chunk
 * @param lengthBytes published end of the file, header included
 */
public record ChunkSummary(long recordCount, long lengthBytes) implements Serializable {}
