package io.zrecord.feed;

import io.zrecord.sampler.Sampler;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/**
 * Tells orders apart by some of their indices, whoever made the orders and by whatever name.
 * Stateless.
 */
final class OrderDigest {
  /** Positions at the beginning of epoch 0, and again this many over all of the epoch. */
  private static final int SAMPLES = 64;

  /** Number of positions that are looked at in an order without end. */
  private static final long FARTHEST = 1 << 20;

  private OrderDigest() {}

  /** Digests the length and some indices of epoch 0, into 8 hexadecimal digits. */
  static String of(Sampler order) {
    ByteBuffer words = ByteBuffer.allocate(8 + 2 * 8 * SAMPLES).putLong(order.length());
    put(order, 1, words);
    put(order, Math.min(order.length(), FARTHEST) / SAMPLES, words);
    CRC32C sum = new CRC32C();
    sum.update(words.array(), 0, words.position());
    return HexFormat.of().toHexDigits((int) sum.getValue());
  }

  private static void put(Sampler order, long stride, ByteBuffer words) {
    if (stride == 0) {
      return;
    }
    long[] indices = new long[(int) Math.min(SAMPLES, order.length() / stride)];
    order.indices(0, 0, stride, indices, 0, indices.length);
    for (long index : indices) {
      words.putLong(index);
    }
  }
}
