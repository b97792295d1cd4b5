package io.zrecord.read;

import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of the work of readers. Thread-safe; share one object among the readers to be counted
 * together.
 */
public final class ReadMetrics {
  /** Values handed out. */
  public final LongAdder values = new LongAdder();
  /** Bytes read from files: entries, checksums, stored bytes. */
  public final LongAdder bytesRead = new LongAdder();
  /** Bytes of values handed out. Its ratio to {@link #bytesRead} is the read amplification. */
  public final LongAdder bytesDelivered = new LongAdder();
  /** Time spent decompressing. */
  public final LongAdder decodeNanos = new LongAdder();
  /** Checksums that did not hold. */
  public final LongAdder checksumFailures = new LongAdder();
  /** Chunk files opened. */
  public final LongAdder chunksOpened = new LongAdder();
  /** Requests for bytes of chunks, where files are not mapped. */
  public final LongAdder requests = new LongAdder();
  /**
   * Bytes that these requests asked for. Their ratio to {@link #bytesRead} says what joined gaps
   * and regions read ahead cost.
   */
  public final LongAdder bytesRequested = new LongAdder();
  /** Regions of files that are not mapped which were in memory when they were needed. */
  public final LongAdder regionHits = new LongAdder();
  /**
   * Most bytes that one selection held of files that are not mapped, besides the values that it
   * copied out of them.
   */
  public final LongAccumulator mostBytesHeld = new LongAccumulator(Math::max, 0);
  /** Time that readers waited for requests. */
  public final LongAdder waitNanos = new LongAdder();
}
