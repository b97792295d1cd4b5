package io.zrecord.benchmarks;

import java.nio.ByteBuffer;

/**
 * A store of values under the numbers 0, 1, 2, … for the contest of peers. One thread appends; any
 * number of threads gather.
 */
interface PeerStore extends AutoCloseable {

  /** Adds values after the last value, all or none. Returns when the values survive power loss. */
  void append(Values values, long first, int count);

  /** Brings the data into the form that is read fastest. Not timed. */
  void settle();

  /** Returns a gatherer for one thread, which closes it. */
  Gatherer newGatherer();

  @Override
  void close();

  /** Copies values one after the other. */
  interface Gatherer extends AutoCloseable {
    void gather(long[] numbers, ByteBuffer target);

    @Override
    void close();
  }

  /**
   * The values: a number of different values again and again, on the heap and outside it, as each
   * store takes them best.
   */
  final class Values {
    private static final int DIFFERENT = 256;

    private final int bytes;
    private final byte[][] arrays = new byte[DIFFERENT][];
    private final ByteBuffer[] buffers = new ByteBuffer[DIFFERENT];

    Values(int bytes) {
      this.bytes = bytes;
      for (int i = 0; i < DIFFERENT; i++) {
        arrays[i] = Workplace.noise(bytes, i);
        buffers[i] = ByteBuffer.allocateDirect(bytes).put(arrays[i]).flip();
      }
    }

    /** Returns the length of a value. */
    int bytes() {
      return bytes;
    }

    byte[] array(long number) {
      return arrays[(int) (number % DIFFERENT)];
    }

    /** Returns a value from its beginning to its end, for one thread at a time. */
    ByteBuffer buffer(long number) {
      return buffers[(int) (number % DIFFERENT)].rewind();
    }
  }
}
