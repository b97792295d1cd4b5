package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.schema.FieldSpec;
import io.zrecord.storage.WritableFile;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Writes raw values of one width as runs (FORMAT.md section 5). The values of a stripe are one
 * dense array. If that array directly follows the array before, because no other field was written
 * meanwhile, the run grows instead. Belongs to one thread.
 */
public final class DenseColumnWriter extends ColumnWriter {
  private final ColumnTables tables;
  private final int widthBytes;
  private final ChunkWriter chunks;
  private final Alignment alignment;
  private final StripeBuffer stripe;
  private final ValidityWriter validity;
  private final List<RunRecord> runs = new ArrayList<>();
  private final SpooledTable unitChecksums;
  private final int unitBytes;
  private final CRC32C unitChecksum = new CRC32C();
  private long unitCount;
  private long unitFill;
  private long stripeCount;
  private long flushedCount;

  DenseColumnWriter(
      FieldSpec field,
      ColumnTables tables,
      ChunkWriter chunks,
      SegmentPool pool,
      Alignment alignment) {
    super(field);
    this.tables = tables;
    this.widthBytes = field.valueWidthBytes().orElseThrow();
    this.chunks = chunks;
    this.alignment = alignment;
    this.stripe = new StripeBuffer(pool);
    this.validity = new ValidityWriter(tables.spool().table());
    this.unitChecksums = tables.spool().table();
    this.unitBytes = FieldTables.unitBytesOf(widthBytes);
  }

  @Override
  void storeByte(byte value) {
    stripe.room(1).put(value);
  }

  @Override
  void storeShort(short value) {
    stripe.room(2).putShort(value);
  }

  @Override
  void storeInt(int value) {
    stripe.room(4).putInt(value);
  }

  @Override
  void storeLong(long value) {
    stripe.room(8).putLong(value);
  }

  @Override
  void store(byte[] source, int offset, int length) {
    stripe.put(source, offset, length);
  }

  @Override
  void placeStored(byte[] source, int offset, int length) {
    throw new IllegalStateException("Dense values are not compressed");
  }

  @Override
  void endPresent(long before) {
    validity.add(true, before);
    stripeCount++;
  }

  @Override
  void endAbsent(long before) {
    validity.add(false, before);
    stripe.putZeros(widthBytes);
    stripeCount++;
  }

  @Override
  public void flushStripe() {
    if (stripeCount == 0) {
      return;
    }
    long bytes = stripe.lengthBytes();
    boolean isBehindRun = isBehindRun();
    WritableFile file = chunks.aligned(isBehindRun ? Alignment.NONE : alignment, bytes);
    if (isBehindRun) {
      growRun(bytes);
    } else {
      beginRun(file.positionBytes(), bytes);
    }
    if (tables.hasChecksums()) {
      addChecksums(bytes);
    }
    stripe.drainTo(file);
    countBytes(bytes);
    flushedCount += stripeCount;
    stripeCount = 0;
  }

  @Override
  public long collectedBytes() {
    return stripe.lengthBytes();
  }

  @Override
  public void end() {
    endUnit();
    validity.end(flushedCount);
  }

  @Override
  public void finish(TablesWriter target) {
    target.fixed(field(), amount(target.length()), unitBytes, runs, unitChecksums, validity.bits());
  }

  @Override
  public void close() {}

  /** Returns whether the chunk ends with the last values of this field. */
  private boolean isBehindRun() {
    if (runs.isEmpty()) {
      return false;
    }
    RunRecord last = runs.get(runs.size() - 1);
    return last.chunk() == chunks.ordinal()
        && last.offset() + last.bytes() == chunks.positionBytes();
  }

  private void growRun(long bytes) {
    RunRecord last = runs.remove(runs.size() - 1);
    runs.add(RunRecord.fixed(
        last.chunk(),
        last.firstSlot(),
        last.count() + stripeCount,
        last.offset(),
        last.bytes() + bytes,
        last.firstUnit()));
  }

  private void beginRun(long position, long bytes) {
    endUnit();
    runs.add(
        RunRecord.fixed(chunks.ordinal(), flushedCount, stripeCount, position, bytes, unitCount));
  }

  private void addChecksums(long bytes) {
    long done = 0;
    while (done < bytes) {
      long step = Math.min(unitBytes - unitFill, bytes - done);
      stripe.checksum(unitChecksum, done, step);
      done += step;
      unitFill += step;
      if (unitFill == unitBytes) {
        endUnit();
      }
    }
  }

  private void endUnit() {
    if (unitFill > 0) {
      int crc = (int) unitChecksum.getValue();
      unitChecksums.putInt(tables.binding().bind(Binding.Kind.BLOCK, unitCount, crc));
      unitCount++;
      unitChecksum.reset();
      unitFill = 0;
    }
  }
}
