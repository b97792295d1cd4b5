package io.zrecord.internal.io;

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
   * Makes the error of an earlier fault appear now. Allocating an array of arrays, even an empty
   * one, always calls the runtime. The call takes about 45 ns and 16 bytes.
   *
   * @return an array without use
   */
  public static byte[][] surface() {
    return new byte[none][none];
  }
}
