package io.zrecord.storage;

import java.nio.ByteBuffer;

/** A file being written, from its beginning to its end. Belongs to one thread. */
public interface WritableFile extends AutoCloseable {

  /** Full path, for messages. */
  String path();

  /** Bytes written so far: where the next byte goes. */
  long positionBytes();

  /**
   * Appends the remaining bytes of all buffers, in order.
   *
   * @throws io.zrecord.errors.DiskFullException if there is no space
   */
  void write(ByteBuffer... buffers);

  /** Makes the content survive power loss. After a failure this file must not be used any more. */
  void force();

  @Override
  void close();
}
