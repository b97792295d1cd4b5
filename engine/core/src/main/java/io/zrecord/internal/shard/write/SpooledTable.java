package io.zrecord.internal.shard.write;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A table of items of one size, a power of two up to 16, or of bytes, that grows in a
 * {@link TableSpool}. Belongs to one thread.
 */
final class SpooledTable {
  private final TableSpool spool;
  private final List<Extent> extents = new ArrayList<>();
  private final List<ByteBuffer> full = new ArrayList<>();
  private ByteBuffer last = ByteBuffer.allocate(0);
  private long spilledBytes;

  /** Bytes of this table in the spool's file. */
  private record Extent(long position, long bytes) {}

  SpooledTable(TableSpool spool) {
    this.spool = spool;
  }

  void putInt(int value) {
    room(Integer.BYTES).putInt(value);
  }

  void putLong(long value) {
    room(Long.BYTES).putLong(value);
  }

  /** Puts the first bytes of an array. */
  void put(byte[] source, int length) {
    for (int done = 0; done < length; ) {
      ByteBuffer target = room(1);
      int step = Math.min(target.remaining(), length - done);
      target.put(source, done, step);
      done += step;
    }
  }

  long lengthBytes() {
    return spilledBytes + (long) full.size() * spool.segmentBytes() + last.position();
  }

  /** Returns a reader from the first byte on. The spool must be complete. */
  Reader reader() {
    return new Reader();
  }

  /** Gives the full segments to the spool's file. */
  void spill() {
    if (full.isEmpty()) {
      return;
    }
    long bytes = (long) full.size() * spool.segmentBytes();
    long position = spool.spill(full);
    full.clear();
    spilledBytes += bytes;
    int previous = extents.size() - 1;
    if (previous >= 0 && extents.get(previous).position + extents.get(previous).bytes == position) {
      Extent joined = extents.remove(previous);
      extents.add(new Extent(joined.position, joined.bytes + bytes));
    } else {
      extents.add(new Extent(position, bytes));
    }
  }

  private ByteBuffer room(int bytes) {
    if (last.remaining() < bytes) {
      if (last.capacity() > 0) {
        full.add(last);
        last = ByteBuffer.allocate(0);
      }
      last = spool.take();
    }
    return last;
  }

  /** Reads the table from its beginning to its end. */
  final class Reader implements TableSource {
    private int extent;
    private int segment;
    private long at;

    /** Copies the next bytes. */
    @Override
    public void read(byte[] target, int offset, int length) {
      for (int done = 0; done < length; ) {
        int step = step(target, offset + done, length - done);
        done += step;
        at += step;
      }
    }

    private int step(byte[] target, int offset, int most) {
      if (extent < extents.size()) {
        Extent current = extents.get(extent);
        if (at == current.bytes) {
          extent++;
          at = 0;
          return step(target, offset, most);
        }
        int step = (int) Math.min(most, current.bytes - at);
        spool.copy(current.position + at, target, offset, step);
        return step;
      }
      boolean isFull = segment < full.size();
      ByteBuffer source = isFull ? full.get(segment) : last;
      if (isFull && at == source.capacity()) {
        segment++;
        at = 0;
        return step(target, offset, most);
      }
      int step = (int) Math.min(most, source.position() - at);
      if (step <= 0) {
        throw new IllegalStateException("The table has " + lengthBytes() + " bytes only");
      }
      source.get((int) at, target, offset, step);
      return step;
    }
  }
}
