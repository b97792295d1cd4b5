package io.zrecord.internal.io;

import io.zrecord.errors.FileErrors;
import io.zrecord.errors.StorageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * A file being appended to. After the first failed {@link #force} the file refuses further use: the
 * kernel may have marked pages clean that never reached the medium. Belongs to one thread.
 */
public final class AppendFile implements AutoCloseable {
  private static final int MAX_BUFFERS = 512;

  private final Path path;
  private final FileChannel channel;
  private long positionBytes;
  private boolean forceFailed;

  public AppendFile(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  public long positionBytes() {
    return positionBytes;
  }

  /** Appends the remaining bytes of all buffers, in order. */
  public void write(ByteBuffer... buffers) {
    requireUsable("write to");
    int next = 0;
    try {
      while (next < buffers.length) {
        if (!buffers[next].hasRemaining()) {
          next++;
        } else if (buffers[next].remaining() > WriteStep.BYTES) {
          writeSteps(buffers[next]);
        } else {
          int end = next;
          int bytes = 0;
          while (end < buffers.length
              && end - next < MAX_BUFFERS
              && buffers[end].remaining() <= WriteStep.BYTES - bytes) {
            bytes += buffers[end].remaining();
            end++;
          }
          positionBytes += channel.write(buffers, next, end - next);
        }
      }
    } catch (IOException e) {
      throw FileErrors.of("write to", path, e);
    }
  }

  private void writeSteps(ByteBuffer buffer) throws IOException {
    int end = buffer.limit();
    try {
      while (buffer.position() < end) {
        buffer.limit(buffer.position() + Math.min(end - buffer.position(), WriteStep.BYTES));
        positionBytes += channel.write(buffer);
      }
    } finally {
      buffer.limit(end);
    }
  }

  /** Makes the content and the length survive power loss. */
  public void force() {
    requireUsable("force");
    try {
      // Metadata too: the length is part of the content of a file that grew.
      channel.force(true);
    } catch (IOException e) {
      forceFailed = true;
      throw FileErrors.of("force", path, e);
    }
  }

  private void requireUsable(String action) {
    if (forceFailed) {
      throw new StorageException(
          path.toString(),
          "Cannot " + action + " " + path
              + ": a force failed before, and what reached the medium is unknown. Write a new file");
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw FileErrors.of("close", path, e);
    }
  }
}
