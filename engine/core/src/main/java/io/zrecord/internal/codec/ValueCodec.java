package io.zrecord.internal.codec;

import com.github.luben.zstd.EndDirective;
import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import java.nio.ByteBuffer;
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

  /** Longest bytes of which the parts are told apart: in more, they matter less. */
  private static final int LONGEST_OF_PARTS = 1 << 24;

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

  /** Returns a codec as {@link #of} does, where the native library of LZ4 cannot be loaded. */
  static ValueCodec lz4InJava(int level) {
    return new Lz4(level, LZ4Factory.safeInstance());
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
   * Tells whether a codec can compress {@code logicalLength} bytes to {@code payloadLength} bytes.
   */
  public static boolean isPossible(Codec codec, int payloadLength, int logicalLength) {
    return logicalLength <= payloadLength * maxRatio(codec);
  }

  private static long maxRatio(Codec codec) {
    return switch (codec) {
      case RAW -> 1;
      // A byte that makes a match longer stands for 255 bytes.
      case LZ4 -> 255;
      // The longest match has 258 bytes, and takes two bits.
      case FLATE -> 1032;
      // The shortest block repeats one byte 128 Ki times.
      case ZSTD -> 1 << 17;
    };
  }

  /**
   * Compresses into at most {@code maxLength} bytes.
   *
   * @return the payload's length, or -1 if it would be longer
   */
  public abstract int compress(
      byte[] source, int offset, int length, byte[] target, int targetOffset, int maxLength);

  /**
   * Compresses parts of different contents. The payload is the same kind as that of
   * {@link #compress(byte[], int, int, byte[], int, int) one part}, and decompressed in the same
   * way.
   *
   * @param ends ends of the parts from {@code offset} on, rising
   * @return the payload's length, or -1 if it would be longer
   */
  public int compress(
      byte[] source, int offset, int[] ends, byte[] target, int targetOffset, int maxLength) {
    return compress(source, offset, ends[ends.length - 1], target, targetOffset, maxLength);
  }

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
    private final int level;
    private ByteBuffer plain = ByteBuffer.allocate(0);
    private ByteBuffer packed = plain;

    Zstandard(int level) {
      this.level = level;
      compressor.setLevel(level);
    }

    /**
     * Ends a block of the frame after each part, so that each has literals coded by its own
     * statistics: one code for the noisy low bytes of numbers and their constant high bytes costs
     * up to a tenth.
     */
    @Override
    public int compress(
        byte[] source, int offset, int[] ends, byte[] target, int targetOffset, int maxLength) {
      int length = ends[ends.length - 1];
      if (ends.length == 1 || length > LONGEST_OF_PARTS) {
        return compress(source, offset, length, target, targetOffset, maxLength);
      }
      if (plain.capacity() < length) {
        plain = ByteBuffer.allocateDirect(length);
        packed = ByteBuffer.allocateDirect(length);
      }
      plain.clear().put(source, offset, length).flip();
      packed.clear().limit(Math.min(maxLength, packed.capacity()));
      // What was compressed last may have stopped halfway.
      compressor.reset();
      compressor.setLevel(level);
      compressor.setPledgedSrcSize(length);
      for (int i = 0; i < ends.length; i++) {
        plain.limit(ends[i]);
        EndDirective directive = i == ends.length - 1 ? EndDirective.END : EndDirective.FLUSH;
        while (!compressor.compressDirectByteBufferStream(packed, plain, directive)) {
          if (!packed.hasRemaining()) {
            return -1;
          }
        }
      }
      packed.flip().get(target, targetOffset, packed.limit());
      return packed.limit();
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
    private final boolean requiresMatches;

    Lz4(int level) {
      this(level, factory());
    }

    Lz4(int level, LZ4Factory factory) {
      // For a match from no distance the decoder in Java gives what the target had, not zeros.
      requiresMatches = factory == LZ4Factory.safeInstance();
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
      if (requiresMatches) {
        Lz4Matches.require(source, offset, sourceLength);
      }
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
