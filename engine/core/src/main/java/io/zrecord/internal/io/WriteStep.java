package io.zrecord.internal.io;

/**
 * The size of one write. The system copies the bytes into its page cache, for which it looks for
 * contiguous memory as large as the write: with ext4 on Linux 6.18, writes of 4 MiB took two to
 * seven times as long as writes of this size. Bytes of the heap are first copied by the JDK to a
 * direct buffer of the same length, which the JDK keeps for the thread.
 */
final class WriteStep {
  static final int BYTES = 256 << 10;

  private WriteStep() {}
}
