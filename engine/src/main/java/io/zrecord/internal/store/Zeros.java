package io.zrecord.internal.store;

import java.nio.ByteBuffer;

/** Fills parts of buffers with zeros. */
final class Zeros {
  private static final byte[] BLOCK = new byte[4096];

  private Zeros() {}

  static void fill(ByteBuffer target, int at, long length) {
    for (long done = 0; done < length; ) {
      int step = (int) Math.min(BLOCK.length, length - done);
      target.put(at + (int) done, BLOCK, 0, step);
      done += step;
    }
  }
}
