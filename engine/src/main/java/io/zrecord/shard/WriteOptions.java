package io.zrecord.shard;

import java.io.Serializable;

/**
 * How a bulk writer lays data out. Immutable.
 *
 * @param chunkRecords a chunk is closed when it holds this many records, 1 to 2³¹−1
 * @param chunkBytes … or when its file reaches this many bytes, 64 KiB to 1 TiB
 * @param stripeBytes bytes of values that a writer collects before writing them out field by field,
 *     64 KiB to 1 GiB; bounds the writer's memory, except for single larger values
 * @param alignBytes a power of two from 8 to 1 MiB; raw values of this length or more start at a
 *     multiple of it, and so does a stripe's run of a fixed-width field if that long. The values of
 *     a run follow each other without gaps, so each is aligned if its width is a multiple of
 *     {@code alignBytes}. Shorter and compressed values start at a multiple of 8. Up to
 *     {@code alignBytes} − 1 bytes stay empty before each aligned value, and once more for a field
 *     in a stripe
 * @param checksum whether checksums are stored
 * @param durability what a commit survives
 */
public record WriteOptions(
    long chunkRecords,
    long chunkBytes,
    long stripeBytes,
    long alignBytes,
    Checksum checksum,
    Durability durability)
    implements Serializable {
  private static final long KIB = 1024;
  private static final long MIB = 1024 * KIB;
  private static final long GIB = 1024 * MIB;
  private static final long LEAST_ALIGN_BYTES = 8;

  public WriteOptions {
    requireRange("chunkRecords", chunkRecords, 1, Integer.MAX_VALUE);
    requireRange("chunkBytes", chunkBytes, 64 * KIB, 1024 * GIB);
    requireRange("stripeBytes", stripeBytes, 64 * KIB, GIB);
    if (alignBytes < LEAST_ALIGN_BYTES || alignBytes > MIB || Long.bitCount(alignBytes) != 1) {
      throw new IllegalArgumentException("Option alignBytes is " + alignBytes
          + "; it must be a power of two from " + LEAST_ALIGN_BYTES + " to " + MIB
          + ", such as 64 or 4096");
    }
  }

  /**
   * Returns the defaults: 2²⁶ records or 256 MiB a chunk, stripes of 32 MiB, alignment to 8 bytes,
   * CRC32C, durable at commit.
   */
  public static WriteOptions defaults() {
    return new WriteOptions(
        1L << 26, 256 * MIB, 32 * MIB, LEAST_ALIGN_BYTES, Checksum.CRC32C, Durability.COMMIT);
  }

  public WriteOptions withChunkRecords(long newChunkRecords) {
    return new WriteOptions(
        newChunkRecords, chunkBytes, stripeBytes, alignBytes, checksum, durability);
  }

  public WriteOptions withChunkBytes(long newChunkBytes) {
    return new WriteOptions(
        chunkRecords, newChunkBytes, stripeBytes, alignBytes, checksum, durability);
  }

  public WriteOptions withStripeBytes(long newStripeBytes) {
    return new WriteOptions(
        chunkRecords, chunkBytes, newStripeBytes, alignBytes, checksum, durability);
  }

  public WriteOptions withAlignBytes(long newAlignBytes) {
    return new WriteOptions(
        chunkRecords, chunkBytes, stripeBytes, newAlignBytes, checksum, durability);
  }

  public WriteOptions withChecksum(Checksum newChecksum) {
    return new WriteOptions(
        chunkRecords, chunkBytes, stripeBytes, alignBytes, newChecksum, durability);
  }

  public WriteOptions withDurability(Durability newDurability) {
    return new WriteOptions(
        chunkRecords, chunkBytes, stripeBytes, alignBytes, checksum, newDurability);
  }

  private static void requireRange(String name, long value, long lowest, long highest) {
    if (value < lowest || value > highest) {
      throw new IllegalArgumentException(
          "Option " + name + " is " + value + "; it must be " + lowest + " to " + highest);
    }
  }
}
