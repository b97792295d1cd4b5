package io.zrecord.internal.shard.write;

import io.zrecord.internal.io.OwnedMemory;
import io.zrecord.internal.shard.Zeros;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/** The bytes of one field in the current stripe, in segments of a pool. Belongs to one thread. */
final class StripeBuffer {
  private final SegmentPool pool;
  private final List<ByteBuffer> segments = new ArrayList<>();
  private ByteBuffer last;

  StripeBuffer(SegmentPool pool) {
    this.pool = pool;
    last = ByteBuffer.allocate(0);
  }

  /** Returns the number of collected bytes. */
  long lengthBytes() {
    return segments.isEmpty()
        ? 0
        : (long) (segments.size() - 1) * pool.segmentBytes() + last.position();
  }

  /**
   * Returns a segment with room for {@code bytes}, a power of two up to 16. All earlier sizes must
   * have been such powers too.
   */
  ByteBuffer room(int bytes) {
    if (last.remaining() < bytes) {
      nextSegment();
    }
    return last;
  }

  void put(byte[] source, int offset, int length) {
    int done = 0;
    while (done < length) {
      if (!last.hasRemaining()) {
        nextSegment();
      }
      int step = Math.min(last.remaining(), length - done);
      last.put(source, offset + done, step);
      done += step;
    }
  }

  void putZeros(int length) {
    int done = 0;
    while (done < length) {
      ByteBuffer segment = room(1);
      int step = Math.min(segment.remaining(), length - done);
      Zeros.fill(segment, segment.position(), step);
      segment.position(segment.position() + step);
      done += step;
    }
  }

  /** Appends zeros up to the next multiple of 8. */
  void align() {
    putZeros((int) (-lengthBytes() & 7));
  }

  /** Adds the bytes {@code [from, from + length)} to a checksum. */
  void checksum(CRC32C crc, long from, long length) {
    long at = from;
    long end = from + length;
    while (at < end) {
      ByteBuffer segment = segments.get((int) (at / pool.segmentBytes()));
      int start = (int) (at % pool.segmentBytes());
      int step = (int) Math.min(pool.segmentBytes() - start, end - at);
      OwnedMemory.checksum(crc, segment, start, step);
      at += step;
    }
  }

  /** Appends all bytes to a file and empties this buffer. */
  void drainTo(WritableFile file) {
    if (segments.isEmpty()) {
      return;
    }
    segments.forEach(ByteBuffer::flip);
    file.write(segments.toArray(ByteBuffer[]::new));
    segments.forEach(pool::giveBack);
    segments.clear();
    last = ByteBuffer.allocate(0);
  }

  private void nextSegment() {
    last = pool.take();
    segments.add(last);
  }
}
