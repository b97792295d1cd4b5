package io.zrecord.internal.shard.write;

import io.zrecord.internal.codec.Transforms;
import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.internal.format.BlockShape;
import io.zrecord.schema.Compression;
import io.zrecord.shard.Transform;

/**
 * Transforms and compresses blocks of one field. Chooses the transform by trying all on the first
 * blocks, and again from time to time, since values of a field may change their nature. Belongs to
 * one thread.
 */
final class BlockEncoder implements AutoCloseable {
  /** All transforms are tried on one of this many blocks, which costs an eighth of the time. */
  private static final int BLOCKS_PER_TRIAL = 16;

  /** Least bytes with statistics of their own. */
  private static final int LEAST_PART_BYTES = 1 << 11;

  /** Longest arrays that are kept for the next block. */
  private static final int MAX_KEPT_BYTES = 1 << 24;

  private static final Transform[] ALL = {Transform.NONE, Transform.TRANSPOSE, Transform.DELTA};

  private final BlockShape shape;
  private final ValueCodec codec;
  private final Transform wanted;
  private final boolean canTransform;
  private Transform usual;
  private long blockCount;
  private byte[] plain = new byte[0];
  private byte[] differences = new byte[0];
  private byte[] packed = new byte[0];
  private byte[] other = new byte[0];
  private int flags;

  BlockEncoder(BlockShape shape, Compression compression, Transform wanted) {
    this.shape = shape;
    this.codec = ValueCodec.of(compression);
    this.wanted = wanted;
    this.canTransform = shape.takes(Transform.TRANSPOSE);
    this.usual = wanted == Transform.AUTO || !shape.takes(wanted) ? Transform.NONE : wanted;
  }

  /** Tells whether a block with some flags is as this encoder may make blocks. */
  boolean mayHave(int blockFlags) {
    return wanted == Transform.AUTO
        || BlockShape.isAsIs(blockFlags)
        || BlockShape.transform(blockFlags) == usual;
  }

  /** Returns the flags of the block that was encoded last. */
  int flags() {
    return flags;
  }

  /** Returns the array with the stored bytes of the block that was encoded last. */
  byte[] stored() {
    return packed;
  }

  /**
   * Encodes a block.
   *
   * @param source lengths, if the block has any, and values, as they are
   * @return the number of stored bytes; -1 if the block is to be stored as it is
   */
  int encode(byte[] source, int offset, int raw, int slots) {
    int lengths = shape.lengthBytes(slots);
    int best = -1;
    if (wanted == Transform.AUTO
        && canTransform
        && (blockCount == 1 || blockCount % BLOCKS_PER_TRIAL == 0)) {
      for (Transform transform : ALL) {
        if (shape.takes(transform)) {
          byte[] shortest = packed;
          packed = other;
          int stored = encode(transform, source, offset, raw, lengths, best < 0 ? raw : best);
          if (stored >= 0) {
            best = stored;
            usual = transform;
            other = shortest;
          } else {
            other = packed;
            packed = shortest;
          }
        }
      }
    } else {
      best = encode(usual, source, offset, raw, lengths, raw);
    }
    blockCount++;
    flags = best < 0 ? BlockShape.flagsAsIs() : BlockShape.flags(usual);
    return best;
  }

  /** Releases arrays that were made for one long value. */
  void trim() {
    if (packed.length > MAX_KEPT_BYTES || plain.length > MAX_KEPT_BYTES) {
      packed = new byte[0];
      other = new byte[0];
      plain = new byte[0];
      differences = new byte[0];
    }
  }

  /** Encodes to fewer bytes than {@code below}; returns -1 if that is not possible. */
  private int encode(
      Transform transform, byte[] source, int offset, int raw, int lengths, int below) {
    if (raw == 0) {
      return -1;
    }
    if (packed.length < below - 1) {
      packed = new byte[0];
      packed = new byte[below - 1];
    }
    if (transform == Transform.NONE && lengths == 0) {
      return codec.compress(source, offset, raw, packed, 0, below - 1);
    }
    if (plain.length < raw) {
      plain = new byte[0];
      plain = new byte[raw];
    }
    Transforms.transpose(Integer.BYTES, source, offset, lengths, plain, 0);
    int width = transform(transform, source, offset + lengths, raw - lengths, lengths);
    return codec.compress(plain, 0, parts(lengths, raw, width), packed, 0, below - 1);
  }

  /** Writes the transformed values to a position of the array. Returns their number of parts. */
  private int transform(Transform transform, byte[] source, int offset, int length, int at) {
    int width = shape.elementWidth();
    switch (transform) {
      case TRANSPOSE -> Transforms.transpose(width, source, offset, length, plain, at);
      case DELTA -> {
        if (differences.length < length) {
          differences = new byte[length];
        }
        Transforms.differences(width, source, offset, length, differences, 0);
        Transforms.transpose(width, differences, 0, length, plain, at);
      }
      default -> {
        System.arraycopy(source, offset, plain, at, length);
        return 1;
      }
    }
    return width;
  }

  /** Returns the ends of the parts of a block: lengths, and each byte of numbers. */
  private static int[] parts(int lengths, int raw, int width) {
    int[] ends = new int[width + 1];
    int count = 0;
    if (lengths >= LEAST_PART_BYTES) {
      ends[count++] = lengths;
    }
    int partBytes = (raw - lengths) / width;
    if (partBytes >= LEAST_PART_BYTES) {
      for (int i = 1; i < width; i++) {
        ends[count++] = lengths + i * partBytes;
      }
    }
    ends[count++] = raw;
    return java.util.Arrays.copyOf(ends, count);
  }

  @Override
  public void close() {
    codec.close();
  }
}
