package io.zrecord.internal.shard.read;

import io.zrecord.internal.codec.Decoders;
import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.schema.Codec;
import java.nio.ByteBuffer;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Decompresses payloads between heap arrays: on a map of a truncated file a native decoder would
 * kill the process. Belongs to one thread.
 */
final class SlotDecoder {
  /** Longest array that is kept for the next value. */
  private static final int MOST_KEPT_BYTES = 1 << 26;

  private final ReadContext context;
  private byte[] packed = new byte[0];
  private byte[] unpacked = new byte[0];
  private @Nullable ValueCodec held;
  private Codec heldCodec = Codec.RAW;
  private boolean holding;
  private long startNanos;

  SlotDecoder(ReadContext context) {
    this.context = context;
  }

  /** Begins values that share a native context and a measurement of time, until {@link #end}. */
  void begin() {
    holding = true;
  }

  void end() {
    holding = false;
    release();
  }

  /** Decodes a verified payload to a position of the target. */
  void decode(
      Codec codec,
      long globalIndex,
      int window,
      int position,
      int payload,
      int length,
      ByteBuffer target,
      int at) {
    WindowTable table = context.table();
    packed = grown(packed, payload);
    table.copy(window, position, packed, 0, payload);
    ValueCodec decoder = acquire(codec);
    try {
      if (target.hasArray()) {
        decoder.decompress(packed, 0, payload, target.array(), target.arrayOffset() + at, length);
      } else {
        unpacked = grown(unpacked, length);
        decoder.decompress(packed, 0, payload, unpacked, 0, length);
        target.put(at, unpacked, 0, length);
      }
    } catch (DataFormatException e) {
      throw context.corrupt(
          table.path(window), globalIndex, "cannot be decompressed: " + e.getMessage(), e);
    } finally {
      if (!holding) {
        release();
      }
    }
  }

  private ValueCodec acquire(Codec codec) {
    if (held != null && heldCodec == codec) {
      return held;
    }
    release();
    ValueCodec decoder = Decoders.take(codec);
    held = decoder;
    heldCodec = codec;
    startNanos = System.nanoTime();
    return decoder;
  }

  private void release() {
    if (packed.length > MOST_KEPT_BYTES) {
      packed = new byte[0];
    }
    if (unpacked.length > MOST_KEPT_BYTES) {
      unpacked = new byte[0];
    }
    ValueCodec decoder = held;
    if (decoder != null) {
      held = null;
      context.metrics().decodeNanos.add(System.nanoTime() - startNanos);
      Decoders.giveBack(heldCodec, decoder);
    }
  }

  private static byte[] grown(byte[] array, int length) {
    return array.length >= length
        ? array
        : new byte[Math.max(length, (int) Math.min(1 << 26, array.length * 2L))];
  }
}
