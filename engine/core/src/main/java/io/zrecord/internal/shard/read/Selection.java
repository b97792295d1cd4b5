package io.zrecord.internal.shard.read;

import java.nio.ByteBuffer;

/**
 * Selected values of a field, as {@link io.zrecord.read.FieldReader} hands them out. Belongs to one
 * thread.
 */
interface Selection {
  int count();

  boolean hasAbsent();

  boolean isAbsent(int i);

  int lengthBytes(int i);

  long totalLengthBytes();

  /**
   * Copies a value to {@code at}, without moving the buffer's position. Returns the value's length.
   */
  int copy(int i, ByteBuffer target, int at);

  /** Copies a value into an array. Returns the value's length. */
  int copy(int i, byte[] target, int offset);

  /** Copies all values to {@code at}, without moving the buffer's position. */
  void copyAll(ByteBuffer target, int at);

  /** Returns a read-only view of a value, of the file itself if possible. */
  ByteBuffer view(int i);
}
