package io.zrecord.sharing;

import io.zrecord.errors.FileErrors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file in memory that two processes map, such as {@code /dev/fd/5} of the process that started
 * this one. The file only grows. Every byte is written before it is mapped, so a full memory is an
 * exception here, and not the death of the process that first touches a page. Mapped memory stays
 * mapped as long as it is referenced. Thread-safe.
 */
public final class SharedFile {
  private static final int ZEROS_BYTES = 1 << 20;

  private final Path path;
  private final FileChannel channel;

  private SharedFile(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /**
   * Opens an existing file and empties it.
   *
   * @throws io.zrecord.errors.StorageException if the file cannot be opened for reading and writing
   */
  public static SharedFile open(Path path) {
    try {
      return new SharedFile(
          path,
          FileChannel.open(
              path,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE,
              StandardOpenOption.TRUNCATE_EXISTING));
    } catch (IOException e) {
      throw FileErrors.of("share memory by", path, e);
    }
  }

  /**
   * Lengthens the file.
   *
   * @return position of the new bytes
   * @throws io.zrecord.errors.DiskFullException if there is no room
   */
  public synchronized long grow(long bytes) {
    try {
      long before = channel.size();
      ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(bytes, ZEROS_BYTES));
      for (long at = before; at < before + bytes; ) {
        zeros.clear().limit((int) Math.min(before + bytes - at, zeros.capacity()));
        at += channel.write(zeros, at);
      }
      return before;
    } catch (IOException e) {
      throw FileErrors.of("enlarge by " + bytes + " bytes", path, e);
    }
  }

  /** Maps a part of the file for reading and writing, little-endian. */
  public ByteBuffer map(long at, int lengthBytes) {
    try {
      return channel
          .map(FileChannel.MapMode.READ_WRITE, at, lengthBytes)
          .order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw FileErrors.of("map", path, e);
    }
  }
}
