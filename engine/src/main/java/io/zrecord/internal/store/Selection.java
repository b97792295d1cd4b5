package io.zrecord.internal.store;

import java.nio.ByteBuffer;

/** Values of a field that were selected, as {@link io.zrecord.scan.FieldReader} hands them out. Belongs to one thread. */
interface Selection {
  int count();

  boolean hasAbsent();

  boolean isAbsent(int i);

  int lengthBytes(int i);

  long totalLengthBytes();

  /** Copies a value to a position, which stays; returns its length. */
  int copy(int i, ByteBuffer target, int at);

  /** Copies a value into an array; returns its length. */
  int copy(int i, byte[] target, int offset);

  /** Copies all values to a position, which stays. */
  void copyAll(ByteBuffer target, int at);

  /** A read-only view, of the file if possible. */
  ByteBuffer view(int i);
}
