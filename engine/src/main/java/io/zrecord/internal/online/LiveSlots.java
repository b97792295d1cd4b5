package io.zrecord.internal.online;

import io.zrecord.internal.format.Entry;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** What is known of the values of a selection: a slot for each, in the order asked. Several threads may work on slots of their own. */
final class LiveSlots {
  int count;
  long[] index = new long[0];
  long[] word0 = new long[0];
  long[] word1 = new long[0];

  /** As stored; loaded only where the value is due. */
  int[] checksum = new int[0];

  /** Whether the value must be verified before it is used. */
  boolean[] isDue = new boolean[0];

  /** Logical bytes; 0 if absent. */
  int[] length = new int[0];

  /** The window that a whole raw value lies in, verified or not; null if it must be read the long way. */
  @Nullable
  ByteBuffer[] window = new ByteBuffer[0];

  /** Where in the window. */
  int[] position = new int[0];

  /** Drops what is there, and makes room. */
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

  /** Lets go of the maps, for one that waits for its next use must not keep them. */
  void releaseWindows(int used) {
    java.util.Arrays.fill(window, 0, Math.min(used, window.length), null);
  }
}
