package io.zrecord.feed;

import io.zrecord.scan.FieldReader;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The values of one field in one batch, one after the other in a direct buffer that is used again for later batches. Values of a fixed
 * width are stacked, absent ones as zeros; others follow each other without gaps, and their ends are kept. Belongs to one thread at a
 * time.
 */
final class FieldBlock {
  private final FieldSpec field;
  private ByteBuffer data = ByteBuffer.allocateDirect(0);
  private int[] ends = new int[0];
  private boolean[] absent = new boolean[0];
  private int count;
  private boolean hasAbsent;

  FieldBlock(FieldSpec field) {
    this.field = field;
  }

  FieldSpec field() {
    return field;
  }

  /** Takes over the values that a reader has selected. */
  void load(FieldReader reader) {
    count = reader.count();
    long bytes = reader.totalLengthBytes();
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("Cannot load " + count + " values of field '"
          + field.name() + "' into a batch: they have " + bytes
          + " bytes, and a buffer has at most "
          + Integer.MAX_VALUE + "; make batches smaller");
    }
    if (data.capacity() < bytes) {
      int room = (int) Math.min(Integer.MAX_VALUE, bytes + (bytes >> 2));
      data = ByteBuffer.allocateDirect(room).order(ByteOrder.LITTLE_ENDIAN);
    }
    if (ends.length < count) {
      ends = new int[count];
      absent = new boolean[count];
    }
    hasAbsent = reader.hasAbsent();
    int width = field.valueWidthBytes().orElse(-1);
    int end = 0;
    for (int i = 0; i < count; i++) {
      end += width >= 0 ? width : reader.lengthBytes(i);
      ends[i] = end;
    }
    for (int i = 0; i < count; i++) {
      absent[i] = hasAbsent && reader.isAbsent(i);
    }
    reader.copyAll(data.clear());
    data.flip();
  }

  /** All values; a view that later batches write to as well. */
  ByteBuffer data() {
    return data.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  int start(int i) {
    return i == 0 ? 0 : ends[i - 1];
  }

  int end(int i) {
    return ends[i];
  }

  boolean isAbsent(int i) {
    return absent[i];
  }

  boolean hasAbsent() {
    return hasAbsent;
  }

  int lengthBytes() {
    return count == 0 ? 0 : ends[count - 1];
  }
}
