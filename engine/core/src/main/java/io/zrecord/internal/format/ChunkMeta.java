package io.zrecord.internal.format;

/**
 * A chunk in the meta file of a store.
 *
 * @param id an unsigned int below 2³²−1
 * @param recordCount records that the store wrote to the chunk until now
 * @param endBytes published end of the file, header included
 */
public record ChunkMeta(int id, long recordCount, long endBytes) {
  /** Returns the name of the file within the store's directory. */
  public String fileName() {
    return fileName(id);
  }

  public static String fileName(int id) {
    return "chunk/" + Integer.toUnsignedString(id) + ".zr";
  }
}
