package io.zrecord.internal.shard;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A field in the layout {@code entries} (FORMAT.md section 4): 16 bytes a record tell where the
 * value is.
 */
public final class EntryField implements OpenField {
  private static final int CHECKSUM_BYTES = 4;

  private final OpenShard shard;
  private final Codec codec;
  private final Binding binding;
  private final Windows entries;
  private final @Nullable Windows checksums;
  private final VerifiedBits verified;
  private final int[] chunkIds;
  private final long[] chunkEnds;

  private EntryField(
      OpenShard shard, FieldSpec spec, Windows entries, @Nullable Windows checksums) {
    this.shard = shard;
    this.codec = spec.compression().codec();
    this.binding = new Binding(shard.meta().id(), spec.id());
    this.entries = entries;
    this.checksums = checksums;
    this.verified = new VerifiedBits(shard.meta().length());
    List<ChunkMeta> chunks = shard.chunks();
    this.chunkIds = chunks.stream().mapToInt(ChunkMeta::id).toArray();
    this.chunkEnds = chunks.stream().mapToLong(ChunkMeta::endBytes).toArray();
  }

  static EntryField open(OpenShard shard, FieldMeta field) {
    long length = shard.meta().length();
    Windows entries = shard.open(field.stem() + ".offset", length * Entry.BYTES);
    Windows checksums = shard.meta().hasChecksums()
        ? shard.open(field.stem() + ".crc32c", length * CHECKSUM_BYTES)
        : null;
    return new EntryField(shard, field.spec(), entries, checksums);
  }

  /** Returns the full path of the file of the entries. */
  public String path() {
    return entries.path();
  }

  public Codec codec() {
    return codec;
  }

  public boolean hasChecksums() {
    return checksums != null;
  }

  public long word0(long index) {
    return entries.longAt(index * Entry.BYTES);
  }

  public long word1(long index) {
    return entries.longAt(index * Entry.BYTES + 8);
  }

  /**
   * Loads the entries of {@code indices[from, to)} as pairs of words. The loop does nothing else,
   * so that as many cache misses are in flight as the processor can take.
   */
  public void load(long[] indices, int from, int to, long[] words) {
    if (entries.count() == 1) {
      ByteBuffer window = entries.window(0);
      for (int k = from, w = 0; k < to; k++, w += 2) {
        int at = (int) (indices[k] * Entry.BYTES);
        words[w] = window.getLong(at);
        words[w + 1] = window.getLong(at + 8);
      }
    } else {
      for (int k = from, w = 0; k < to; k++, w += 2) {
        words[w] = word0(indices[k]);
        words[w + 1] = word1(indices[k]);
      }
    }
  }

  /** Returns the ends of the chunks, in their order. */
  public long[] chunkEnds() {
    return chunkEnds;
  }

  /** Returns what binds the checksums of the field. */
  public Binding binding() {
    return binding;
  }

  public int storedChecksum(long index) {
    if (checksums == null) {
      throw new IllegalStateException("The shard has no checksums");
    }
    return checksums.intAt(index * CHECKSUM_BYTES);
  }

  public boolean isVerified(long index) {
    return verified.isSet(index);
  }

  /** Tells whether every value was verified. */
  public boolean isAllVerified() {
    return verified.isAllSet();
  }

  public void setVerified(long index) {
    verified.set(index);
  }

  /**
   * Returns the ordinal of a present value's chunk, after a complete check of the value's entry.
   */
  public int chunkOf(long index, long word0, long word1) {
    int id = Entry.chunkId(word1);
    int ordinal =
        id >= 0 && id < chunkIds.length && chunkIds[id] == id ? id : shard.chunkOrdinal(id);
    int length = Entry.physicalLength(word1);
    // An offset of 2⁶³ or more is negative here and fails the first comparison.
    if (ordinal < 0
        || length < 0
        || word0 < ChunkHeader.BYTES
        || (word0 & 7) != 0
        || word0 > chunkEnds[ordinal] - length
        || (codec != Codec.RAW && length < Integer.BYTES)) {
      throw corruptEntry(index, word0, word1, ordinal);
    }
    return ordinal;
  }

  private CorruptDataException corruptEntry(long index, long word0, long word1, int ordinal) {
    return new CorruptDataException(
        entries.path(),
        "Cannot read " + entries.path() + ": the entry at " + index
            + " points to " + Integer.toUnsignedString(Entry.physicalLength(word1)) + " bytes at "
            + Long.toUnsignedString(word0) + " of chunk "
            + Integer.toUnsignedString(Entry.chunkId(word1))
            + (ordinal < 0
                ? ", which the shard does not have"
                : ", which ends at " + chunkEnds[ordinal])
            + ". Values stand on multiples of 8 from 64 on. Restore the file from a copy, or leave the record out");
  }
}
