package io.zrecord.internal.shard.write;

import io.zrecord.internal.codec.Transforms;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.BlockShape;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.values.ValueLengths;
import io.zrecord.read.StoredBlock;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.Transform;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Writes values in blocks that are compressed as a whole (FORMAT.md section 5). One block is
 * collected at a time; compressed blocks are collected in a stripe. A value that does not fit into
 * a block is a block of its own. Belongs to one thread.
 */
final class BlockColumnWriter extends ColumnWriter {
  /** Numbers that are kept of each block of the stripe. */
  private static final int SLOTS = 0;

  private static final int STORED = 1;
  private static final int RAW = 2;
  private static final int FLAGS = 3;
  private static final int CHECKSUM = 4;
  private static final int NUMBERS = 5;
  private static final int BOOKKEEPING_BYTES = NUMBERS * Integer.BYTES;

  private final ColumnTables tables;
  private final ChunkWriter chunks;
  private final SegmentPool pool;
  private final long budgetBytes;
  private final BlockShape shape;
  private final int blockBytes;
  private final BlockEncoder encoder;
  private final StoredValueDecoder stored;
  private final StripeBuffer stripe;
  private final SpooledTable records;
  private final ValidityWriter validity;
  private final List<RunRecord> runs = new ArrayList<>();
  private final IntList stripeBlocks = new IntList();
  private final CRC32C crc = new CRC32C();

  // The block that is being collected.
  private byte[] values = new byte[0];
  private int valuesFill;
  private byte[] block = new byte[0];
  private int[] lengths = new int[0];
  private int slots;
  private int currentLength;
  private boolean isAlone;

  /** Records of a block that was put whole, which are still to end. */
  private int blockRest;

  private long stripeSlots;
  private long writtenSlots;
  private long blockCount;
  private long writtenBlocks;

  /**
   * Creates a writer.
   *
   * @param blockBytes most raw bytes of a block of several values
   * @param transform transform of numbers
   * @param budgetBytes memory of the writer of the shard
   */
  BlockColumnWriter(
      FieldSpec field,
      ColumnTables tables,
      ChunkWriter chunks,
      SegmentPool pool,
      int blockBytes,
      Transform transform,
      long budgetBytes) {
    super(field);
    this.tables = tables;
    this.chunks = chunks;
    this.pool = pool;
    this.budgetBytes = budgetBytes;
    this.blockBytes = blockBytes;
    this.shape = BlockShape.of(field.type(), field.shape());
    this.encoder = new BlockEncoder(shape, field.compression(), transform);
    this.stored = new StoredValueDecoder(field);
    this.stripe = new StripeBuffer(pool);
    this.records = tables.spool().table();
    this.validity = new ValidityWriter(tables.spool().table());
  }

  @Override
  void storeByte(byte value) {
    makeRoom(1);
    values[valuesFill] = value;
    valuesFill++;
  }

  @Override
  void storeShort(short value) {
    storeNumber(value, 2);
  }

  @Override
  void storeInt(int value) {
    storeNumber(value, 4);
  }

  @Override
  void storeLong(long value) {
    storeNumber(value, 8);
  }

  private void storeNumber(long value, int width) {
    makeRoom(width);
    Transforms.put(values, valuesFill, value, width);
    valuesFill += width;
  }

  @Override
  void store(byte[] source, int offset, int length) {
    if (isTooLong(length)) {
      endBlock();
      encode(source, offset, length, 1);
      isAlone = true;
      return;
    }
    makeRoom(length);
    System.arraycopy(source, offset, values, valuesFill, length);
    valuesFill += length;
    currentLength = length;
  }

  @Override
  void placeStored(byte[] source, int offset, int length) {
    stored.decode(source, offset, length);
    int width = shape.valueWidth();
    if (shape.isFixed() && stored.length() != width) {
      throw ValueLengths.wrong(field(), stored.length());
    }
    store(stored.bytes(), stored.offset(), stored.length());
  }

  @Override
  public boolean putBlock(StoredBlock block) {
    if (shape.isFixed() && block.rawBytes() != (long) block.count() * shape.valueWidth()) {
      throw new IllegalArgumentException("A block of " + block.count() + " values has "
          + block.rawBytes() + " bytes, which does not fit field '" + field().name()
          + "' of type " + field().type() + "; put blocks of a field of the same type and shape");
    }
    boolean isWhole = block.count() == 1 || block.rawBytes() >= blockBytes / 4 * 3;
    if (!isWhole || block.blockBytes() != blockBytes || !encoder.mayHave(block.flags())) {
      return false;
    }
    endBlock();
    add(block.bytes(), 0, block.storedBytes(), block.rawBytes(), block.count(), block.flags());
    blockRest = block.count();
    return true;
  }

  @Override
  void requireWithinBlock() {
    if (blockRest == 0) {
      super.requireWithinBlock();
    }
  }

  @Override
  void endPresent(long before) {
    validity.add(true, before);
    if (blockRest > 0) {
      blockRest--;
    } else if (isAlone) {
      isAlone = false;
    } else {
      endSlot(currentLength);
    }
  }

  /**
   * Ends a record without a value. The slot of a value of one width has the value before, which
   * takes no bytes after compression.
   */
  @Override
  void endAbsent(long before) {
    validity.add(false, before);
    if (blockRest > 0) {
      blockRest--;
      return;
    }
    if (!shape.isFixed()) {
      makeRoom(0);
      endSlot(0);
      return;
    }
    int width = shape.valueWidth();
    if (isTooLong(width)) {
      endBlock();
      encode(new byte[width], 0, width, 1);
      return;
    }
    makeRoom(width);
    if (slots > 0) {
      System.arraycopy(values, valuesFill - width, values, valuesFill, width);
    } else {
      Arrays.fill(values, 0, width, (byte) 0);
    }
    valuesFill += width;
    endSlot(0);
  }

  private void endSlot(int length) {
    if (!shape.isFixed()) {
      if (slots == lengths.length) {
        lengths = Arrays.copyOf(lengths, Math.max(64, 2 * slots));
      }
      lengths[slots] = length;
    }
    slots++;
  }

  private boolean isTooLong(int length) {
    return length > blockBytes - (shape.isFixed() ? 0 : Integer.BYTES);
  }

  /** Ends the block if a value does not fit into it, and makes room for the value. */
  private void makeRoom(int length) {
    long lengthsBytes = shape.isFixed() ? 0 : (slots + 1L) * Integer.BYTES;
    if (lengthsBytes + valuesFill + length > blockBytes) {
      endBlock();
    }
    if (values.length < valuesFill + length) {
      int most = Math.max(blockBytes, valuesFill + length);
      values = Arrays.copyOf(
          values, Math.max(valuesFill + length, Math.min(most, Math.max(256, 2 * values.length))));
    }
  }

  /** Encodes the collected block. */
  @Override
  public void endValues() {
    endBlock();
  }

  private void endBlock() {
    if (slots == 0) {
      return;
    }
    int prefix = shape.lengthBytes(slots);
    if (prefix > 0) {
      int raw = prefix + valuesFill;
      if (block.length < raw) {
        block = new byte[Math.max(raw, Math.min(blockBytes, 2 * block.length))];
      }
      for (int i = 0; i < slots; i++) {
        Transforms.put(block, i * Integer.BYTES, lengths[i], Integer.BYTES);
      }
      System.arraycopy(values, 0, block, prefix, valuesFill);
      encode(block, 0, raw, slots);
    } else {
      encode(values, 0, valuesFill, slots);
    }
    slots = 0;
    valuesFill = 0;
  }

  private void encode(byte[] source, int offset, int raw, int count) {
    int encoded = encoder.encode(source, offset, raw, count);
    if (encoded < 0) {
      add(source, offset, raw, raw, count, encoder.flags());
    } else {
      add(encoder.stored(), 0, encoded, raw, count, encoder.flags());
    }
    encoder.trim();
  }

  private void add(byte[] source, int offset, int length, int raw, int count, int flags) {
    countBytes(length);
    boolean direct = length > budgetBytes / 8 || length + pool.takenBytes() > budgetBytes / 8 * 7;
    if (direct) {
      // The blocks before go first, so that the chunk has the blocks in order.
      flushStripe();
    }
    int checksum = 0;
    if (tables.hasChecksums()) {
      crc.reset();
      crc.update(source, offset, length);
      checksum = tables.binding().bind(Binding.Kind.BLOCK, blockCount, (int) crc.getValue());
    }
    stripeBlocks.add(count);
    stripeBlocks.add(length);
    stripeBlocks.add(raw);
    stripeBlocks.add(flags);
    stripeBlocks.add(checksum);
    pool.count(BOOKKEEPING_BYTES);
    blockCount++;
    stripeSlots += count;
    if (direct) {
      WritableFile file = begin(length);
      writeDirect(file, source, offset, length);
    } else {
      stripe.put(source, offset, length);
    }
  }

  private void writeDirect(WritableFile file, byte[] source, int offset, int length) {
    ByteBuffer piece = pool.take();
    try {
      for (int done = 0; done < length; ) {
        int step = Math.min(piece.remaining(), length - done);
        piece.put(source, offset + done, step).flip();
        file.write(piece);
        piece.clear();
        done += step;
      }
    } finally {
      pool.giveBack(piece);
    }
  }

  @Override
  public void flushStripe() {
    if (stripeSlots > 0) {
      stripe.drainTo(begin(stripe.lengthBytes()));
    }
  }

  /**
   * Writes the records of the blocks of the stripe, whose bytes follow.
   *
   * @param bytes of all these blocks
   */
  private WritableFile begin(long bytes) {
    RunRecord last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
    boolean grows = last != null
        && last.chunk() == chunks.ordinal()
        && last.offset() + last.bytes() == chunks.positionBytes();
    WritableFile file =
        chunks.aligned(grows ? Alignment.NONE : Alignment.LEAST, Math.max(1, bytes));
    long position = file.positionBytes();
    if (grows && last != null) {
      runs.set(
          runs.size() - 1,
          RunRecord.blocks(
              last.chunk(),
              last.firstSlot(),
              last.count() + stripeSlots,
              last.offset(),
              last.bytes() + bytes,
              last.firstUnit()));
    } else {
      runs.add(RunRecord.blocks(
          chunks.ordinal(), writtenSlots, stripeSlots, position, bytes, writtenBlocks));
    }
    for (int i = 0; i < stripeBlocks.count(); i += NUMBERS) {
      int length = stripeBlocks.get(i + STORED);
      records.putLong(writtenSlots);
      records.putLong(position);
      records.putLong(pair(length, stripeBlocks.get(i + RAW)));
      records.putLong(pair(stripeBlocks.get(i + SLOTS), stripeBlocks.get(i + FLAGS)));
      records.putLong(pair(stripeBlocks.get(i + CHECKSUM), 0));
      position += length;
      writtenSlots += stripeBlocks.get(i + SLOTS);
      writtenBlocks++;
    }
    pool.count(-(long) stripeBlocks.count() * Integer.BYTES);
    stripeBlocks.clear();
    stripeSlots = 0;
    return file;
  }

  private static long pair(int first, int second) {
    return (first & 0xffff_ffffL) | (long) second << 32;
  }

  @Override
  public long collectedBytes() {
    return stripe.lengthBytes() + (long) stripeBlocks.count() * Integer.BYTES;
  }

  @Override
  public void end() {
    validity.end(writtenSlots);
  }

  @Override
  public void finish(TablesWriter target) {
    target.blocks(field(), amount(target.length()), blockBytes, runs, records, validity.bits());
  }

  @Override
  public void close() {
    stored.close();
    encoder.close();
  }
}
