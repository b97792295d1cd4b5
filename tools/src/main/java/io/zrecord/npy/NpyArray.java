package io.zrecord.npy;

import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import io.zrecord.storage.ReadableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The records of an {@code .npy} file: the first axis counts records, the other axes are the shape
 * of a value. The file is mapped, not loaded. Blocks of records are copied out in C order and
 * little-endian. Belongs to one thread.
 */
final class NpyArray {
  private static final int WINDOW_BYTES = 1 << 30;
  /**
   * Limit for records without bytes: the file cannot prove their number, so a header of 128 bytes
   * could ask for any number.
   */
  private static final int MAX_EMPTY_RECORDS = 1 << 24;

  private final String path;
  private final NpyType type;
  private final boolean isFortranOrder;
  private final long recordCount;
  private final int[] dimensions;
  private final int elementsPerRecord;
  private final int recordBytes;
  private final List<ByteBuffer> windows = new ArrayList<>();

  private NpyArray(String path, NpyHeader header, NpyType type) {
    this.path = path;
    this.type = type;
    this.recordCount = header.shape().get(0);
    this.dimensions = new int[header.shape().size() - 1];
    int elements = 1;
    try {
      for (int i = 0; i < dimensions.length; i++) {
        dimensions[i] = Math.toIntExact(header.shape().get(i + 1));
        elements = Math.multiplyExact(elements, dimensions[i]);
      }
      this.recordBytes = Math.multiplyExact(elements, type.itemBytes());
    } catch (ArithmeticException e) {
      throw unsupported(
          "the values of shape " + header.shape().subList(1, header.shape().size())
              + " have more than 2147483647 bytes or elements; reshape the array");
    }
    this.elementsPerRecord = elements;
    // With one axis, or values of one element, both orders are the same.
    this.isFortranOrder = header.isFortranOrder() && elements > 1;
  }

  static NpyArray open(ReadableFile file) {
    NpyHeader header = NpyHeaderReader.read(file);
    String path = file.path();
    NpyType type = NpyType.parse(path, header.description());
    if (header.shape().isEmpty()) {
      throw new UnsupportedFormatException(
          path,
          "Cannot import " + path + ": an array without axes has no records; reshape it to (1,)");
    }
    NpyArray array = new NpyArray(path, header, type);
    if (type.isSingle() && header.shape().size() > 1) {
      throw array.unsupported("arrays of dtype '" + header.description()
          + "' are imported with one axis only, but it has " + header.shape().size()
          + "; save its columns as arrays of their own");
    }
    array.map(file, header.dataOffset());
    return array;
  }

  private void map(ReadableFile file, long dataOffset) {
    long available = file.lengthBytes() - dataOffset;
    if (recordBytes > 0 && available / recordBytes < recordCount) {
      throw new TruncatedFileException(
          path,
          "Cannot import " + path + ": " + recordCount + " records of " + recordBytes
              + " bytes do not fit in the " + available + " bytes after its header; save it again");
    }
    if (recordBytes == 0 && recordCount > MAX_EMPTY_RECORDS) {
      throw unsupported("it claims " + recordCount + " records without a byte; at most "
          + MAX_EMPTY_RECORDS + " are imported");
    }
    long dataBytes = recordCount * recordBytes;
    for (long position = 0; position < dataBytes; position += WINDOW_BYTES) {
      windows.add(
          file.region(dataOffset + position, (int) Math.min(WINDOW_BYTES, dataBytes - position)));
    }
  }

  NpyType type() {
    return type;
  }

  long recordCount() {
    return recordCount;
  }

  /** Returns the length in bytes of a record in a block. */
  int recordBytes() {
    return recordBytes;
  }

  /** Returns the field for this array. */
  FieldSpec field(int id, String name) {
    List<Integer> shape = new ArrayList<>();
    for (int dimension : dimensions) {
      shape.add(dimension);
    }
    shape.addAll(type.trailingDimensions());
    try {
      return new FieldSpec(id, name, type.element(), new Shape(shape), Compression.RAW);
    } catch (IllegalArgumentException e) {
      throw unsupported(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Copies {@code count} records to the beginning of the block, each in C order and with
   * little-endian numbers.
   */
  void read(long firstRecord, int count, byte[] block) {
    int bytes = count * recordBytes;
    if (isFortranOrder) {
      transpose(firstRecord, count, block);
    } else {
      copy(firstRecord * recordBytes, block, 0, bytes);
    }
    if (type.swapBytes() > 1) {
      swap(block, bytes, type.swapBytes());
    }
  }

  /**
   * Copies records of a file in Fortran order. The file has all records of the first element, then
   * all records of the second, and the first of the other axes runs fastest. For a block, each
   * element is one run, whose numbers are scattered to their places in C order.
   */
  private void transpose(long firstRecord, int count, byte[] block) {
    int item = type.itemBytes();
    byte[] run = new byte[count * item];
    int[] place = new int[dimensions.length];
    int[] strides = new int[dimensions.length];
    int stride = 1;
    for (int axis = dimensions.length - 1; axis >= 0; axis--) {
      strides[axis] = stride;
      stride *= dimensions[axis];
    }
    int element = 0;
    for (int n = 0; n < elementsPerRecord; n++) {
      copy((n * recordCount + firstRecord) * item, run, 0, run.length);
      scatter(run, block, element * item, count);
      for (int axis = 0; axis < dimensions.length; axis++) {
        element += strides[axis];
        if (++place[axis] < dimensions[axis]) {
          break;
        }
        element -= strides[axis] * dimensions[axis];
        place[axis] = 0;
      }
    }
  }

  private void scatter(byte[] run, byte[] block, int offset, int count) {
    int item = type.itemBytes();
    int to = offset;
    int from = 0;
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < item; k++) {
        block[to + k] = run[from + k];
      }
      from += item;
      to += recordBytes;
    }
  }

  private static void swap(byte[] block, int bytes, int width) {
    for (int start = 0; start + width <= bytes; start += width) {
      for (int low = start, high = start + width - 1; low < high; low++, high--) {
        byte kept = block[low];
        block[low] = block[high];
        block[high] = kept;
      }
    }
  }

  private void copy(long position, byte[] target, int offset, int length) {
    long from = position;
    int to = offset;
    int left = length;
    while (left > 0) {
      ByteBuffer window = windows.get((int) (from / WINDOW_BYTES));
      int inWindow = (int) (from % WINDOW_BYTES);
      int part = Math.min(left, window.capacity() - inWindow);
      window.get(inWindow, target, to, part);
      from += part;
      to += part;
      left -= part;
    }
  }

  private UnsupportedFormatException unsupported(String reason) {
    return new UnsupportedFormatException(path, "Cannot import " + path + ": " + reason);
  }
}
