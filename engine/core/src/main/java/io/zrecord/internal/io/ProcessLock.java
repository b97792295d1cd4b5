package io.zrecord.internal.io;

import io.zrecord.errors.FileErrors;
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
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The lock of the one process that writes to a directory, and in that process of one object. The
 * system releases the lock when the process dies in any way, so there are no stale locks to
 * recognize. The lock's file says who the holder is or was. A writer locks the first byte before
 * writing, and the second byte once it has recovered what was there and lets readers in.
 *
 * <p>A lock of the system belongs to the process and is lost when any channel on the file is
 * closed. So only this class opens the file, and never while this process holds the lock.
 * Thread-safe.
 */
public final class ProcessLock implements AutoCloseable {
  /**
   * Prefix of system properties, through which the classes of several class loaders know of each
   * other.
   */
  private static final String HELD = "io.zrecord.locked:";

  private static final long WRITER_AT = 0;
  private static final long READY_AT = 1;
  private static final int MAX_HOLDER_BYTES = 256;

  /** Attempts to lock. Readers lock the file for moments to see whether there is a writer. */
  private static final int ATTEMPTS = 15;

  private static final long PAUSE_NANOS = 20_000_000;

  private final Path path;
  private final FileChannel channel;
  private final FileLock lock;
  private volatile @Nullable FileLock ready;

  /** The writer of a directory. */
  public enum Writer {
    /** No writer. */
    NONE,
    /** A writer that is still recovering what was there. */
    STARTING,
    /** A writer that lets readers in. */
    READY,
    /** Unknown, because a reader of this process is looking. */
    UNKNOWN
  }

  private ProcessLock(Path path, FileChannel channel, FileLock lock) {
    this.path = path;
    this.channel = channel;
    this.lock = lock;
  }

  /**
   * Takes the lock.
   *
   * @param directory the directory of the file {@code lock}; it must exist
   * @throws StoreLockedException if another writer holds the lock; the message says who
   */
  public static ProcessLock acquire(Path directory) {
    Path path = file(directory);
    for (int attempt = 1; ; attempt++) {
      try {
        return tryAcquire(path);
      } catch (StoreLockedException e) {
        if (attempt == ATTEMPTS || Writer.READY.name().equals(System.getProperty(HELD + path))) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  private static Path file(Path directory) {
    try {
      return directory.toRealPath().resolve("lock");
    } catch (IOException e) {
      throw FileErrors.of("lock", directory, e);
    }
  }

  private static ProcessLock tryAcquire(Path path) {
    if (System.getProperties().putIfAbsent(HELD + path, Writer.STARTING.name()) != null) {
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
      FileLock lock = channel.tryLock(WRITER_AT, 1, false);
      if (lock == null) {
        throw locked(path, holder(channel));
      }
      byte[] text = self().getBytes(StandardCharsets.UTF_8);
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(text), 0);
      taken = true;
      return new ProcessLock(path, channel, lock);
    } catch (OverlappingFileLockException e) {
      // Closing the channel would take the lock from its holder.
      taken = true;
      throw locked(path, "this process, through another class loader,");
    } finally {
      if (!taken) {
        channel.close();
      }
    }
  }

  /** Tells readers that they may trust the holder's publications. */
  public void setReady() {
    try {
      ready = channel.lock(READY_AT, 1, false);
      System.getProperties().put(HELD + path, Writer.READY.name());
    } catch (IOException e) {
      throw FileErrors.of("lock", path, e);
    }
  }

  /** Determines the current writer of a directory. */
  public static Writer writer(Path directory) {
    Path path = file(directory);
    Object held = System.getProperties().putIfAbsent(HELD + path, Writer.UNKNOWN.name());
    if (held != null) {
      return Writer.valueOf(held.toString());
    }
    try (FileChannel channel =
        FileChannel.open(path, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      // In this order: a writer that becomes ready in between is found.
      if (isFree(channel, WRITER_AT)) {
        return Writer.NONE;
      }
      return isFree(channel, READY_AT) ? Writer.STARTING : Writer.READY;
    } catch (NoSuchFileException e) {
      return Writer.NONE;
    } catch (IOException e) {
      throw FileErrors.of("look at", path, e);
    } finally {
      System.getProperties().remove(HELD + path);
    }
  }

  private static boolean isFree(FileChannel channel, long at) throws IOException {
    try (FileLock probe = channel.tryLock(at, 1, true)) {
      return probe != null;
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
      FileLock readiness = ready;
      try {
        if (readiness != null) {
          readiness.release();
        }
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
