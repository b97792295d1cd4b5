package io.zrecord.internal.shard.layout;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.BlockRecord;
import io.zrecord.internal.format.BlockShape;
import io.zrecord.internal.format.BlockUnits;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import java.util.List;

/** A field whose values are compressed together in blocks (FORMAT.md section 5). */
public final class BlockField implements OpenField {
  private final TablesFile file;
  private final Binding binding;
  private final Compression compression;
  private final BlockShape shape;
  private final int blockBytes;
  private final List<RunRecord> runs;
  private final long offsetsAt;
  private final long blockCount;
  private final PresenceBits presence;
  private final VerifiedBits verified;
  private final VerifiedBits verifiedUnits;

  private BlockField(TablesFile file, FieldTables tables, Binding binding, List<RunRecord> runs) {
    this.file = file;
    this.binding = binding;
    this.compression = tables.compression();
    this.shape = BlockShape.of(tables.type(), tables.shape());
    this.blockBytes = tables.blockBytes();
    this.runs = runs;
    this.offsetsAt = tables.offsets().position();
    this.blockCount = BlockUnits.blocks(tables.offsets().bytes());
    this.presence = new PresenceBits(file, tables, binding);
    this.verified = new VerifiedBits(blockCount, file.windows().isMapped());
    this.verifiedUnits = new VerifiedBits(BlockUnits.unitCount(blockCount));
  }

  public static BlockField open(
      TablesFile file, FieldTables tables, Binding binding, List<RunRecord> runs) {
    return new BlockField(file, tables, binding, runs);
  }

  @Override
  public int chunkCount() {
    return file.json().chunks().size();
  }

  @Override
  public long endBytes(int chunkOrdinal, long position) {
    return RunRecord.endBytes(runs, chunkOrdinal, position);
  }

  @Override
  public int shardChunk(int ordinal) {
    return file.shardChunk(ordinal);
  }

  /** Returns the full path of the file of the tables. */
  public String path() {
    return file.path();
  }

  /** Returns the bytes of the file of the tables. */
  public Windows tables() {
    return file.windows();
  }

  public Codec codec() {
    return compression.codec();
  }

  /** Returns how blocks were compressed. */
  public Compression compression() {
    return compression;
  }

  /** Returns the most raw bytes of a block of several values. */
  public int blockBytes() {
    return blockBytes;
  }

  public BlockShape shape() {
    return shape;
  }

  public boolean hasChecksums() {
    return file.json().hasChecksums();
  }

  /** Returns what binds the checksums of the field. */
  public Binding binding() {
    return binding;
  }

  /** Returns the bits that tell which values are present. */
  public PresenceBits presence() {
    return presence;
  }

  public int runCount() {
    return runs.size();
  }

  public RunRecord run(int ordinal) {
    return runs.get(ordinal);
  }

  /** Returns the ordinal of the run that contains the value. */
  public int runOf(long slot) {
    int low = 0;
    int high = runs.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (runs.get(middle).firstSlot() <= slot) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  public long blockCount() {
    return blockCount;
  }

  /** Returns the number of the block after the last block of a run. */
  public long endBlock(int run) {
    return run + 1 == runs.size() ? blockCount : runs.get(run + 1).firstUnit();
  }

  public long firstSlot(long block) {
    return tables().longAt(offsetsAt + BlockUnits.recordAt(block));
  }

  /** Returns the position in the tables of a unit of records of blocks. */
  public long unitAt(long unit) {
    return offsetsAt + BlockUnits.unitAt(unit);
  }

  /** Returns the length of the unit. Its checksum follows. */
  public int unitBytes(long unit) {
    return BlockUnits.unitBytes(unit, blockCount);
  }

  public boolean isUnitVerified(long unit) {
    return verifiedUnits.isSet(unit);
  }

  public void setUnitVerified(long unit) {
    verifiedUnits.set(unit);
  }

  public boolean isVerified(long block) {
    return verified.isSet(block);
  }

  public void setVerified(long block) {
    verified.set(block);
  }

  /** Returns all that the tables say of a block. */
  public BlockRecord block(long block) {
    long at = offsetsAt + BlockUnits.recordAt(block);
    // A record may cross the end of a window, its numbers do not.
    return new BlockRecord(
        firstSlot(block),
        tables().longAt(at + BlockUnits.POSITION_AT),
        tables().intAt(at + BlockUnits.STORED_AT),
        tables().intAt(at + BlockUnits.RAW_AT),
        tables().intAt(at + BlockUnits.SLOTS_AT),
        tables().intAt(at + BlockUnits.FLAGS_AT),
        tables().intAt(at + BlockUnits.CHECKSUM_AT),
        tables().intAt(at + BlockUnits.ZERO_AT));
  }

  /**
   * Returns the record of a block of a run after a complete check.
   *
   * @throws CorruptDataException if the block is not within its run, or cannot be decoded
   * @throws UnsupportedFormatException if the record has something that this release does not know
   */
  public BlockRecord checked(int run, long block) {
    BlockRecord record = block(block);
    if (record.isUnknown()) {
      throw new UnsupportedFormatException(
          path(),
          "Cannot read block " + block + " of a field in " + path()
              + ": it uses flags that this release does not know; upgrade zrecord");
    }
    if (!record.isPossible(runs.get(run), shape, codec(), blockBytes)) {
      throw corrupt(block, record);
    }
    return record;
  }

  /** Returns the exception for a record that does not fit. */
  public CorruptDataException corrupt(long block, BlockRecord record) {
    return new CorruptDataException(
        path(),
        "Cannot read " + path() + ": block " + block + ", " + record.described()
            + ", is not within its run, or not possible. Restore the file from a copy");
  }
}
