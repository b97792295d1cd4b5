package io.zrecord.internal.shard.write;

import io.zrecord.read.StoredBlock;
import io.zrecord.schema.FieldSpec;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes compressed values of any length: collects the first of them, and then decides by their
 * average length whether values are compressed together or one by one. Belongs to one thread.
 */
final class SampledColumnWriter extends ColumnWriter {
  private static final int ABSENT = -1;

  private final int sampleBytes;
  private final int longBytes;
  private final Supplier<ColumnWriter> together;
  private final Supplier<ColumnWriter> oneByOne;
  private @Nullable ColumnWriter chosen;
  private final StoredValueDecoder stored;
  private byte[] sample = new byte[0];
  private int sampleFill;
  private final IntList lengths = new IntList();
  private int currentLength;

  /**
   * Creates a writer that has not decided yet.
   *
   * @param sampleBytes bytes after which the writer decides
   * @param longBytes average length from which on values are compressed one by one
   */
  SampledColumnWriter(
      FieldSpec field,
      int sampleBytes,
      int longBytes,
      Supplier<ColumnWriter> together,
      Supplier<ColumnWriter> oneByOne) {
    super(field);
    this.stored = new StoredValueDecoder(field);
    this.sampleBytes = sampleBytes;
    this.longBytes = longBytes;
    this.together = together;
    this.oneByOne = oneByOne;
  }

  @Override
  long valueBytes() {
    return chosen == null ? 0 : chosen.valueBytes();
  }

  @Override
  void storeByte(byte value) {
    throw noNumber();
  }

  @Override
  void storeShort(short value) {
    throw noNumber();
  }

  @Override
  void storeInt(int value) {
    throw noNumber();
  }

  @Override
  void storeLong(long value) {
    throw noNumber();
  }

  private static IllegalStateException noNumber() {
    return new IllegalStateException("Values of any length are no single numbers");
  }

  @Override
  void store(byte[] source, int offset, int length) {
    ColumnWriter writer = chosen;
    if (writer == null && length <= sampleBytes - sampleFill) {
      if (sample.length < sampleFill + length) {
        sample = Arrays.copyOf(
            sample, Math.min(sampleBytes, Math.max(sampleFill + length, 2 * sample.length)));
      }
      System.arraycopy(source, offset, sample, sampleFill, length);
      sampleFill += length;
      currentLength = length;
      return;
    }
    if (writer == null) {
      writer = choose((sampleFill + (long) length) / (presentCount() + 1));
    }
    writer.store(source, offset, length);
  }

  /** Takes a stored value, whose length without the codec counts. */
  @Override
  void placeStored(byte[] source, int offset, int length) {
    ColumnWriter writer = chosen;
    if (writer == null) {
      int logical = stored.lengthOf(source, offset, length);
      if (logical <= sampleBytes - sampleFill) {
        stored.decode(source, offset, length);
        store(stored.bytes(), stored.offset(), stored.length());
        return;
      }
      writer = choose((sampleFill + (long) logical) / (presentCount() + 1));
    }
    writer.placeStored(source, offset, length);
  }

  @Override
  public boolean putBlock(StoredBlock block) {
    return chosen != null && chosen.putBlock(block);
  }

  @Override
  void requireWithinBlock() {
    if (chosen == null) {
      super.requireWithinBlock();
    } else {
      chosen.requireWithinBlock();
    }
  }

  @Override
  void endPresent(long before) {
    if (chosen == null) {
      lengths.add(currentLength);
    } else {
      chosen.endPresent(before);
    }
  }

  @Override
  void endAbsent(long before) {
    if (chosen == null) {
      lengths.add(ABSENT);
      if (lengths.count() >= sampleBytes) {
        decide();
      }
    } else {
      chosen.endRecord(before);
    }
  }

  @Override
  public void endValues() {
    decide();
    if (chosen != null) {
      chosen.endValues();
    }
  }

  @Override
  public void flushStripe() {
    if (chosen != null) {
      chosen.flushStripe();
    }
  }

  @Override
  public long collectedBytes() {
    return chosen == null ? 0 : chosen.collectedBytes();
  }

  private void decide() {
    if (chosen == null) {
      choose(sampleFill / Math.max(1, presentCount()));
    }
  }

  private int presentCount() {
    int count = 0;
    for (int i = 0; i < lengths.count(); i++) {
      count += lengths.get(i) == ABSENT ? 0 : 1;
    }
    return count;
  }

  private ColumnWriter choose(long averageBytes) {
    ColumnWriter writer = (averageBytes < longBytes ? together : oneByOne).get();
    writer.leaveStatistics();
    chosen = writer;
    int at = 0;
    for (int i = 0; i < lengths.count(); i++) {
      int length = lengths.get(i);
      if (length == ABSENT) {
        writer.endRecord(i);
      } else {
        writer.store(sample, at, length);
        writer.endPresent(i);
        at += length;
      }
    }
    sample = new byte[0];
    lengths.clear();
    return writer;
  }

  @Override
  public void end() {
    java.util.Objects.requireNonNull(chosen).end();
  }

  @Override
  public void finish(TablesWriter tables) {
    ColumnWriter writer = java.util.Objects.requireNonNull(chosen);
    writer.takeStatistics(this);
    writer.finish(tables);
  }

  @Override
  public void close() {
    try {
      stored.close();
    } finally {
      if (chosen != null) {
        chosen.close();
      }
    }
  }
}
