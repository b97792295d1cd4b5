package io.zrecord.internal.format;

/**
 * A chunk in the meta file of a shard or store.
 *
 * @param id an unsigned int below 2³²−1
 * @param recordCount records that a store wrote to the chunk until now, or {@link #UNCOUNTED}
 * @param endBytes published end of the file, header included
 */
public record ChunkMeta(int id, long recordCount, long endBytes) {
  /** The record count of a chunk written in bulk, in which a record has only some values. */
  private static final long UNCOUNTED = -1;

  /** Returns a chunk written in bulk. */
  public static ChunkMeta writtenInBulk(int id, long endBytes) {
    return new ChunkMeta(id, UNCOUNTED, endBytes);
  }

  /**
   * Tells whether a store wrote the chunk. Such a chunk may have dead bytes, and a number of
   * records. Other chunks have neither.
   */
  public boolean isOfStore() {
    return recordCount != UNCOUNTED;
  }

  /** Returns the name of the file within the shard's directory. */
  public String fileName() {
    return fileName(id);
  }

  public static String fileName(int id) {
    return "chunk/" + Integer.toUnsignedString(id) + ".zr";
  }
}
