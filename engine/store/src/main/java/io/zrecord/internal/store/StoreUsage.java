package io.zrecord.internal.store;

import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFiles;
import java.util.ArrayList;
import java.util.List;

/**
 * How a store's chunks are used, by its tables at the last checkpoint. Approximate while a writer
 * changes the tables.
 *
 * @param records records in the tables
 * @param valueBytes stored bytes of the values
 * @param paddedBytes stored bytes with each value padded to a multiple of 8
 * @param chunkBytes published bytes of all chunks
 * @param chunkCount number of chunks
 * @param scatteredValues values that are not after the value of the record before, in the same
 *     chunk or a later one
 */
public record StoreUsage(
    long records,
    long valueBytes,
    long paddedBytes,
    long chunkBytes,
    int chunkCount,
    long scatteredValues) {
  /** Allowance for the meta file, directories, and the file system itself. */
  private static final long OTHER_FILES_BYTES = 1 << 20;

  /** Reads the usage from the tables of a store. */
  public static StoreUsage of(MutableFiles files, StoreMeta meta) {
    List<ChunkMeta> chunks = new ArrayList<>(meta.shard().chunks());
    chunks.addAll(meta.unfull());
    long[] sums = new long[3];
    for (FieldMeta field : meta.shard().fields()) {
      try (EntryTable table = EntryTable.open(files, field.stem(), false)) {
        table.requireCapacity(meta.shard().length());
        add(table, meta.shard().length(), sums);
      }
    }
    return new StoreUsage(
        meta.shard().length(),
        sums[0],
        sums[1],
        chunks.stream().mapToLong(ChunkMeta::endBytes).sum(),
        chunks.size(),
        sums[2]);
  }

  private static void add(EntryTable table, long length, long[] sums) {
    long lastOffset = 0;
    int lastChunk = 0;
    for (long index = 0; index < length; index++) {
      long offset = table.word0(index);
      long word1 = table.word1(index);
      if (!Entry.isAbsent(offset, word1)) {
        long bytes = Entry.physicalLength(word1) & 0xffff_ffffL;
        int chunk = Entry.chunkId(word1);
        sums[0] += bytes;
        sums[1] += bytes + 7 & ~7L;
        int order = Integer.compareUnsigned(chunk, lastChunk);
        sums[2] += order < 0 || (order == 0 && offset < lastOffset) ? 1 : 0;
        lastOffset = offset;
        lastChunk = chunk;
      }
    }
  }

  /** Returns the share of the chunks' bytes that is alive, 0 to 1. */
  public double utilization() {
    long headers = (long) chunkCount * ChunkHeader.BYTES;
    return chunkBytes == 0 ? 1 : Math.min(1, (double) (paddedBytes + headers) / chunkBytes);
  }

  /** Returns the bytes of chunks and tables of a rewritten store if no compression changes. */
  public long rewrittenBytes(int fieldCount, long newChunkBytes) {
    long chunks = paddedBytes / newChunkBytes + 1;
    return paddedBytes
        + chunks * ChunkHeader.BYTES
        + fieldCount * EntryTable.bytesFor(records)
        + OTHER_FILES_BYTES;
  }
}
