package io.zrecord.serving;

import io.zrecord.errors.FileErrors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Memory that another process fills, as a file that both have open. It is read, not mapped: another
 * process that cuts the file gets an error, and does not end this one.
 */
final class SharedInput implements AutoCloseable {
  private final Path path;
  private final FileChannel channel;

  private SharedInput(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /**
   * Opens a file that is there.
   *
   * @throws io.zrecord.errors.StorageException if it cannot be read
   */
  static SharedInput open(Path path) {
    try {
      return new SharedInput(path, FileChannel.open(path, StandardOpenOption.READ));
    } catch (IOException e) {
      throw FileErrors.of("share memory by", path, e);
    }
  }

  /**
   * Copies bytes.
   *
   * @param target takes them from its beginning
   * @throws IllegalArgumentException if the memory has not all of them
   */
  void read(long at, int lengthBytes, byte[] target) {
    try {
      if (at < 0 || lengthBytes < 0 || at > channel.size() - lengthBytes) {
        throw beyond(at, lengthBytes);
      }
      ByteBuffer rest = ByteBuffer.wrap(target, 0, lengthBytes);
      while (rest.hasRemaining()) {
        if (channel.read(rest, at + rest.position()) < 0) {
          throw beyond(at, lengthBytes);
        }
      }
    } catch (IOException e) {
      throw FileErrors.of("read", path, e);
    }
  }

  private IllegalArgumentException beyond(long at, int lengthBytes) throws IOException {
    return new IllegalArgumentException("A frame names " + lengthBytes + " bytes at " + at
        + " of a shared memory of " + channel.size() + " bytes; name bytes within it");
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
