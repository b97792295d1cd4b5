package io.zrecord.internal.io;

/**
 * Faults of mapped memory. When a file is truncated under its map, compiled code that reads the missing part goes on with any
 * bytes, and the virtual machine throws an {@link InternalError} when the thread next enters its runtime. Until then the reader
 * may have returned, and the error would hit whoever runs.
 */
public final class MapFaults {
  // Not final, so that the compiler cannot make the allocation below one of constant size, which
  // needs no call.
  private static int none = 0;

  private MapFaults() {}

  /**
   * Lets the error of a fault that happened before be thrown now. Allocating an array of arrays always calls the runtime,
   * an empty one as well; it takes about 45 ns and 16 bytes.
   *
   * @return an array that nobody needs
   */
  public static byte[][] surface() {
    return new byte[none][none];
  }
}
