package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.Run;
import io.zrecord.internal.format.RunsFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.Durability;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Writes raw values of one width as runs (FORMAT.md section 5). The values of a stripe are one
 * dense array. If that array directly follows the array before, because no other field was written
 * meanwhile, the run grows instead. Belongs to one thread.
 */
public final class DenseColumnWriter extends ColumnWriter {
  private final ColumnFiles files;
  private final int widthBytes;
  private final ChunkWriter chunks;
  private final Alignment alignment;
  private final StripeBuffer stripe;
  private final ValidityWriter validity;
  private final List<Run> runs = new ArrayList<>();
  private final IntList blockChecksums = new IntList();
  private final CRC32C blockChecksum = new CRC32C();
  private long blockFill;
  private long stripeCount;
  private long flushedCount;

  DenseColumnWriter(
      FieldSpec field,
      ColumnFiles files,
      ChunkWriter chunks,
      SegmentPool pool,
      Alignment alignment) {
    super(field);
    this.files = files;
    this.widthBytes = field.valueWidthBytes().orElseThrow();
    this.chunks = chunks;
    this.alignment = alignment;
    this.stripe = new StripeBuffer(pool);
    this.validity = new ValidityWriter(files);
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
      growRun();
    } else {
      beginRun(file.positionBytes());
    }
    if (files.hasChecksums()) {
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
  public FieldMeta finish(Durability durability) {
    endBlock();
    int[] validityChecksums = validity.finish(durability);
    RunsFile runsFile = new RunsFile(
        flushedCount,
        widthBytes,
        files.hasChecksums(),
        validity.hasAbsent(),
        runs,
        blockChecksums.toArray(),
        validityChecksums);
    try (WritableFile file = files.storage().create(files.name(".runs"))) {
      file.write(ByteBuffer.wrap(runsFile.write(files.binding())));
      if (durability == Durability.COMMIT) {
        file.force();
      }
    }
    return meta(files.stem(), FieldMeta.Layout.RUNS);
  }

  @Override
  public void close() {
    validity.close();
  }

  /** Returns whether the chunk ends with the last values of this field. */
  private boolean isBehindRun() {
    if (runs.isEmpty()) {
      return false;
    }
    Run last = runs.get(runs.size() - 1);
    return last.chunkId() == chunks.chunkId()
        && last.offset() + last.count() * widthBytes == chunks.positionBytes();
  }

  private void growRun() {
    Run last = runs.remove(runs.size() - 1);
    runs.add(new Run(
        last.firstIndex(),
        last.count() + stripeCount,
        last.offset(),
        last.chunkId(),
        last.firstBlock()));
  }

  private void beginRun(long position) {
    endBlock();
    runs.add(
        new Run(flushedCount, stripeCount, position, chunks.chunkId(), blockChecksums.count()));
  }

  private void addChecksums(long bytes) {
    long done = 0;
    while (done < bytes) {
      long step = Math.min(Run.BLOCK_BYTES - blockFill, bytes - done);
      stripe.checksum(blockChecksum, done, step);
      done += step;
      blockFill += step;
      if (blockFill == Run.BLOCK_BYTES) {
        endBlock();
      }
    }
  }

  private void endBlock() {
    if (blockFill > 0) {
      int crc = (int) blockChecksum.getValue();
      blockChecksums.add(files.binding().bind(Binding.Kind.BLOCK, blockChecksums.count(), crc));
      blockChecksum.reset();
      blockFill = 0;
    }
  }
}
