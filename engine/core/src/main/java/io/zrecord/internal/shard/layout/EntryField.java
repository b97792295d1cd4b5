package io.zrecord.internal.shard.layout;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.schema.Codec;
import io.zrecord.shard.ChunkFile;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A field whose values have entries: 16 bytes a slot tell where the value is (FORMAT.md section 4).
 */
public final class EntryField implements StoredField {
  private final int[] shardChunks;
  private final boolean hasChecksums;
  private final Codec codec;
  private final Binding binding;
  private final Windows windows;
  private final long offsetsAt;
  private final boolean isInOneWindow;
  private final long length;
  private final VerifiedBits verified;
  private final VerifiedBits verifiedUnits;
  private final long[] chunkEnds;

  private EntryField(
      Windows windows,
      Section offsets,
      long length,
      Codec codec,
      boolean hasChecksums,
      Binding binding,
      List<ChunkFile> chunks,
      int[] shardChunks) {
    this.windows = windows;
    this.codec = codec;
    this.hasChecksums = hasChecksums;
    this.binding = binding;
    this.offsetsAt = offsets.position();
    this.isInOneWindow = windows.ordinal(offsetsAt) == windows.ordinal(offsets.end() - 1);
    this.length = length;
    this.shardChunks = shardChunks;
    this.verified = new VerifiedBits(length, windows.isMapped());
    this.verifiedUnits = new VerifiedBits(EntryUnits.unitCount(length));
    this.chunkEnds = chunks.stream().mapToLong(ChunkFile::bytes).toArray();
  }

  public static EntryField open(TablesFile file, FieldTables tables, Binding binding) {
    return new EntryField(
        file.windows(),
        tables.offsets(),
        file.json().length(),
        tables.compression().codec(),
        file.json().hasChecksums(),
        binding,
        file.json().chunks(),
        file.shardChunks());
  }

  /** Opens the values of a patch. The slots of this field are the ranks of the changed ones. */
  static EntryField ofPatch(
      Windows windows,
      PatchField field,
      Binding binding,
      List<ChunkFile> chunks,
      int[] shardChunks) {
    return new EntryField(
        windows,
        field.entries(),
        field.count(),
        field.compression().codec(),
        true,
        binding,
        chunks,
        shardChunks);
  }

  @Override
  public int chunkCount() {
    return chunkEnds.length;
  }

  @Override
  public int shardChunk(int ordinal) {
    if (shardChunks[ordinal] == TablesFile.NO_CHUNK) {
      throw new CorruptDataException(
          path(),
          "Cannot read " + path() + ": it uses chunk " + ordinal
              + ", which the dataset does not name. Restore it from a copy");
    }
    return shardChunks[ordinal];
  }

  @Override
  public String path() {
    return windows.path();
  }

  /** Returns the bytes of the file of the tables. */
  public Windows tables() {
    return windows;
  }

  @Override
  public Codec codec() {
    return codec;
  }

  @Override
  public boolean hasChecksums() {
    return hasChecksums;
  }

  public long word0(long slot) {
    return windows.longAt(offsetsAt + EntryUnits.entryAt(slot));
  }

  public long word1(long slot) {
    return windows.longAt(offsetsAt + EntryUnits.entryAt(slot) + Long.BYTES);
  }

  /**
   * Loads the entries of {@code slots[from, to)} as pairs of words. The loop does nothing else, so
   * that as many cache misses are in flight as the processor can take.
   */
  public void load(long[] slots, int from, int to, long[] words) {
    if (isInOneWindow) {
      ByteBuffer window = windows.window(windows.ordinal(offsetsAt));
      int base = windows.within(offsetsAt);
      for (int k = from, w = 0; k < to; k++, w += 2) {
        int at = base + (int) EntryUnits.entryAt(slots[k]);
        words[w] = window.getLong(at);
        words[w + 1] = window.getLong(at + Long.BYTES);
      }
    } else {
      for (int k = from, w = 0; k < to; k++, w += 2) {
        words[w] = word0(slots[k]);
        words[w + 1] = word1(slots[k]);
      }
    }
  }

  /** Returns the ends of the chunks, in their order. */
  public long[] chunkEnds() {
    return chunkEnds;
  }

  @Override
  public Binding binding() {
    return binding;
  }

  @Override
  public int storedChecksum(long slot) {
    return windows.intAt(offsetsAt + EntryUnits.checksumAt(slot, length));
  }

  public boolean isVerified(long slot) {
    return verified.isSet(slot);
  }

  @Override
  public boolean isAllVerified() {
    return verified.isAllSet();
  }

  @Override
  public void setVerified(long slot) {
    verified.set(slot);
  }

  /** Returns the position in the tables of a unit of entries. */
  public long unitAt(long unit) {
    return offsetsAt + EntryUnits.unitAt(unit);
  }

  /** Returns the length of the unit. Its checksum follows. */
  public int unitBytes(long unit) {
    return EntryUnits.unitBytes(unit, length);
  }

  public boolean isUnitVerified(long unit) {
    return verifiedUnits.isSet(unit);
  }

  /** Tells whether every unit of entries was verified. */
  public boolean isEveryUnitVerified() {
    return verifiedUnits.isAllSet();
  }

  public void setUnitVerified(long unit) {
    verifiedUnits.set(unit);
  }

  /**
   * Returns the ordinal of a present value's chunk, after a complete check of the value's entry.
   */
  public int chunkOf(long slot, long word0, long word1) {
    int chunk = Entry.chunkId(word1);
    int stored = Entry.physicalLength(word1);
    // An offset of 2⁶³ or more is negative here and fails the first comparison.
    if (chunk < 0
        || chunk >= chunkEnds.length
        || stored < 0
        || word0 < FileHeader.BYTES
        || (word0 & 7) != 0
        || word0 > chunkEnds[chunk] - stored
        || (codec != Codec.RAW && stored < Integer.BYTES)) {
      throw corruptEntry(slot, word0, word1, chunk);
    }
    return chunk;
  }

  private CorruptDataException corruptEntry(long slot, long word0, long word1, int chunk) {
    return new CorruptDataException(
        path(),
        "Cannot read " + path() + ": the entry at " + slot
            + " points to " + Integer.toUnsignedString(Entry.physicalLength(word1)) + " bytes at "
            + Long.toUnsignedString(word0) + " of chunk "
            + Integer.toUnsignedString(chunk)
            + (chunk < 0 || chunk >= chunkEnds.length
                ? ", which the shard does not have"
                : ", which ends at " + chunkEnds[chunk])
            + ". Values stand on multiples of 8 from 64 on. Restore the file from a copy, or leave the record out");
  }
}
