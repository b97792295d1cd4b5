package io.zrecord.internal.io;

import io.zrecord.errors.FileErrors;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file with one channel. The channel is opened again after an interrupt closed it: the operation
 * of an interrupted thread runs to its end, and the interrupt is kept for later. If another file
 * has the name by then, the operation fails.
 */
final class LocalMutableFile implements MutableFile {
  private final Path path;
  private final boolean writable;
  private final Runnable onReopening;

  /** Tells files of the same name apart; null where that cannot be told. */
  private final @Nullable Object key;

  private volatile FileChannel channel;
  private volatile boolean isClosed;
  private volatile boolean forceFailed;

  /** An operation on the channel. */
  private interface Action<T> {
    T on(FileChannel channel) throws IOException;
  }

  private LocalMutableFile(
      Path path,
      boolean writable,
      @Nullable Object key,
      FileChannel channel,
      Runnable onReopening) {
    this.path = path;
    this.writable = writable;
    this.key = key;
    this.channel = channel;
    this.onReopening = onReopening;
  }

  /**
   * Opens a file.
   *
   * @param onReopening throws if the name may lead to another file by now
   */
  static LocalMutableFile open(Path path, boolean writable, Runnable onReopening) {
    Object key = key(path);
    return new LocalMutableFile(path, writable, key, open(path, writable), onReopening);
  }

  /** Takes over a file that was just created. If that fails, the channel is closed. */
  static LocalMutableFile created(Path path, FileChannel channel, Runnable onReopening) {
    boolean isTaken = false;
    try {
      Object key = key(path);
      isTaken = true;
      return new LocalMutableFile(path, true, key, channel, onReopening);
    } finally {
      if (!isTaken) {
        close(channel, path);
      }
    }
  }

  @Override
  public String path() {
    return path.toString();
  }

  @Override
  public long lengthBytes() {
    return run("look at", FileChannel::size);
  }

  @Override
  public void write(long position, ByteBuffer source) {
    requireForceable();
    int start = source.position();
    int end = source.limit();
    run("write to", file -> {
      source.limit(end).position(start);
      long at = position;
      while (source.position() < end) {
        source.limit(source.position() + Math.min(end - source.position(), WriteStep.BYTES));
        at += file.write(source, at);
      }
      return at;
    });
  }

  @Override
  public int read(long position, ByteBuffer target) {
    int start = target.position();
    return run("read", file -> {
      target.position(start);
      int done = 0;
      while (target.hasRemaining()) {
        int step = file.read(target, position + done);
        if (step < 0) {
          break;
        }
        done += step;
      }
      return done;
    });
  }

  @Override
  public void setLength(long lengthBytes) {
    requireForceable();
    run("change the length of", file -> {
      long length = file.size();
      if (lengthBytes < length) {
        file.truncate(lengthBytes);
      } else if (lengthBytes > length) {
        file.write(ByteBuffer.allocate(1), lengthBytes - 1);
      }
      return length;
    });
  }

  @Override
  public void force() {
    requireForceable();
    try {
      run("force", file -> {
        file.force(true);
        return true;
      });
    } catch (RuntimeException e) {
      forceFailed = true;
      throw e;
    }
  }

  @Override
  public ByteBuffer map(long position, int lengthBytes, boolean mapsWritable) {
    return run("map", file -> {
      long length = file.size();
      if (position + lengthBytes > length) {
        throw new TruncatedFileException(
            path(),
            "Cannot map bytes " + position + " to " + (position + lengthBytes) + " of " + path
                + ": it has only " + length + " bytes. It was cut; restore it from a copy");
      }
      return MapBudget.map(file, path, position, lengthBytes, mapsWritable);
    });
  }

  @Override
  public void close() {
    isClosed = true;
    close(channel, path);
  }

  private static void close(FileChannel channel, Path path) {
    try {
      channel.close();
    } catch (IOException e) {
      throw FileErrors.of("close", path, e);
    }
  }

  private void requireForceable() {
    if (forceFailed) {
      throw new StorageException(
          path(),
          "Cannot write to " + path
              + ": a force failed before, and what reached the medium is unknown. Close the store and open it again");
    }
  }

  private static FileChannel open(Path path, boolean writable) {
    Set<OpenOption> options = new HashSet<>();
    options.add(StandardOpenOption.READ);
    options.add(LinkOption.NOFOLLOW_LINKS);
    if (writable) {
      options.add(StandardOpenOption.WRITE);
    }
    try {
      return FileChannel.open(path, options);
    } catch (IOException e) {
      throw FileErrors.of("open", path, e);
    }
  }

  private <T> T run(String action, Action<T> work) {
    boolean interrupted = false;
    try {
      while (true) {
        FileChannel current = channel;
        try {
          return work.on(current);
        } catch (ClosedChannelException e) {
          // Caused by an interrupt of this thread, or of another thread that was using the channel.
          interrupted |= Thread.interrupted() || e instanceof ClosedByInterruptException;
          if (isClosed) {
            throw FileErrors.of(action, path, e);
          }
          reopen(current);
        }
      }
    } catch (IOException e) {
      throw FileErrors.of(action, path, e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private synchronized void reopen(FileChannel closed) {
    if (channel == closed) {
      FileChannel opened = open(path, writable);
      // After it is open, as a file that takes its place later does not matter. Before another
      // thread can see it.
      requireSameFile(opened);
      channel = opened;
    }
  }

  /**
   * Requires the file that was open before. The key alone does not tell: file systems give the
   * number of a deleted file to the next one. A channel that was closed does not keep the number.
   */
  private void requireSameFile(FileChannel opened) {
    boolean isSame = false;
    try {
      if (!Objects.equals(key(path), key)) {
        throw new StorageException(
            path(),
            "Cannot go on with " + path
                + ": another file has taken its place since it was opened. Open the dataset again");
      }
      onReopening.run();
      isSame = true;
    } finally {
      if (!isSame) {
        isClosed = true;
        close(opened, path);
      }
    }
  }

  private static @Nullable Object key(Path path) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
          .fileKey();
    } catch (IOException e) {
      throw FileErrors.of("look at", path, e);
    }
  }
}
