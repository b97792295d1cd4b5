package io.zrecord.internal.shard.write;

import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.internal.format.ValueAlignment;
import io.zrecord.internal.io.OwnedMemory;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Writes values of any length as variable runs (FORMAT.md section 5). A value that is too large for
 * what is left of the memory goes straight to the chunk, in pieces. Belongs to one thread.
 */
public final class VariableRunWriter extends ColumnWriter {
  /** Of compressed values, which are never read in place. */
  private static final ValueAlignment PACKED = ValueAlignment.NONE;

  /** Bytes of bookkeeping that a value takes until the stripe is flushed. */
  private static final int BOOKKEEPING_BYTES = 4;

  private final boolean hasChecksums;
  private final ChunkWriter chunks;
  private final SegmentPool pool;
  private final StripeBuffer stripe;
  private final long budgetBytes;
  private final VariableRuns runs;
  private final ValidityWriter validity;
  private final @Nullable ValueCodec codec;
  private final IntList lengths = new IntList();
  private final byte[] scalar = new byte[8];
  private final ByteBuffer scalarBuffer = ByteBuffer.wrap(scalar).order(ByteOrder.LITTLE_ENDIAN);
  private final byte[] prefix = new byte[ValueCodec.PREFIX_BYTES];
  private byte[] scratch = new byte[0];
  private long recordCount;
  private int currentLength;
  private int longestLength;
  private boolean isDirect;

  VariableRunWriter(
      FieldSpec field,
      ColumnTables tables,
      ChunkWriter chunks,
      SegmentPool pool,
      long alignBytes,
      long budgetBytes) {
    super(field);
    this.hasChecksums = tables.hasChecksums();
    this.chunks = chunks;
    this.pool = pool;
    this.stripe = new StripeBuffer(pool);
    this.budgetBytes = budgetBytes;
    this.codec =
        field.compression().codec() == Codec.RAW ? null : ValueCodec.of(field.compression());
    this.runs = new VariableRuns(tables, codec == null ? alignment(field, alignBytes) : PACKED);
    this.validity = new ValidityWriter(tables.spool().table());
  }

  /** Returns the alignment of raw values: that of their elements, or more. */
  private static ValueAlignment alignment(FieldSpec field, long alignBytes) {
    int width = field.type().widthBytes().orElse(1);
    int least = Math.min(ValueAlignment.MOST_LEAST, Integer.highestOneBit(width));
    return new ValueAlignment(
        least, alignBytes > ValueAlignment.MOST_LEAST ? (int) alignBytes : least);
  }

  @Override
  void storeByte(byte value) {
    scalar[0] = value;
    store(scalar, 0, 1);
  }

  @Override
  void storeShort(short value) {
    scalarBuffer.putShort(0, value);
    store(scalar, 0, 2);
  }

  @Override
  void storeInt(int value) {
    scalarBuffer.putInt(0, value);
    store(scalar, 0, 4);
  }

  @Override
  void storeLong(long value) {
    scalarBuffer.putLong(0, value);
    store(scalar, 0, 8);
  }

  @Override
  void store(byte[] source, int offset, int length) {
    if (codec == null) {
      place(0, source, offset, length);
      return;
    }
    int limit = Math.max(0, length - 1);
    if (scratch.length < limit) {
      // Release the shorter array before the longer one is allocated.
      scratch = new byte[0];
      scratch = new byte[limit];
    }
    int compressed = limit == 0 ? -1 : codec.compress(source, offset, length, scratch, 0, limit);
    boolean asIs = compressed < 0;
    ByteBuffer.wrap(prefix)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(0, asIs ? ValueCodec.prefixAsIs(length) : length);
    if (asIs) {
      place(ValueCodec.PREFIX_BYTES, source, offset, length);
    } else {
      place(ValueCodec.PREFIX_BYTES, scratch, 0, compressed);
    }
  }

  @Override
  void placeStored(byte[] source, int offset, int length) {
    place(0, source, offset, length);
  }

  @Override
  void endPresent(long before) {
    validity.add(true, before);
    recordCount++;
    if (isDirect) {
      isDirect = false;
    } else {
      addLength(currentLength);
    }
  }

  @Override
  void endAbsent(long before) {
    validity.add(false, before);
    recordCount++;
    addLength(0);
  }

  @Override
  public void flushStripe() {
    if (lengths.count() == 0) {
      return;
    }
    // A chunk is needed even if all values are empty: a run has a position.
    WritableFile file = runs.begin(
        chunks,
        new VariableRuns.Stretch(
            lengths.count(), stripe.lengthBytes(), longestLength, lengths.get(0)));
    long start = file.positionBytes();
    for (int i = 0; i < lengths.count(); i++) {
      runs.add(lengths.get(i), stripe, start);
    }
    runs.sum(stripe, start);
    stripe.drainTo(file);
    pool.count(-(long) BOOKKEEPING_BYTES * lengths.count());
    lengths.clear();
    longestLength = 0;
  }

  @Override
  public long collectedBytes() {
    return stripe.lengthBytes() + (long) BOOKKEEPING_BYTES * lengths.count();
  }

  @Override
  public void end() {
    runs.endRun();
    validity.end(recordCount);
  }

  @Override
  public void finish(TablesWriter tables) {
    tables.variable(field(), amount(tables.length()), runs, validity.bits());
  }

  @Override
  public void close() {
    if (codec != null) {
      codec.close();
    }
  }

  /** Stores the first {@code prefixLength} bytes of the prefix, and a payload. */
  private void place(int prefixLength, byte[] source, int offset, int length) {
    long stored = (long) prefixLength + length;
    if (stored > Integer.MAX_VALUE) {
      throw new ValueTooLargeException(
          field().name(),
          "Cannot write a value of " + length + " bytes to field '" + field().name()
              + "': with its prefix it exceeds " + Integer.MAX_VALUE
              + " bytes; split it, or write the field raw");
    }
    countBytes(stored);
    long end = stripe.lengthBytes();
    int gap = (int) (runs.alignment().startFor(end, stored) - end);
    if (stored > budgetBytes / 8 || gap + stored + pool.takenBytes() > budgetBytes / 8 * 7) {
      // The values before go first, so that the chunk has the values in order.
      flushStripe();
      writeDirect(prefixLength, source, offset, length);
      isDirect = true;
    } else {
      currentLength = (int) stored;
      longestLength = Math.max(longestLength, gap + currentLength);
      stripe.putZeros(gap);
      stripe.put(prefix, 0, prefixLength);
      stripe.put(source, offset, length);
    }
  }

  private void writeDirect(int prefixLength, byte[] source, int offset, int length) {
    int stored = prefixLength + length;
    WritableFile file = runs.begin(chunks, new VariableRuns.Stretch(1, stored, stored, stored));
    ByteBuffer piece = pool.take();
    try {
      piece.put(prefix, 0, prefixLength);
      int done = 0;
      do {
        int step = Math.min(piece.remaining(), length - done);
        piece.put(source, offset + done, step).flip();
        done += step;
        if (hasChecksums) {
          OwnedMemory.checksum(runs.crc(), piece, 0, piece.limit());
        }
        file.write(piece);
        piece.clear();
      } while (done < length);
    } finally {
      pool.giveBack(piece);
    }
    runs.addSummed(stored);
  }

  private void addLength(int length) {
    lengths.add(length);
    pool.count(BOOKKEEPING_BYTES);
  }
}
