package io.zrecord.internal.io;

import io.zrecord.errors.StoreLockedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * A lock that one process holds, and in it one object. The system releases it when the process dies, however it dies, so there are no
 * stale locks to be recognized; the file says who the holder is or was. A lock of the system belongs to the process and is lost when any
 * channel on the file is closed: this class is the only one that opens it, and never while this process holds the lock. Thread-safe.
 */
public final class ProcessLock implements AutoCloseable {
  /** In the system properties, so that the classes of several class loaders know of each other. */
  private static final String HELD = "io.zrecord.locked:";

  private static final int MAX_HOLDER_BYTES = 256;

  private final Path path;
  private final FileChannel channel;
  private final FileLock lock;

  private ProcessLock(Path path, FileChannel channel, FileLock lock) {
    this.path = path;
    this.channel = channel;
    this.lock = lock;
  }

  /**
   * Takes the lock.
   *
   * @param directory where the file {@code lock} stands; it must exist
   * @throws StoreLockedException if another holds it; the message says who
   */
  public static ProcessLock acquire(Path directory) {
    Path path;
    try {
      path = directory.toRealPath().resolve("lock");
    } catch (IOException e) {
      throw FileErrors.of("lock", directory, e);
    }
    if (System.getProperties().putIfAbsent(HELD + path, "true") != null) {
      throw locked(path, "this process");
    }
    ProcessLock held = null;
    try {
      held = open(path);
      return held;
    } catch (IOException e) {
      throw FileErrors.of("lock", path, e);
    } finally {
      if (held == null) {
        System.getProperties().remove(HELD + path);
      }
    }
  }

  private static ProcessLock open(Path path) throws IOException {
    FileChannel channel = FileChannel.open(
        path,
        Set.of(
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS));
    boolean taken = false;
    try {
      FileLock lock = channel.tryLock();
      if (lock == null) {
        throw locked(path, holder(channel));
      }
      byte[] text = self().getBytes(StandardCharsets.UTF_8);
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(text), 0);
      taken = true;
      return new ProcessLock(path, channel, lock);
    } catch (OverlappingFileLockException e) {
      // Closing the channel would take the lock from who has it.
      taken = true;
      throw locked(path, "this process, through another class loader,");
    } finally {
      if (!taken) {
        channel.close();
      }
    }
  }

  private static String self() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      host = "this host";
    }
    return "process " + ProcessHandle.current().pid() + " on " + host;
  }

  private static String holder(FileChannel channel) throws IOException {
    ByteBuffer text = ByteBuffer.allocate(MAX_HOLDER_BYTES);
    int length = channel.read(text, 0);
    return length <= 0
        ? "another process"
        : new String(text.array(), 0, length, StandardCharsets.UTF_8).replaceAll("[^ -~]", "?");
  }

  private static StoreLockedException locked(Path path, String holder) {
    return new StoreLockedException(
        path.toString(),
        "Cannot open " + path.getParent() + " for writing: " + holder
            + " has it open. A store has one writer; close it there, or read from here");
  }

  @Override
  public void close() {
    if (lock.isValid()) {
      try {
        lock.release();
        channel.close();
      } catch (IOException e) {
        throw FileErrors.of("unlock", path, e);
      } finally {
        System.getProperties().remove(HELD + path);
      }
    }
  }
}
