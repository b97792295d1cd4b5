package io.zrecord.internal.store.rewrite;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.shard.write.TableSource;
import io.zrecord.internal.store.EntryTable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Collection;

/**
 * Gives the entries of a store's table as those of a sealed shard, in which a chunk has an ordinal
 * instead of an id. Checksums stay: they do not depend on where values are. Belongs to one thread.
 */
final class StoreEntries {
  /** Stands for a chunk that does not exist, which readers refuse. */
  private static final int UNKNOWN = -1;

  private final EntryTable table;
  /** Ids with the highest bit flipped, so that their signed order is the unsigned order of ids. */
  private final int[] chunkIds;

  /**
   * Prepares a table.
   *
   * @param chunkIds ids of the chunks in the order of the ordinals, which is their unsigned order
   */
  StoreEntries(EntryTable table, Collection<Integer> chunkIds) {
    this.table = table;
    this.chunkIds = chunkIds.stream().mapToInt(id -> id ^ Integer.MIN_VALUE).toArray();
  }

  TableSource entries() {
    return new TableSource() {
      private long index;

      @Override
      public void read(byte[] target, int offset, int length) {
        ByteBuffer out = littleEndian(target, offset, length);
        for (; out.hasRemaining(); index++) {
          long word0 = table.word0(index);
          long word1 = table.word1(index);
          out.putLong(word0);
          out.putLong(Entry.isAbsent(word0, word1) ? word1 : withOrdinal(word1));
        }
      }
    };
  }

  TableSource checksums() {
    return new TableSource() {
      private long index;

      @Override
      public void read(byte[] target, int offset, int length) {
        ByteBuffer out = littleEndian(target, offset, length);
        for (; out.hasRemaining(); index++) {
          out.putInt(table.checksum(index));
        }
      }
    };
  }

  private long withOrdinal(long word1) {
    int found = Arrays.binarySearch(chunkIds, Entry.chunkId(word1) ^ Integer.MIN_VALUE);
    return Entry.word1(found < 0 ? UNKNOWN : found, Entry.physicalLength(word1));
  }

  private static ByteBuffer littleEndian(byte[] target, int offset, int length) {
    return ByteBuffer.wrap(target, offset, length).order(ByteOrder.LITTLE_ENDIAN);
  }
}
