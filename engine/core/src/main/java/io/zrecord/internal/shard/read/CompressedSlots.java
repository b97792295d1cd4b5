package io.zrecord.internal.shard.read;

import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.schema.Codec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads the prefixes of compressed values (FORMAT.md section 4): their lengths, and where their
 * payloads are. Belongs to one thread.
 */
final class CompressedSlots {
  private final ReadContext context;
  private final Slots slots;

  CompressedSlots(ReadContext context, Slots slots) {
    this.context = context;
    this.slots = slots;
  }

  /**
   * Moves a verified value that was placed behind its prefix.
   *
   * @return {@link Slots#ENCODED}, or 0 for a payload that is the value as it is
   */
  byte unwrap(int k, Codec codec, ShardPart part, int chunk, long offset, int stored) {
    if (stored < ValueCodec.PREFIX_BYTES) {
      throw context.corrupt(
          slots.path(k),
          slots.globalIndex(k),
          "has " + stored + " stored bytes, fewer than the prefix of a compressed value",
          null);
    }
    int prefix = prefix(k);
    int logical = ValueCodec.logicalLength(prefix);
    int payloadLength = stored - ValueCodec.PREFIX_BYTES;
    boolean asIs = ValueCodec.isAsIs(prefix);
    if (!asIs && (payloadLength == 0 || !ValueCodec.isPossible(codec, payloadLength, logical))) {
      throw context.corrupt(
          slots.path(k),
          slots.globalIndex(k),
          "is compressed to " + payloadLength + " bytes, but its length is said to be " + logical
              + ", which the codec cannot do",
          null);
    }
    if (asIs && logical != payloadLength) {
      throw context.corrupt(
          slots.path(k),
          slots.globalIndex(k),
          "is stored as it is in " + payloadLength + " bytes, but its length is said to be "
              + logical,
          null);
    }
    slots.place(k, part, chunk, offset + ValueCodec.PREFIX_BYTES, payloadLength);
    slots.length[k] = logical;
    slots.payload[k] = payloadLength;
    return asIs ? 0 : Slots.ENCODED;
  }

  private int prefix(int k) {
    WindowTable table = context.table();
    if (!table.crosses(slots.window[k], slots.position[k], ValueCodec.PREFIX_BYTES)) {
      return table.intAt(slots.window[k], slots.position[k]);
    }
    byte[] bytes = new byte[ValueCodec.PREFIX_BYTES];
    table.copy(slots.window[k], slots.position[k], bytes, 0, bytes.length);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
  }
}
