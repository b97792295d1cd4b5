package io.zrecord.storage;

import java.nio.ByteBuffer;

/** A file being written, from beginning to end. Belongs to one thread. */
public interface WritableFile extends AutoCloseable {

  /** Returns the full path, for messages. */
  String path();

  /** Returns the number of bytes written so far, which is where the next byte goes. */
  long positionBytes();

  /**
   * Appends the remaining bytes of all buffers, in order.
   *
   * @throws io.zrecord.errors.DiskFullException if there is no space
   */
  void write(ByteBuffer... buffers);

  /** Makes the content survive power loss. After a failure the file must not be used any more. */
  void force();

  @Override
  void close();
}
