package io.zrecord.internal.verify;

import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.Entry;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.UUID;
import java.util.zip.CRC32C;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Checks the values of a field one after another: entry, checksum, payload, length. Belongs to one
 * thread.
 */
public final class ValueCheck implements AutoCloseable {
  private final Binding binding;
  private final boolean hasChecksums;
  private final ChunkFiles chunks;
  private final @Nullable ValueCodec codec;
  private final CRC32C crc = new CRC32C();
  private final byte[] piece;
  private byte[] packed = new byte[0];
  private byte[] unpacked = new byte[0];
  private final ContentCheck content;

  /**
   * A problem of a value.
   *
   * @param isLost whether the value's bytes are missing, which concerns many values at a time
   */
  record Problem(Kind kind, String text, Finding.@Nullable Stretch stretch, boolean isLost) {
    Problem(Kind kind, String text) {
      this(kind, text, null, false);
    }

    Problem at(Finding.Stretch bytes) {
      return new Problem(kind, text, bytes, isLost);
    }
  }

  /**
   * Prepares a check of values.
   *
   * @param owner uuid of the shard or store
   * @param scratch memory that no other check uses meanwhile
   */
  public ValueCheck(
      UUID owner, FieldSpec field, boolean hasChecksums, ChunkFiles chunks, byte[] scratch) {
    this.binding = new Binding(owner, field.id());
    this.piece = scratch;
    this.hasChecksums = hasChecksums;
    this.chunks = chunks;
    this.codec = field.compression().codec() == Codec.RAW
        ? null
        : ValueCodec.of(io.zrecord.schema.Compression.of(field.compression().codec()));
    this.content = new ContentCheck(field);
  }

  /** Checks the value of a slot and returns the problem; null if there is none. */
  @Nullable
  Problem check(long slot, long word0, long word1, int storedChecksum) {
    crc.reset();
    if (Entry.isAbsent(word0, word1)) {
      return checksumProblem(Binding.Kind.ABSENT, slot, storedChecksum, "its absence");
    }
    ChunkFiles.Chunk chunk = chunks.find(Entry.chunkId(word1));
    int length = Entry.physicalLength(word1);
    int prefix = codec == null ? 0 : ValueCodec.PREFIX_BYTES;
    if (chunk == null
        || length < prefix
        || word0 < ChunkHeader.BYTES
        || (word0 & 7) != 0
        || word0 > chunk.endBytes() - length) {
      return new Problem(
          Kind.ENTRY,
          "its entry points to " + Integer.toUnsignedString(length) + " bytes at "
              + Long.toUnsignedString(word0) + " of chunk "
              + Integer.toUnsignedString(Entry.chunkId(word1))
              + (chunk == null ? ", which does not exist" : ", which ends at " + chunk.endBytes()));
    }
    Problem problem = checkStored(slot, chunk.number(), word0, length, storedChecksum);
    return problem == null
        ? null
        : problem.at(new Finding.Stretch(chunks.path(chunk.number()), word0, length));
  }

  private @Nullable Problem checkStored(
      long slot, int chunkId, long position, int length, int checksum) {
    for (int done = 0; done < length; ) {
      int wanted = Math.min(piece.length, length - done);
      int read = chunks.read(chunkId, position + done, piece, 0, wanted);
      if (read < wanted) {
        return new Problem(
            Kind.VALUE,
            "its " + length + " bytes at " + position + " cannot all be read from "
                + chunks.path(chunkId),
            null,
            true);
      }
      crc.update(piece, 0, read);
      done += read;
    }
    Problem damaged = checksumProblem(
        Binding.Kind.VALUE,
        slot,
        checksum,
        "its " + length + " bytes at " + position + " of " + chunks.path(chunkId));
    return damaged != null ? damaged : checkPayload(chunkId, position, length);
  }

  private @Nullable Problem checksumProblem(Binding.Kind kind, long slot, int stored, String what) {
    int found = binding.bind(kind, slot, (int) crc.getValue());
    if (!hasChecksums || found == stored) {
      return null;
    }
    return new Problem(
        Kind.VALUE,
        "the checksum of " + what + " is "
            + HexFormat.of().toHexDigits(found) + ", but "
            + HexFormat.of().toHexDigits(stored) + " was stored");
  }

  /**
   * Checks that stored bytes, which can be read, are a value of the field. Returns the problem;
   * null if there is none.
   */
  @Nullable
  Problem checkPayload(int chunkId, long position, int length) {
    ValueCodec decoder = codec;
    if (decoder == null) {
      return contentProblem(chunkId, position, length);
    }
    if (length < ValueCodec.PREFIX_BYTES) {
      return new Problem(
          Kind.VALUE,
          "it has " + length + " stored bytes, fewer than the prefix of a compressed value");
    }
    // The prefix at least is readable: all bytes were read before.
    chunks.read(chunkId, position, piece, 0, ValueCodec.PREFIX_BYTES);
    int prefix = ByteBuffer.wrap(piece).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
    int payload = length - ValueCodec.PREFIX_BYTES;
    int logical = ValueCodec.logicalLength(prefix);
    if (ValueCodec.isAsIs(prefix)) {
      return payload == logical
          ? contentProblem(chunkId, position + ValueCodec.PREFIX_BYTES, logical)
          : new Problem(
              Kind.VALUE, "it is stored as " + payload + " bytes, but says that it has " + logical);
    }
    try {
      packed = grown(packed, payload);
      unpacked = grown(unpacked, logical);
      chunks.read(chunkId, position + ValueCodec.PREFIX_BYTES, packed, 0, payload);
      decoder.decompress(packed, 0, payload, unpacked, 0, logical);
      return contentProblem(logical);
    } catch (DataFormatException e) {
      return new Problem(Kind.VALUE, "it cannot be decompressed: " + e.getMessage());
    } catch (OutOfMemoryError e) {
      return new Problem(
          Kind.NOTE,
          "it was not decompressed, which takes " + ((long) payload + logical)
              + " bytes of memory; raise -Xmx");
    }
  }

  /** Checks the length of a value that is stored as it is, and what a nested value consists of. */
  private @Nullable Problem contentProblem(int chunkId, long position, int length) {
    if (content.needsBytes()) {
      try {
        unpacked = grown(unpacked, length);
      } catch (OutOfMemoryError e) {
        return new Problem(
            Kind.NOTE,
            "what it consists of was not checked, which takes " + length
                + " bytes of memory; raise -Xmx");
      }
      chunks.read(chunkId, position, unpacked, 0, length);
    }
    return contentProblem(length);
  }

  private @Nullable Problem contentProblem(int length) {
    String problem = content.problem(unpacked, 0, length);
    return problem == null ? null : new Problem(Kind.VALUE, problem);
  }

  private static byte[] grown(byte[] array, int length) {
    return array.length >= length ? array : new byte[length];
  }

  @Override
  public void close() {
    if (codec != null) {
      codec.close();
    }
  }
}
