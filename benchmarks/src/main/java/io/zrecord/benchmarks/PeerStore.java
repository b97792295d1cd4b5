package io.zrecord.benchmarks;

import java.nio.ByteBuffer;

/**
 * A store of values under the numbers 0, 1, 2, … as the contest of peers needs it. One thread
 * appends; any number gather.
 */
interface PeerStore extends AutoCloseable {

  /** Adds values behind the last one, all or none, and returns when they survive power loss. */
  void append(Values values, long first, int count);

  /** Brings the data into the form that is read fastest. Not timed. */
  void settle();

  /** For one thread, which closes it. */
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
   * The values: a number of different ones, over and over, on the heap and outside it, as each
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

    /** Length of a value. */
    int bytes() {
      return bytes;
    }

    byte[] array(long number) {
      return arrays[(int) (number % DIFFERENT)];
    }

    /** From its beginning to its end; for one thread at a time. */
    ByteBuffer buffer(long number) {
      return buffers[(int) (number % DIFFERENT)].rewind();
    }
  }
}
