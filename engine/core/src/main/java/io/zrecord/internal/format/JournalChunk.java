package io.zrecord.internal.format;

import java.nio.ByteBuffer;

/**
 * A chunk that a record of a journal names.
 *
 * @param meta the chunk with its published end
 * @param carried the bytes before the published end that the record carries, because the chunk was
 *     not forced to disk before the record; often empty
 */
public record JournalChunk(ChunkMeta meta, ByteBuffer carried) {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** Returns a chunk that was forced up to its published end. */
  public static JournalChunk forced(ChunkMeta meta) {
    return new JournalChunk(meta, NOTHING);
  }

  /** Returns the position in the chunk of the first carried byte. */
  public long carriedFrom() {
    return meta.endBytes() - carried.remaining();
  }

  /**
   * Describes why the record cannot be true: bytes are neither in the chunk nor carried.
   *
   * @param known end of the bytes that are in the chunk, or that earlier records carry
   */
  public String gapAfter(long known) {
    return "it carries the bytes of " + meta.fileName() + " from " + carriedFrom()
        + " on, but all bytes before end at " + known + ". Restore the store from a copy";
  }
}
