package io.zrecord.shard;

import java.io.Serializable;
import java.util.Objects;

/**
 * How a bulk writer lays data out. Immutable.
 *
 * @param chunkBytes a chunk is closed after the stripe with which its file reaches this many bytes,
 *     4 KiB to 1 TiB
 * @param stripeBytes bytes of values that a writer holds before it writes them out, 64 KiB to 1
 *     GiB; bounds the writer's memory, except for single larger values. Of F fields, each has a
 *     stripe of its own of 1/(2·F) of these bytes, but of 1 MiB or more. A stripe is written when
 *     it is full, and the longest stripes are written when all together are near the bound
 * @param alignBytes a power of two from 8 to 1 MiB; raw values of this length or more start at a
 *     multiple of it, and so does a stripe's run of a fixed-width field if that long. The values of
 *     a run follow each other without gaps, so each is aligned if its width is a multiple of
 *     {@code alignBytes}. Shorter values start at a multiple of their element's width, up to 8.
 *     Compressed values follow each other without gaps. Up to {@code alignBytes} − 1 bytes stay
 *     empty before each aligned value, and once more for a field in a stripe
 * @param blockBytes raw bytes of values of a compressed field that are compressed together, 4 KiB
 *     to 16 MiB. Values that average a quarter of it or more are compressed one by one, and with 0
 *     all are. A larger block compresses better, and each random value costs decoding a block. With
 *     so many fields that their blocks would take more than an eighth of {@code stripeBytes},
 *     blocks are smaller
 * @param transform how numbers of a block are rearranged before they are compressed
 * @param checksum whether checksums are stored
 * @param durability what a commit survives
 */
public record WriteOptions(
    long chunkBytes,
    long stripeBytes,
    long alignBytes,
    long blockBytes,
    Transform transform,
    Checksum checksum,
    Durability durability)
    implements Serializable {
  private static final long KIB = 1024;
  private static final long MIB = 1024 * KIB;
  private static final long GIB = 1024 * MIB;
  private static final long LEAST_ALIGN_BYTES = 8;

  public WriteOptions {
    requireRange("chunkBytes", chunkBytes, 4 * KIB, 1024 * GIB);
    requireRange("stripeBytes", stripeBytes, 64 * KIB, GIB);
    if (blockBytes != 0) {
      requireRange("blockBytes", blockBytes, 4 * KIB, 16 * MIB);
    }
    if (alignBytes < LEAST_ALIGN_BYTES || alignBytes > MIB || Long.bitCount(alignBytes) != 1) {
      throw new IllegalArgumentException("Option alignBytes is " + alignBytes
          + "; it must be a power of two from " + LEAST_ALIGN_BYTES + " to " + MIB
          + ", such as 64 or 4096");
    }
    Objects.requireNonNull(transform, "transform");
    Objects.requireNonNull(checksum, "checksum");
    Objects.requireNonNull(durability, "durability");
  }

  /**
   * Returns the defaults: chunks of 256 MiB, stripes of 32 MiB, alignment to 8 bytes, blocks of 64
   * KiB with the best transform, CRC32C, durable at commit.
   */
  public static WriteOptions defaults() {
    return new WriteOptions(
        256 * MIB,
        32 * MIB,
        LEAST_ALIGN_BYTES,
        64 * KIB,
        Transform.AUTO,
        Checksum.CRC32C,
        Durability.COMMIT);
  }

  public WriteOptions withChunkBytes(long newChunkBytes) {
    return new WriteOptions(
        newChunkBytes, stripeBytes, alignBytes, blockBytes, transform, checksum, durability);
  }

  public WriteOptions withStripeBytes(long newStripeBytes) {
    return new WriteOptions(
        chunkBytes, newStripeBytes, alignBytes, blockBytes, transform, checksum, durability);
  }

  public WriteOptions withAlignBytes(long newAlignBytes) {
    return new WriteOptions(
        chunkBytes, stripeBytes, newAlignBytes, blockBytes, transform, checksum, durability);
  }

  public WriteOptions withBlockBytes(long newBlockBytes) {
    return new WriteOptions(
        chunkBytes, stripeBytes, alignBytes, newBlockBytes, transform, checksum, durability);
  }

  public WriteOptions withTransform(Transform newTransform) {
    return new WriteOptions(
        chunkBytes, stripeBytes, alignBytes, blockBytes, newTransform, checksum, durability);
  }

  public WriteOptions withChecksum(Checksum newChecksum) {
    return new WriteOptions(
        chunkBytes, stripeBytes, alignBytes, blockBytes, transform, newChecksum, durability);
  }

  public WriteOptions withDurability(Durability newDurability) {
    return new WriteOptions(
        chunkBytes, stripeBytes, alignBytes, blockBytes, transform, checksum, newDurability);
  }

  private static void requireRange(String name, long value, long lowest, long highest) {
    if (value < lowest || value > highest) {
      throw new IllegalArgumentException(
          "Option " + name + " is " + value + "; it must be " + lowest + " to " + highest);
    }
  }
}
