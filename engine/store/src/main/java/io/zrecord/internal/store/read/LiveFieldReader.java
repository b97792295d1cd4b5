package io.zrecord.internal.store.read;

import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Reads a field of a store. A selection holds the entries of one moment. The selected values stay
 * as they were, because bytes in chunks never change. Work that waits for the medium or for a codec
 * is shared with the store's {@link GatherPool}. Belongs to one thread.
 */
public final class LiveFieldReader implements FieldReader {
  /** Number of slots that a helper takes at a time. */
  private static final int PIECE_SLOTS = 8;

  private final SharedValues shared;
  private final Helpers helpers;
  private final Selector selector;
  private final int ordinal;
  private final FieldSpec spec;
  private final boolean isRaw;
  private final LiveSlots slots = new LiveSlots();
  private final LiveValues values;
  private int absentCount;
  private long totalBytes;

  /**
   * Works on slots {@code [from, to)}, of which the first byte belongs at {@code at} in the target.
   * Returns the slot where the work stopped.
   */
  private interface SlotWork {
    int run(LiveValues values, int from, int to, int at);
  }

  /** Selects records of one committed state for a reader. */
  interface Selector {
    /** Selects records; returns false if the store was rewritten. */
    boolean select(long[] indices, int from, int count, LiveFieldReader reader);
  }

  LiveFieldReader(SharedValues shared, Helpers helpers, Selector selector, int ordinal) {
    this.shared = shared;
    this.helpers = helpers;
    this.selector = selector;
    this.ordinal = ordinal;
    this.spec = shared.field(ordinal);
    this.isRaw = spec.compression().codec() == Codec.RAW;
    this.values = new LiveValues(shared, ordinal, false);
  }

  int ordinal() {
    return ordinal;
  }

  @Override
  public FieldSpec field() {
    return spec;
  }

  public void begin(int newCount) {
    slots.begin(newCount);
  }

  public void load(EntryTable table, long[] indices, int from, int size, int slot) {
    table.load(indices, from, size, slots.word0, slots.word1, slot);
    shared.findDue(ordinal, indices, from, size, slots, slot);
    for (int k = slot; k < slot + size; k++) {
      if (slots.isDue[k]) {
        slots.checksum[k] = table.checksum(indices[from + k - slot]);
      }
    }
  }

  /** Ends the selection by finding the lengths of the values. */
  public void end(long[] indices, int from, int newCount) {
    System.arraycopy(indices, from, slots.index, 0, newCount);
    if (isRaw) {
      values.resolve(slots, 0, newCount);
    } else {
      inPieces(newCount, 0, (worker, first, last, at) -> worker.resolve(slots, first, last));
    }
    absentCount = 0;
    totalBytes = 0;
    long storedBytes = 0;
    for (int k = 0; k < newCount; k++) {
      absentCount += slots.isAbsent(k) ? 1 : 0;
      storedBytes += slots.storedBytes(k);
      totalBytes += values.copiedBytes(slots, k);
    }
    slots.count = newCount;
    shared.metrics().values.add(newCount);
    shared.metrics().bytesRead.add(storedBytes + newCount * (long) Entry.BYTES);
    shared.metrics().bytesDelivered.add(totalBytes);
  }

  /**
   * Works on all slots: alone at first, and together with helpers from the slot where the work
   * turns out to be slow.
   */
  private void inPieces(int count, int at, SlotWork work) {
    int done = work.run(values, 0, count, at);
    if (done < count) {
      int next = at;
      for (int k = 0; k < done; k++) {
        next += values.copiedBytes(slots, k);
      }
      share(done, count, next, work);
    }
  }

  private void share(int from, int to, int at, SlotWork work) {
    int[] starts = new int[(to - from + PIECE_SLOTS - 1) / PIECE_SLOTS];
    int next = at;
    for (int k = from; k < to; k++) {
      if ((k - from) % PIECE_SLOTS == 0) {
        starts[(k - from) / PIECE_SLOTS] = next;
      }
      next += values.copiedBytes(slots, k);
    }
    helpers.pool().run(starts.length, piece -> {
      int first = from + piece * PIECE_SLOTS;
      LiveValues worker = helpers.takeValues(ordinal);
      work.run(worker, first, Math.min(to, first + PIECE_SLOTS), starts[piece]);
      helpers.giveBack(ordinal, worker);
    });
  }

  @Override
  public int selectRange(long firstIndex, int maxCount, long maxBytes) {
    long[] indices = new long[maxCount];
    for (int k = 0; k < maxCount; k++) {
      indices[k] = firstIndex + k;
    }
    select(indices, 0, maxCount);
    long bytes = 0;
    int taken = 0;
    while (taken < slots.count) {
      bytes += slots.storedBytes(taken);
      if (bytes > maxBytes && taken > 0) {
        break;
      }
      taken++;
    }
    if (taken < maxCount) {
      select(indices, 0, taken);
    }
    return taken;
  }

  @Override
  public void select(long[] indices, int from, int newCount) {
    Objects.checkFromIndexSize(from, newCount, indices.length);
    if (!selector.select(indices, from, newCount, this)) {
      throw new StorageException(
          shared.path(ordinal),
          "Cannot read " + shared.path(ordinal)
              + " any more: the store was rewritten. Take another reader");
    }
  }

  @Override
  public int count() {
    return slots.count;
  }

  @Override
  public boolean hasAbsent() {
    return absentCount > 0;
  }

  @Override
  public boolean isAbsent(int i) {
    Objects.checkIndex(i, slots.count);
    return slots.isAbsent(i);
  }

  @Override
  public int lengthBytes(int i) {
    Objects.checkIndex(i, slots.count);
    return slots.length[i];
  }

  @Override
  public long totalLengthBytes() {
    return totalBytes;
  }

  @Override
  public byte[] value(int i) {
    byte[] value = new byte[lengthBytes(i)];
    copyValue(i, value, 0);
    return value;
  }

  @Override
  public int copyValue(int i, byte[] destination, int offset) {
    Objects.checkFromIndexSize(offset, lengthBytes(i), destination.length);
    values.copy(slots, i, ByteBuffer.wrap(destination), offset);
    return slots.length[i];
  }

  @Override
  public void copyAll(byte[] destination, int offset) {
    Objects.checkFromIndexSize(offset, totalBytes, (long) destination.length);
    copyAll(ByteBuffer.wrap(destination), offset);
  }

  @Override
  public void copyAll(ByteBuffer destination) {
    if (destination.remaining() < totalBytes) {
      throw new BufferOverflowException();
    }
    copyAll(destination, destination.position());
    destination.position(destination.position() + (int) totalBytes);
  }

  private void copyAll(ByteBuffer target, int at) {
    inPieces(
        slots.count,
        at,
        (worker, from, to, start) -> worker.copyAll(slots, from, to, target, start));
  }

  @Override
  public ByteBuffer view(int i) {
    int bytes = lengthBytes(i);
    if (isRaw && bytes > 0) {
      values.verify(slots, i);
      ByteBuffer source = slots.window[i];
      if (source != null) {
        return source.slice(slots.position[i], bytes).order(ByteOrder.LITTLE_ENDIAN);
      }
    }
    return ByteBuffer.wrap(value(i)).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Drops the selection and everything that it holds. */
  void clear() {
    slots.releaseWindows(slots.count);
    slots.begin(0);
    totalBytes = 0;
    absentCount = 0;
  }
}
