package io.zrecord.internal.format;

/**
 * A chunk in the meta file of a shard.
 *
 * @param id an unsigned int below 2³²−1
 * @param recordCount records in the chunk when it was closed
 * @param endBytes published end of the file, header included
 */
public record ChunkMeta(int id, long recordCount, long endBytes) {

  /** Returns the name of the file within the shard's directory. */
  public String fileName() {
    return fileName(id);
  }

  public static String fileName(int id) {
    return "chunk/" + Integer.toUnsignedString(id) + ".zr";
  }
}
