package io.zrecord.read;

import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;

/**
 * Reads values of one field. First select records, a range or any list of indices; then take their
 * values, in the order of the selection, as often as wanted. {@code i} counts within the selection.
 * Values are verified as the dataset's {@link Verification} says. A range equals a gather of
 * consecutive indices, but is cheaper. Belongs to one thread.
 */
public interface FieldReader {

  FieldSpec field();

  /**
   * Selects consecutive records, replacing the selection.
   *
   * @param maxCount at most this many, > 0
   * @param maxBytes at most this many stored bytes, but always at least one record
   * @return how many were selected
   * @throws IndexOutOfBoundsException if {@code [firstIndex, firstIndex + maxCount)} is not within
   *     the dataset
   */
  int selectRange(long firstIndex, int maxCount, long maxBytes);

  /**
   * Selects {@code indices[from, from + count)} in this order, replacing the selection; duplicates
   * are allowed.
   */
  void select(long[] indices, int from, int count);

  /** Returns the number of selected values. */
  int count();

  /** Tells whether any selected value is absent. */
  boolean hasAbsent();

  boolean isAbsent(int i);

  /** Returns the logical length of a value in bytes; 0 if absent. */
  int lengthBytes(int i);

  /**
   * Returns the sum of the logical bytes. In a field of fixed width an absent value counts with its
   * width.
   */
  long totalLengthBytes();

  /** Returns a copy of the value; empty if absent. */
  byte[] value(int i);

  /** Copies a value and returns the value's length. */
  int copyValue(int i, byte[] destination, int offset);

  /**
   * Copies all values one after another, {@link #totalLengthBytes} bytes in all. In a field of
   * fixed width an absent value is copied as its width of zero bytes. In other fields an absent
   * value adds nothing.
   */
  void copyAll(byte[] destination, int offset);

  /**
   * Copies all values to the buffer's position, which then is after the last byte. The buffer may
   * be direct.
   */
  void copyAll(ByteBuffer destination);

  /**
   * Returns the value without a copy if the value is raw and lies in one mapped window, otherwise
   * in a buffer of its own. Read-only, little-endian. Valid as long as the buffer is referenced.
   *
   * <p>Never hand the buffer to checksums, codecs or native code ({@code CRC32C.update},
   * {@code Inflater.setInput}, JNI): if the file is cut meanwhile, they kill the process. Copy the
   * value first, by {@link #value} or {@link #copyAll}; a plain read of a cut file throws
   * {@link InternalError}.
   */
  ByteBuffer view(int i);
}
