package io.zrecord.storage;

import java.nio.ByteBuffer;

/**
 * A file being written, from beginning to end. The file is whole once {@link #finish} returned.
 * Belongs to one thread.
 */
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

  /**
   * Makes the content survive power loss, where the storage can do that before the file ends. After
   * a failure the file must not be used any more.
   */
  void force();

  /**
   * Ends the file and closes it. A storage of objects makes the file visible, and durable, with
   * this call.
   */
  default void finish() {
    close();
  }

  /**
   * Closes the file. A file that was not finished is given up: a storage of objects makes nothing
   * of it visible, other storages may leave a part. Does nothing after {@link #finish}, or another
   * close.
   */
  @Override
  void close();
}
