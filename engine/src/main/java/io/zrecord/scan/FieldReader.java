package io.zrecord.scan;

import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;

/**
 * Reads values of one field. First a selection is made, a range or any list of indices; then its values are taken, in the order
 * of the selection, as often as wanted. {@code i} counts within the selection. Values are verified as the dataset's {@link
 * Verification} says. A range is a gather of consecutive indices, and cheaper. Belongs to one thread.
 */
public interface FieldReader {

  FieldSpec field();

  /**
   * Selects consecutive records, replacing the selection.
   *
   * @param maxCount at most this many, > 0
   * @param maxBytes at most this many stored bytes, but always at least one record
   * @return how many were selected
   * @throws IndexOutOfBoundsException if {@code [firstIndex, firstIndex + maxCount)} is not within the dataset
   */
  int selectRange(long firstIndex, int maxCount, long maxBytes);

  /** Selects {@code indices[from, from + count)} in this order, replacing the selection; duplicates are allowed. */
  void select(long[] indices, int from, int count);

  /** Values selected. */
  int count();

  /** Whether any selected value is absent. */
  boolean hasAbsent();

  boolean isAbsent(int i);

  /** Logical bytes of a value; 0 if absent. */
  int lengthBytes(int i);

  /** Sum of the logical bytes; for a field of fixed width an absent value counts with its width. */
  long totalLengthBytes();

  /** A copy of the value; empty if absent. */
  byte[] value(int i);

  /** Copies a value; returns its length. */
  int copyValue(int i, byte[] destination, int offset);

  /**
   * Copies all values one after the other. In a field of fixed width an absent value is that many zero bytes; otherwise it adds
   * nothing. {@link #totalLengthBytes} bytes are written.
   */
  void copyAll(byte[] destination, int offset);

  /** The same, to the buffer's position, which moves behind the last byte. The caller's buffer may be direct. */
  void copyAll(ByteBuffer destination);

  /**
   * The value without a copy where it is raw and lies in one mapped window, else in a buffer of its own. Read-only,
   * little-endian; stays valid as long as it is referenced.
   *
   * <p>Never hand it to checksums, codecs or native code ({@code CRC32C.update}, {@code Inflater.setInput}, JNI): if the file is cut
   * meanwhile, they kill the process. Copy it first, by {@link #value} or {@link #copyAll}; a plain read then throws {@link InternalError}.
   */
  ByteBuffer view(int i);
}
