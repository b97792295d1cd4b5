package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.DecodedBlock;
import io.zrecord.internal.shard.layout.BlockField;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that a reader decoded last: neighbouring selections often share a block. Memory is
 * used again for other blocks. Belongs to one thread.
 */
final class BlockCache {
  private static final int MAX_BLOCKS = 8;

  /** Bytes of all blocks, unless one alone has more. */
  private static final int MAX_BYTES = 2 << 20;

  private final @Nullable BlockField[] fields = new BlockField[MAX_BLOCKS];
  private final long[] numbers = new long[MAX_BLOCKS];
  private final @Nullable DecodedBlock[] blocks = new DecodedBlock[MAX_BLOCKS];
  private int next;

  /** Returns a block that is here; null if it is not. */
  @Nullable
  DecodedBlock find(BlockField field, long number) {
    for (int i = 0; i < MAX_BLOCKS; i++) {
      if (numbers[i] == number && fields[i] == field) {
        return blocks[i];
      }
    }
    return null;
  }

  /**
   * Returns memory for a block, in the place of another. Decode the block, then call {@link #keep}.
   */
  DecodedBlock replace(int rawBytes) {
    // Long blocks share fewer places, so that the sum stays within the bound.
    int places = Math.max(1, Math.min(MAX_BLOCKS, MAX_BYTES / Math.max(1, rawBytes)));
    next = (next + 1) % places;
    fields[next] = null;
    DecodedBlock block = blocks[next];
    if (block == null || block.memoryBytes() > Math.max(MAX_BYTES, 3L * rawBytes)) {
      block = new DecodedBlock();
      blocks[next] = block;
    }
    return block;
  }

  /** Remembers what the memory that was given last holds. */
  void keep(BlockField field, long number) {
    fields[next] = field;
    numbers[next] = number;
  }

  /** Forgets a value that takes more memory than an idle reader may keep. */
  void trim() {
    for (int i = 0; i < MAX_BLOCKS; i++) {
      DecodedBlock block = blocks[i];
      if (block != null && block.isLong()) {
        fields[i] = null;
        blocks[i] = null;
      }
    }
  }

  /** Forgets all blocks. */
  void clear() {
    java.util.Arrays.fill(fields, null);
  }
}
