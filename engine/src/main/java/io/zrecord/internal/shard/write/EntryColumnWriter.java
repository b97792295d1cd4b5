package io.zrecord.internal.shard.write;

import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.ValueCodec;
import io.zrecord.internal.io.OwnedMemory;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes values of any length as entries (FORMAT.md section 4). A value that is too large for what
 * is left of the memory goes straight to the chunk, in pieces. Belongs to one thread.
 */
public final class EntryColumnWriter extends ColumnWriter {
  private static final int ABSENT = -1;

  /** Bytes of bookkeeping that a value takes until the stripe is flushed. */
  private static final int BOOKKEEPING_BYTES = 4;

  private final Binding binding;
  private final ChunkWriter chunks;
  private final SegmentPool pool;
  private final StripeBuffer stripe;
  private final long budgetBytes;
  private final Alignment alignment;
  private final SpooledTable entries;
  private final @Nullable SpooledTable checksums;
  private final @Nullable ValueCodec codec;
  private final IntList lengths = new IntList();
  private final byte[] scalar = new byte[8];
  private final ByteBuffer scalarBuffer = ByteBuffer.wrap(scalar).order(ByteOrder.LITTLE_ENDIAN);
  private final byte[] prefix = new byte[ValueCodec.PREFIX_BYTES];
  private final CRC32C crc = new CRC32C();
  private byte[] scratch = new byte[0];
  private long entryCount;
  private int currentLength;
  private int longestLength;
  private boolean isDirect;

  EntryColumnWriter(
      FieldSpec field,
      ColumnTables tables,
      ChunkWriter chunks,
      SegmentPool pool,
      Alignment alignment,
      long budgetBytes) {
    super(field);
    this.binding = tables.binding();
    this.chunks = chunks;
    this.pool = pool;
    this.stripe = new StripeBuffer(pool);
    this.budgetBytes = budgetBytes;
    this.entries = tables.spool().table();
    this.checksums = tables.hasChecksums() ? tables.spool().table() : null;
    this.codec =
        field.compression().codec() == Codec.RAW ? null : ValueCodec.of(field.compression());
    // A compressed value is never read in place.
    this.alignment = codec == null ? alignment : Alignment.LEAST;
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
    if (isDirect) {
      isDirect = false;
      return;
    }
    addLength(currentLength);
    stripe.align();
  }

  @Override
  void endAbsent(long before) {
    addLength(ABSENT);
  }

  @Override
  public void flushStripe() {
    if (lengths.count() == 0) {
      return;
    }
    // A chunk is needed even if all values are empty: an empty value has a position, too.
    WritableFile file = chunks.aligned(alignment, longestLength);
    long start = file.positionBytes();
    long position = start;
    for (int i = 0; i < lengths.count(); i++) {
      int length = lengths.get(i);
      if (length == ABSENT) {
        writeEntry(0, 0, 0);
      } else {
        long word1 = Entry.word1(chunks.ordinal(), length);
        position += alignment.gapBytes(position, length);
        writeEntry(position, word1, checksums == null ? 0 : crcOf(position - start, length));
        position += length;
      }
    }
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
  public void end() {}

  @Override
  public void finish(TablesWriter tables) {
    tables.entries(
        field(),
        amount(),
        entries.reader(),
        checksums == null ? TablesWriter.ZEROS : checksums.reader());
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
    int gap = alignment.gapBytes(stripe.lengthBytes(), stored);
    if (stored > budgetBytes / 8 || gap + stored + pool.takenBytes() > budgetBytes / 8 * 7) {
      // The values before go first, so that the chunk has the values in order.
      flushStripe();
      writeDirect(prefixLength, source, offset, length);
      isDirect = true;
    } else {
      currentLength = (int) stored;
      longestLength = Math.max(longestLength, currentLength);
      stripe.putZeros(gap);
      stripe.put(prefix, 0, prefixLength);
      stripe.put(source, offset, length);
    }
  }

  private void writeDirect(int prefixLength, byte[] source, int offset, int length) {
    WritableFile file = chunks.aligned(alignment, (long) prefixLength + length);
    long word0 = file.positionBytes();
    long word1 = Entry.word1(chunks.ordinal(), prefixLength + length);
    crc.reset();
    ByteBuffer piece = pool.take();
    try {
      piece.put(prefix, 0, prefixLength);
      int done = 0;
      do {
        int step = Math.min(piece.remaining(), length - done);
        piece.put(source, offset + done, step).flip();
        done += step;
        if (checksums != null) {
          OwnedMemory.checksum(crc, piece, 0, piece.limit());
        }
        file.write(piece);
        piece.clear();
      } while (done < length);
    } finally {
      pool.giveBack(piece);
    }
    writeEntry(word0, word1, (int) crc.getValue());
  }

  private void addLength(int length) {
    lengths.add(length);
    pool.count(BOOKKEEPING_BYTES);
  }

  private int crcOf(long at, int length) {
    crc.reset();
    stripe.checksum(crc, at, length);
    return (int) crc.getValue();
  }

  private void writeEntry(long word0, long word1, int crcOfBytes) {
    entries.putEntry(word0, word1);
    if (checksums != null) {
      checksums.putInt(binding.bindEntry(entryCount, word0, word1, crcOfBytes));
    }
    entryCount++;
  }
}
