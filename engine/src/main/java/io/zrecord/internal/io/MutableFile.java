package io.zrecord.internal.io;

import java.nio.ByteBuffer;

/**
 * A file that is changed in place: written by position, mapped, forced, cut. Thread-safe, as far as writers keep to parts of their
 * own; an interrupt of one thread does not hurt the others.
 */
public interface MutableFile extends AutoCloseable {

  /** Full path, for messages. */
  String path();

  long lengthBytes();

  /** Writes what remains of the source to a position, at or behind the end if need be. */
  void write(long position, ByteBuffer source);

  /** Fills what remains of the target from a position, or up to the end of the file; returns the bytes read. */
  int read(long position, ByteBuffer target);

  /** Makes the file shorter, or longer by zeros that take no space yet. */
  void setLength(long lengthBytes);

  /**
   * Makes content and length survive power loss, what was changed through maps included. After a failure the file is of no use for
   * writing any more: the system may have marked pages clean that never reached the medium.
   */
  void force();

  /**
   * A little-endian view of {@code [position, position + lengthBytes)}, which must exist and have space. Changes are seen by all
   * processes that map the file at once, and are durable after {@link #force}. Stays valid when the file is closed.
   *
   * @param lengthBytes at most 2³⁰
   */
  ByteBuffer map(long position, int lengthBytes, boolean writable);

  @Override
  void close();
}
