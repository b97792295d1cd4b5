package io.zrecord.internal.io;

import io.zrecord.errors.TruncatedFileException;

/**
 * Faults of mapped memory. When a file is truncated under its map, compiled code that reads the
 * missing part continues with arbitrary bytes. The virtual machine throws an {@link InternalError}
 * only when the thread next enters its runtime. The reader may have returned by then, and the error
 * would hit unrelated code.
 */
public final class MapFaults {
  // Not final, so that the compiler cannot turn the allocation below into one of constant size,
  // which needs no call.
  private static int none = 0;

  private MapFaults() {}

  /**
   * Works with maps, and turns a fault into an exception. For work of some microseconds and more:
   * loops that read single values surround the loop.
   *
   * @param location the mapped file, or the directory of the mapped files, for the message
   * @throws TruncatedFileException if a file was cut while it was mapped; what was stored to the
   *     map may be lost
   */
  public static void guard(String location, Runnable work) {
    try {
      try {
        work.run();
      } finally {
        // Also before an exception is passed on: missing bytes look like damage.
        surface();
      }
    } catch (InternalError e) {
      throw new TruncatedFileException(
          location,
          "Cannot go on with " + location
              + ": it, or a file in it, was cut while it was mapped. Restore it from a copy",
          e);
    }
  }

  /**
   * Makes the error of an earlier fault appear now. Allocating an array of arrays, even an empty
   * one, always calls the runtime. The call takes about 45 ns and 16 bytes.
   *
   * @return an array without use
   */
  public static byte[][] surface() {
    return new byte[none][none];
  }
}
