package io.zrecord.internal.shard;

import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;

/** Fills parts of buffers and files with zeros. */
public final class Zeros {
  private static final byte[] BLOCK = new byte[4096];

  private Zeros() {}

  public static void fill(ByteBuffer target, int at, long length) {
    for (long done = 0; done < length; ) {
      int step = (int) Math.min(BLOCK.length, length - done);
      target.put(at + (int) done, BLOCK, 0, step);
      done += step;
    }
  }

  public static void write(WritableFile target, int length) {
    for (int done = 0; done < length; ) {
      int step = Math.min(BLOCK.length, length - done);
      target.write(ByteBuffer.wrap(BLOCK, 0, step));
      done += step;
    }
  }
}
