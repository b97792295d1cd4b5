package io.zrecord.internal.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Encodes a {@link RankedBitmap} container by container, so that the slots need not be listed.
 * Takes memory for the bytes of the set. Belongs to one thread.
 */
public final class RankedBitmapEncoder {
  private final ByteBuffer encoded;
  private int at;

  /**
   * Begins with all containers.
   *
   * @param keys number of each container, in rising order
   * @param counts number of the slots of each container, at least 1
   */
  public RankedBitmapEncoder(int[] keys, int[] counts) {
    at = RankedBitmap.HEAD_BYTES + keys.length * RankedBitmap.DIRECTORY_BYTES;
    int bytes = at;
    for (int count : counts) {
      bytes += RankedBitmap.containerBytes(count);
    }
    encoded = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    encoded.putInt(keys.length).putInt(0);
    for (int i = 0; i < keys.length; i++) {
      encoded.putInt(keys[i]).putInt(counts[i]);
    }
  }

  /** Adds the next container, of at most {@link RankedBitmap#MOST_LISTED} slots, sorted. */
  public void list(char[] slots, int count) {
    for (int i = 0; i < count; i++) {
      encoded.putChar(at + i * Character.BYTES, slots[i]);
    }
    at += RankedBitmap.containerBytes(count);
  }

  /** Adds the next container, of more slots, as bits. */
  public void words(long[] words) {
    for (int i = 0; i < words.length; i++) {
      encoded.putLong(at + i * Long.BYTES, words[i]);
    }
    at += words.length * Long.BYTES;
  }

  /** Returns the bytes of the set, once all containers were added. */
  public byte[] bytes() {
    return encoded.array();
  }
}
