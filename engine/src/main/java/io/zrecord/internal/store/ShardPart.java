package io.zrecord.internal.store;

import io.zrecord.scan.ReadMetrics;
import java.util.Arrays;

/** What one reader of one field knows of one shard: the field in it, and where its chunks are in the window table. One thread. */
final class ShardPart {
  private static final int NOT_ADDED = -1;

  private final OpenShard shard;
  private final OpenField field;
  private final WindowTable table;
  private final ReadMetrics metrics;
  private final int[] firstWindows;
  private final Windows[] chunks;
  private final int[] wholeWindows;

  ShardPart(OpenShard shard, OpenField field, WindowTable table, ReadMetrics metrics) {
    this.shard = shard;
    this.field = field;
    this.table = table;
    this.metrics = metrics;
    int chunkCount = field instanceof AbsentField ? 0 : shard.chunks().size();
    this.firstWindows = new int[chunkCount];
    this.chunks = new Windows[chunkCount];
    this.wholeWindows = new int[chunkCount];
    Arrays.fill(firstWindows, NOT_ADDED);
    Arrays.fill(wholeWindows, NOT_ADDED);
  }

  OpenField field() {
    return field;
  }

  /**
   * For each chunk, by its id, the number of the one window that it consists of; negative if it has several, was not used yet, or
   * if its id is not its ordinal.
   */
  int[] wholeWindows() {
    return wholeWindows;
  }

  /** The number of the window in which bytes of a chunk begin; all windows that they reach are ready. */
  int ready(int chunkOrdinal, long position, long length) {
    int first = firstWindows[chunkOrdinal];
    if (first == NOT_ADDED) {
      first = table.add(shard, chunkOrdinal, metrics);
      chunks[chunkOrdinal] = shard.chunk(chunkOrdinal, metrics).windows();
      firstWindows[chunkOrdinal] = first;
    }
    int window = table.ready(first, chunks[chunkOrdinal], position, length);
    if (chunks[chunkOrdinal].count() == 1
        && window == first
        && shard.chunks().get(chunkOrdinal).id() == chunkOrdinal) {
      wholeWindows[chunkOrdinal] = window;
    }
    return window;
  }

  /** The place of a chunk's byte in its window. */
  int within(int chunkOrdinal, long position) {
    return chunks[chunkOrdinal].within(position);
  }

  /** Lets the next reader open the shard's files anew. */
  void forgetShard() {
    shard.forget();
  }

  /** Throws if a file of the shard is shorter than published. */
  void requireWholeFiles(InternalError error) {
    shard.requireWholeFiles(error);
  }
}
