package io.zrecord.internal.io;

import java.nio.ByteBuffer;

/**
 * A file that is changed in place: written by position, mapped, forced, cut. Thread-safe as long as
 * writers keep to parts of their own. An interrupt of one thread does not hurt the others.
 */
public interface MutableFile extends AutoCloseable {

  /** Returns the full path, for messages. */
  String path();

  long lengthBytes();

  /** Writes the remaining bytes of the source to a position, which may be at or after the end. */
  void write(long position, ByteBuffer source);

  /**
   * Fills the target from a position, or up to the end of the file. Returns the number of bytes
   * read.
   */
  int read(long position, ByteBuffer target);

  /** Shortens the file, or lengthens it by zeros that take no space yet. */
  void setLength(long lengthBytes);

  /**
   * Makes content and length survive power loss, changes through maps included. After a failure the
   * file must not be written any more: the system may have marked pages clean that never reached
   * the medium.
   */
  void force();

  /**
   * Returns a little-endian view of {@code [position, position + lengthBytes)}, which must exist
   * and have space. All processes that map the file see changes at once. Changes are durable after
   * {@link #force}. The view stays valid when the file is closed.
   *
   * @param lengthBytes at most 2³⁰
   */
  ByteBuffer map(long position, int lengthBytes, boolean writable);

  @Override
  void close();
}
