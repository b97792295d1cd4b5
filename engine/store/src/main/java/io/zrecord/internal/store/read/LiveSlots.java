package io.zrecord.internal.store.read;

import io.zrecord.internal.format.Entry;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The state of a selection's values: a slot for each, in the order asked. Several threads may work
 * on slots of their own.
 */
final class LiveSlots {
  int count;
  long[] index = new long[0];
  long[] word0 = new long[0];
  long[] word1 = new long[0];

  /** Stored checksums, loaded only where the value must be verified. */
  int[] checksum = new int[0];

  /** Tells whether the value must be verified before use. */
  boolean[] isDue = new boolean[0];

  /** Logical lengths in bytes; 0 if absent. */
  int[] length = new int[0];

  /**
   * The window of a whole raw value, verified or not. Null if the value must be read the long way.
   */
  @Nullable
  ByteBuffer[] window = new ByteBuffer[0];

  /** Positions in the windows. */
  int[] position = new int[0];

  /** Drops all slots and makes room for new ones. */
  void begin(int newCount) {
    count = 0;
    if (index.length < newCount) {
      int capacity = Math.max(newCount, index.length + (index.length >> 1));
      index = new long[capacity];
      word0 = new long[capacity];
      word1 = new long[capacity];
      checksum = new int[capacity];
      isDue = new boolean[capacity];
      length = new int[capacity];
      window = new ByteBuffer[capacity];
      position = new int[capacity];
    }
  }

  boolean isAbsent(int k) {
    return Entry.isAbsent(word0[k], word1[k]);
  }

  int storedBytes(int k) {
    return Entry.physicalLength(word1[k]);
  }

  /** Releases the maps, which an idle object must not keep. */
  void releaseWindows(int used) {
    java.util.Arrays.fill(window, 0, Math.min(used, window.length), null);
  }
}
