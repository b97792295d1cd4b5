package io.zrecord.internal.format;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/**
 * Compresses and decompresses payloads of one codec (FORMAT.md section 4), between heap arrays.
 * Keeps native contexts, which {@link #close} frees: for small values a reused context is three
 * times as fast. Belongs to one thread.
 */
public abstract class ValueCodec implements AutoCloseable {
  /** Bytes of the prefix of a compressed field's stored bytes. */
  public static final int PREFIX_BYTES = 4;

  private static final int AS_IS = 1 << 31;

  /**
   * Ratio of Zstandard, whose shortest block repeats one byte 128 Ki times; Deflate and LZ4 stay
   * far below.
   */
  private static final long MAX_COMPRESSION_RATIO = 1 << 17;

  private ValueCodec() {}

  /** Returns a codec for reading and writing. The compression must not be {@code raw}. */
  public static ValueCodec of(Compression compression) {
    return switch (compression.codec()) {
      case FLATE -> new Flate(compression.level());
      case ZSTD -> new Zstandard(compression.level());
      case LZ4 -> new Lz4(compression.level());
      case RAW ->
        throw new IllegalArgumentException("Values of codec " + Codec.RAW + " are not encoded");
    };
  }

  /** Returns the prefix of a value that is stored uncompressed. */
  public static int prefixAsIs(int logicalLength) {
    return logicalLength | AS_IS;
  }

  public static boolean isAsIs(int prefix) {
    return prefix < 0;
  }

  public static int logicalLength(int prefix) {
    return prefix & ~AS_IS;
  }

  /**
   * Tells whether any codec can compress {@code logicalLength} bytes to {@code payloadLength}
   * bytes.
   */
  public static boolean isPossible(int payloadLength, int logicalLength) {
    return logicalLength <= payloadLength * MAX_COMPRESSION_RATIO;
  }

  /**
   * Compresses into at most {@code maxLength} bytes.
   *
   * @return the payload's length, or -1 if it would be longer
   */
  public abstract int compress(
      byte[] source, int offset, int length, byte[] target, int targetOffset, int maxLength);

  /**
   * Decompresses exactly {@code length} bytes: one more or fewer in the payload is corruption.
   *
   * @throws DataFormatException if the payload does not decode to exactly that length
   */
  public abstract void decompress(
      byte[] source, int offset, int sourceLength, byte[] target, int targetOffset, int length)
      throws DataFormatException;

  @Override
  public abstract void close();

  private static DataFormatException wrongLength(long found, int expected) {
    return new DataFormatException("it decodes to " + found + " bytes instead of " + expected);
  }

  private static final class Flate extends ValueCodec {
    private final Deflater deflater;
    private final Inflater inflater = new Inflater(true);
    private final byte[] overflow = new byte[1];

    Flate(int level) {
      deflater = new Deflater(level, true);
    }

    @Override
    public int compress(
        byte[] source, int offset, int length, byte[] target, int targetOffset, int maxLength) {
      deflater.reset();
      deflater.setInput(source, offset, length);
      deflater.finish();
      int written = 0;
      while (written < maxLength && !deflater.finished()) {
        written += deflater.deflate(target, targetOffset + written, maxLength - written);
      }
      return deflater.finished() ? written : -1;
    }

    @Override
    public void decompress(
        byte[] source, int offset, int sourceLength, byte[] target, int targetOffset, int length)
        throws DataFormatException {
      inflater.reset();
      inflater.setInput(source, offset, sourceLength);
      int read = 0;
      while (read < length) {
        int step = inflater.inflate(target, targetOffset + read, length - read);
        if (step == 0) {
          throw wrongLength(read, length);
        }
        read += step;
      }
      if (inflater.inflate(overflow) != 0 || !inflater.finished() || inflater.getRemaining() != 0) {
        throw wrongLength(length + 1L, length);
      }
    }

    @Override
    public void close() {
      deflater.end();
      inflater.end();
    }
  }

  private static final class Zstandard extends ValueCodec {
    private final ZstdCompressCtx compressor = new ZstdCompressCtx();
    private final ZstdDecompressCtx decompressor = new ZstdDecompressCtx();

    Zstandard(int level) {
      compressor.setLevel(level);
    }

    @Override
    public int compress(
        byte[] source, int offset, int length, byte[] target, int targetOffset, int maxLength) {
      try {
        return compressor.compressByteArray(
            target, targetOffset, maxLength, source, offset, length);
      } catch (ZstdException e) {
        if (e.getErrorCode() == Zstd.errDstSizeTooSmall()) {
          return -1;
        }
        throw e;
      }
    }

    @Override
    public void decompress(
        byte[] source, int offset, int sourceLength, byte[] target, int targetOffset, int length)
        throws DataFormatException {
      ZstandardFrame.require(source, offset, sourceLength);
      int read;
      try {
        read = decompressor.decompressByteArray(
            target, targetOffset, length, source, offset, sourceLength);
      } catch (ZstdException e) {
        throw asDataFormatException(e);
      }
      if (read != length) {
        throw wrongLength(read, length);
      }
    }

    @Override
    public void close() {
      compressor.close();
      decompressor.close();
    }
  }

  private static final class Lz4 extends ValueCodec {
    private final LZ4Compressor compressor;
    private final LZ4SafeDecompressor decompressor;

    Lz4(int level) {
      LZ4Factory factory = factory();
      decompressor = factory.safeDecompressor();
      compressor = level == 0 ? factory.fastCompressor() : factory.highCompressor(level);
    }

    @Override
    public int compress(
        byte[] source, int offset, int length, byte[] target, int targetOffset, int maxLength) {
      try {
        return compressor.compress(source, offset, length, target, targetOffset, maxLength);
      } catch (LZ4Exception e) {
        // The library has no other way to report a target that is too small.
        return -1;
      }
    }

    @Override
    public void decompress(
        byte[] source, int offset, int sourceLength, byte[] target, int targetOffset, int length)
        throws DataFormatException {
      int read;
      try {
        read = decompressor.decompress(source, offset, sourceLength, target, targetOffset, length);
      } catch (LZ4Exception e) {
        throw asDataFormatException(e);
      }
      if (read != length) {
        throw wrongLength(read, length);
      }
    }

    @Override
    public void close() {}

    /**
     * Returns a factory that never uses Unsafe. The default for a foreign class loader uses Unsafe,
     * and up to 1.8.0 that one overruns its arrays (CVE-2025-12183).
     */
    private static LZ4Factory factory() {
      try {
        return LZ4Factory.nativeInstance();
      } catch (LinkageError | AssertionError | RuntimeException e) {
        return LZ4Factory.safeInstance();
      }
    }
  }

  private static DataFormatException asDataFormatException(RuntimeException cause) {
    DataFormatException exception = new DataFormatException(String.valueOf(cause.getMessage()));
    exception.initCause(cause);
    return exception;
  }
}
