package io.zrecord.internal.store.rewrite;

import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Converts stored bytes of one codec to stored bytes of another (FORMAT.md section 4), a whole
 * value at a time. Belongs to one thread.
 */
final class Recoder implements AutoCloseable {
  private static final byte[] NONE = {};

  /** Largest buffer that is kept. */
  private static final int MAX_KEPT_BYTES = 4 << 20;

  private final Codec fromCodec;
  private final @Nullable ValueCodec from;
  private final @Nullable ValueCodec to;
  private byte[] plain = NONE;
  private byte[] packed = NONE;

  private Recoder(Compression from, Compression to) {
    this.fromCodec = from.codec();
    this.from = from.codec() == Codec.RAW ? null : ValueCodec.of(from);
    this.to = to.codec() == Codec.RAW ? null : ValueCodec.of(to);
  }

  /**
   * Returns a recoder for a change of codec. Null if the codec stays, because stored bytes stay
   * too.
   */
  static @Nullable Recoder of(Compression from, Compression to) {
    return from.codec() == to.codec() ? null : new Recoder(from, to);
  }

  /** Takes the new stored bytes: a part of an array, after a prefix if there is one. */
  interface Sink {
    void accept(byte @Nullable [] prefix, byte[] source, int at, int length);
  }

  /**
   * Recodes verified stored bytes.
   *
   * @throws DataFormatException if the bytes cannot be decoded
   */
  void recode(byte[] stored, int at, int length, Sink sink) throws DataFormatException {
    if (from == null) {
      encode(stored, at, length, sink);
      return;
    }
    if (length < ValueCodec.PREFIX_BYTES) {
      throw new DataFormatException("it has " + length + " bytes, too few for its prefix");
    }
    int prefix = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
    int logical = ValueCodec.logicalLength(prefix);
    int payload = length - ValueCodec.PREFIX_BYTES;
    int payloadAt = at + ValueCodec.PREFIX_BYTES;
    if (ValueCodec.isAsIs(prefix)
        ? logical != payload
        : !ValueCodec.isPossible(fromCodec, payload, logical)) {
      throw new DataFormatException(
          payload + " bytes cannot be those of a value of " + logical + " bytes");
    }
    if (ValueCodec.isAsIs(prefix)) {
      encode(stored, payloadAt, payload, sink);
      return;
    }
    plain = room(plain, logical);
    from.decompress(stored, payloadAt, payload, plain, 0, logical);
    encode(plain, 0, logical, sink);
    plain = kept(plain);
  }

  private void encode(byte[] value, int at, int length, Sink sink) {
    if (to == null) {
      sink.accept(null, value, at, length);
      return;
    }
    packed = room(packed, length);
    int limit = Math.max(0, length - 1);
    int compressed = limit == 0 ? -1 : to.compress(value, at, length, packed, 0, limit);
    byte[] prefix = new byte[ValueCodec.PREFIX_BYTES];
    ByteBuffer.wrap(prefix)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(0, compressed < 0 ? ValueCodec.prefixAsIs(length) : length);
    if (compressed < 0) {
      sink.accept(prefix, value, at, length);
    } else {
      sink.accept(prefix, packed, 0, compressed);
    }
    packed = kept(packed);
  }

  private static byte[] room(byte[] kept, int bytes) {
    return kept.length >= bytes ? kept : new byte[bytes];
  }

  private static byte[] kept(byte[] room) {
    return room.length > MAX_KEPT_BYTES ? NONE : room;
  }

  @Override
  public void close() {
    if (from != null) {
      from.close();
    }
    if (to != null) {
      to.close();
    }
  }
}
