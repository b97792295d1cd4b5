package io.zrecord.internal.shard.write;

import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/** Decodes values in their stored form for a writer that stores them in another. */
final class StoredValueDecoder implements AutoCloseable {
  private final FieldSpec field;
  private @Nullable ValueCodec codec;
  private byte[] bytes = new byte[0];
  private int offset;
  private int length;

  StoredValueDecoder(FieldSpec field) {
    this.field = field;
  }

  /**
   * Returns the length of a stored value without the codec.
   *
   * @throws IllegalArgumentException if the value cannot have its length
   */
  int lengthOf(byte[] source, int from, int stored) {
    int prefix = ByteBuffer.wrap(source).order(ByteOrder.LITTLE_ENDIAN).getInt(from);
    int logical = ValueCodec.logicalLength(prefix);
    int payload = stored - ValueCodec.PREFIX_BYTES;
    if (ValueCodec.isAsIs(prefix)
        ? logical != payload
        : !ValueCodec.isPossible(field.compression().codec(), payload, logical)) {
      throw notDecodable(null);
    }
    return logical;
  }

  /** Decodes a value. Then the methods below say where the value is, until the next call. */
  void decode(byte[] source, int from, int stored) {
    int prefix = ByteBuffer.wrap(source).order(ByteOrder.LITTLE_ENDIAN).getInt(from);
    length = lengthOf(source, from, stored);
    if (ValueCodec.isAsIs(prefix)) {
      bytes = source;
      offset = from + ValueCodec.PREFIX_BYTES;
      return;
    }
    offset = 0;
    if (bytes == source || bytes.length < length) {
      bytes = new byte[0];
      bytes = new byte[length];
    }
    ValueCodec decoder = codec;
    if (decoder == null) {
      decoder = ValueCodec.of(field.compression());
      codec = decoder;
    }
    try {
      decoder.decompress(
          source,
          from + ValueCodec.PREFIX_BYTES,
          stored - ValueCodec.PREFIX_BYTES,
          bytes,
          0,
          length);
    } catch (DataFormatException e) {
      throw notDecodable(e);
    }
  }

  byte[] bytes() {
    return bytes;
  }

  int offset() {
    return offset;
  }

  int length() {
    return length;
  }

  private IllegalArgumentException notDecodable(@Nullable Throwable cause) {
    return new IllegalArgumentException(
        "Cannot write stored bytes to field '" + field.name()
            + "': they do not decode with its compression " + field.compression()
            + "; put the value itself",
        cause);
  }

  @Override
  public void close() {
    if (codec != null) {
      codec.close();
    }
  }
}
