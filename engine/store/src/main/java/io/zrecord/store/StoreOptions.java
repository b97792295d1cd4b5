package io.zrecord.store;

import io.zrecord.read.Verification;
import java.time.Duration;
import java.util.Objects;

/**
 * Says how a store is written and read.
 *
 * @param durability what an acknowledged change survives
 * @param chunkRecords a chunk is closed when it has values of this many records, ≥ 1
 * @param chunkBytes a chunk is closed when it has this many bytes, 4 KiB to 1 TiB
 * @param writers number of chunks that are written side by side, 1 to 4
 * @param checkpointBytes bytes of journal at which the tables are forced instead, 4 KiB to 1 TiB
 * @param readers number of threads that help with gathers which wait for the medium or for a codec,
 *     0 to 64
 * @param closeTimeout how long closing waits for a commit of another thread that does not end, 0 to
 *     365 days
 * @param verification when readers compare checksums
 */
public record StoreOptions(
    StoreDurability durability,
    long chunkRecords,
    long chunkBytes,
    int writers,
    long checkpointBytes,
    int readers,
    Duration closeTimeout,
    Verification verification) {
  private static final int MAX_WRITERS = 4;
  private static final int MAX_READERS = 64;
  private static final int DEFAULT_READERS = 8;
  private static final long MIN_BYTES = 1L << 12;
  private static final long MAX_BYTES = 1L << 40;
  private static final Duration MAX_TIMEOUT = Duration.ofDays(365);

  public StoreOptions {
    requireWithin("chunkRecords", chunkRecords, 1, Long.MAX_VALUE);
    requireWithin("chunkBytes", chunkBytes, MIN_BYTES, MAX_BYTES);
    requireWithin("writers", writers, 1, MAX_WRITERS);
    requireWithin("checkpointBytes", checkpointBytes, MIN_BYTES, MAX_BYTES);
    requireWithin("readers", readers, 0, MAX_READERS);
    Objects.requireNonNull(durability, "durability");
    Objects.requireNonNull(verification, "verification");
    if (closeTimeout.isNegative() || closeTimeout.compareTo(MAX_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "closeTimeout is " + closeTimeout + "; it must be from PT0S to " + MAX_TIMEOUT);
    }
  }

  /**
   * Returns the defaults: durability COMMIT, chunks of 2²⁶ records or 256 MiB, two writers, a
   * checkpoint every 64 MiB of journal, eight readers, a minute for closing, verification at first
   * touch.
   */
  public static StoreOptions defaults() {
    return new StoreOptions(
        StoreDurability.COMMIT,
        1L << 26,
        256L << 20,
        2,
        64L << 20,
        DEFAULT_READERS,
        Duration.ofMinutes(1),
        Verification.FIRST);
  }

  /** Returns these options with another durability. */
  public StoreOptions withDurability(StoreDurability newDurability) {
    return new StoreOptions(
        newDurability,
        chunkRecords,
        chunkBytes,
        writers,
        checkpointBytes,
        readers,
        closeTimeout,
        verification);
  }

  /** Returns these options with another bound of records in a chunk. */
  public StoreOptions withChunkRecords(long newChunkRecords) {
    return new StoreOptions(
        durability,
        newChunkRecords,
        chunkBytes,
        writers,
        checkpointBytes,
        readers,
        closeTimeout,
        verification);
  }

  /** Returns these options with another bound of bytes in a chunk. */
  public StoreOptions withChunkBytes(long newChunkBytes) {
    return new StoreOptions(
        durability,
        chunkRecords,
        newChunkBytes,
        writers,
        checkpointBytes,
        readers,
        closeTimeout,
        verification);
  }

  /** Returns these options with another number of chunks written side by side. */
  public StoreOptions withWriters(int newWriters) {
    return new StoreOptions(
        durability,
        chunkRecords,
        chunkBytes,
        newWriters,
        checkpointBytes,
        readers,
        closeTimeout,
        verification);
  }

  /** Returns these options with another length of the journal before a checkpoint. */
  public StoreOptions withCheckpointBytes(long newCheckpointBytes) {
    return new StoreOptions(
        durability,
        chunkRecords,
        chunkBytes,
        writers,
        newCheckpointBytes,
        readers,
        closeTimeout,
        verification);
  }

  /** Returns these options with another number of threads that help with gathers. */
  public StoreOptions withReaders(int newReaders) {
    return new StoreOptions(
        durability,
        chunkRecords,
        chunkBytes,
        writers,
        checkpointBytes,
        newReaders,
        closeTimeout,
        verification);
  }

  /** Returns these options with another time that closing waits. */
  public StoreOptions withCloseTimeout(Duration newCloseTimeout) {
    return new StoreOptions(
        durability,
        chunkRecords,
        chunkBytes,
        writers,
        checkpointBytes,
        readers,
        newCloseTimeout,
        verification);
  }

  /** Returns these options with another verification. */
  public StoreOptions withVerification(Verification newVerification) {
    return new StoreOptions(
        durability,
        chunkRecords,
        chunkBytes,
        writers,
        checkpointBytes,
        readers,
        closeTimeout,
        newVerification);
  }

  private static void requireWithin(String name, long value, long lowest, long highest) {
    if (value < lowest || value > highest) {
      throw new IllegalArgumentException(
          name + " is " + value + "; it must be from " + lowest + " to " + highest);
    }
  }
}
