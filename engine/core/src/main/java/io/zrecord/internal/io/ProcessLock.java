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
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * The lock of the one process that writes to a directory, and in that process of one object. The
 * system releases the lock when the process dies in any way, so there are no stale locks to
 * recognize. The lock's file says who the holder is or was. A writer locks the first byte before
 * writing. Readers never lock this byte: a reader that is stopped would keep writers out, and be
 * taken for one. For readers, a writer locks marks as well: eight bytes at once, and eight more
 * once it has recovered what was there and lets readers in (FORMAT.md section 21.2). A reader looks
 * at one mark after the other, so a reader that is stopped blocks one mark of a writer.
 *
 * <p>A lock of the system belongs to the process and is lost when any channel on the file is
 * closed, also by the collector of garbage. So only this class opens the file, and never while it
 * holds the lock. Each class loader of the process may have a class of this name, and a writer.
 * These classes open, lock and close one after the other, and none closes a channel while a writer
 * of another loader has the lock. Thread-safe.
 */
public final class ProcessLock implements AutoCloseable {
  /** The writers of this class loader, by path. */
  private static final Map<Path, Writer> HELD = new ConcurrentHashMap<>();

  /** The channels of these writers, which may have been forgotten without being closed. */
  private static final Set<FileChannel> HOLDING = ConcurrentHashMap.newKeySet();

  /**
   * Channels that stay open while a writer of another class loader has the lock, by file. Another
   * file may have the path when a store was deleted.
   */
  private static final Map<Object, FileChannel> LEFT_OPEN = new ConcurrentHashMap<>();

  /** Keeps {@link #LEFT_OPEN} when the application of this class loader ends. */
  private static final AtomicBoolean IS_KEPT = new AtomicBoolean();

  private static final String OTHER_LOADER = "this process, through another class loader,";
  private static final long WRITER_AT = 0;
  private static final long PRESENT_AT = 2;
  private static final long READY_AT = 10;
  private static final int MARKS = 8;
  private static final int MAX_HOLDER_BYTES = 256;

  /** Attempts to lock. Others lock for moments, to see whether there is a writer. */
  private static final int ATTEMPTS = 15;

  private static final long PAUSE_NANOS = 20_000_000;

  private final Path path;
  private final FileChannel channel;
  private final FileLock lock;

  /** The writer of a directory. */
  public enum Writer {
    /** No writer. */
    NONE,
    /** A writer that is still recovering what was there. */
    STARTING,
    /** A writer that lets readers in. */
    READY
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
    // Before it is this one's turn, because finding out the name of the host may take long.
    byte[] self = self().getBytes(StandardCharsets.UTF_8);
    for (int attempt = 1; ; attempt++) {
      try {
        return tryAcquire(path, self);
      } catch (StoreLockedException e) {
        if (attempt == ATTEMPTS || HELD.get(path) == Writer.READY) {
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

  /**
   * Returns what the classes of all loaders synchronize on to open, lock or close a file: of equal
   * texts, the process has one.
   */
  private static Object turn(Path path) {
    return ("io.zrecord lock " + path).intern();
  }

  private static ProcessLock tryAcquire(Path path, byte[] self) {
    synchronized (turn(path)) {
      if (HELD.putIfAbsent(path, Writer.STARTING) != null) {
        throw locked(path, "this process");
      }
      ProcessLock held = null;
      try {
        held = open(path, self);
        return held;
      } catch (IOException e) {
        throw FileErrors.of("lock", path, e);
      } finally {
        if (held == null) {
          HELD.remove(path);
        }
      }
    }
  }

  private static ProcessLock open(Path path, byte[] self) throws IOException {
    if (isHeldByOtherLoader(path)) {
      throw locked(path, OTHER_LOADER);
    }
    FileChannel channel = FileChannel.open(
        path,
        Set.of(
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS));
    boolean staysOpen = false;
    try {
      FileLock lock = channel.tryLock(WRITER_AT, 1, false);
      if (lock == null) {
        throw locked(path, holder(channel));
      }
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(self), 0);
      mark(path, channel, PRESENT_AT);
      staysOpen = true;
      HOLDING.add(channel);
      return new ProcessLock(path, channel, lock);
    } catch (OverlappingFileLockException e) {
      staysOpen = true;
      leaveOpen(keyOf(path), channel);
      throw locked(path, OTHER_LOADER);
    } finally {
      if (!staysOpen) {
        channel.close();
      }
    }
  }

  /**
   * Keeps a channel open: closing it would take the lock from a writer of another loader. The hook
   * does nothing, but the process reaches it, by it this class, and by this class the channel.
   */
  private static void leaveOpen(Object file, FileChannel channel) {
    LEFT_OPEN.put(file, channel);
    if (!IS_KEPT.getAndSet(true)) {
      try {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {}, "zrecord-locks"));
      } catch (IllegalStateException e) {
        // The process ends before its applications do.
      }
    }
  }

  /**
   * Locks the marks at which no reader is just looking.
   *
   * @throws StoreLockedException if readers are looking at all of them
   */
  private static void mark(Path path, FileChannel channel, long at) throws IOException {
    boolean isMarked = false;
    for (int mark = 0; mark < MARKS; mark++) {
      try {
        isMarked |= channel.tryLock(at + mark, 1, false) != null;
      } catch (OverlappingFileLockException e) {
        // A reader of another class loader is looking, by another path to the file.
      }
    }
    if (!isMarked) {
      throw new StoreLockedException(
          path.toString(),
          "Cannot open " + path.getParent() + " for writing: at least " + MARKS
              + " readers of other processes are looking for a writer, and do not go on. They were"
              + " stopped, most likely; let them go on, or end them");
    }
  }

  /**
   * Tells readers that they may trust the holder's publications.
   *
   * @throws StoreLockedException if readers that were stopped keep this from being told
   */
  public void setReady() {
    for (int attempt = 1; ; attempt++) {
      try {
        synchronized (turn(path)) {
          mark(path, channel, READY_AT);
        }
        HELD.put(path, Writer.READY);
        return;
      } catch (StoreLockedException e) {
        if (attempt == ATTEMPTS) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      } catch (IOException e) {
        throw FileErrors.of("lock", path, e);
      }
    }
  }

  /** Determines the current writer of a directory. */
  public static Writer writer(Path directory) {
    Path path = file(directory);
    Writer held = HELD.get(path);
    if (held != null) {
      return held;
    }
    synchronized (turn(path)) {
      held = HELD.get(path);
      if (held != null) {
        return held;
      }
      try {
        return probe(path);
      } catch (NoSuchFileException e) {
        return Writer.NONE;
      } catch (IOException e) {
        throw FileErrors.of("look at", path, e);
      }
    }
  }

  /** Returns what no other file has as long as this one is open. */
  private static Object keyOf(Path path) throws IOException {
    Object key = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
        .fileKey();
    return key == null ? path : key;
  }

  private static Writer probe(Path path) throws IOException {
    Object file = keyOf(path);
    FileChannel left = LEFT_OPEN.get(file);
    FileChannel channel = left != null
        ? left
        : FileChannel.open(path, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
    Look look = new Look(channel);
    try {
      // In this order: a writer that becomes ready in between is found.
      if (!look.isMarked(PRESENT_AT)) {
        return Writer.NONE;
      }
      return look.isMarked(READY_AT) ? Writer.READY : Writer.STARTING;
    } finally {
      if (look.isOfOtherLoader) {
        leaveOpen(file, channel);
      } else {
        LEFT_OPEN.remove(file);
        channel.close();
      }
    }
  }

  /** A look at the marks. */
  private static final class Look {
    private final FileChannel channel;

    /** Whether a writer of another class loader has locked a mark. */
    private boolean isOfOtherLoader;

    Look(FileChannel channel) {
      this.channel = channel;
    }

    /** Tells whether a writer has locked marks. */
    boolean isMarked(long at) throws IOException {
      for (int mark = 0; mark < MARKS; mark++) {
        try {
          if (!isFree(channel, at + mark)) {
            return true;
          }
        } catch (OverlappingFileLockException e) {
          isOfOtherLoader = true;
          return true;
        }
      }
      return false;
    }
  }

  /** Looks through a channel that was left open, and opens no other. */
  private static boolean isHeldByOtherLoader(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    Object file = keyOf(path);
    FileChannel left = LEFT_OPEN.get(file);
    if (left == null) {
      return false;
    }
    try {
      isFree(left, WRITER_AT);
      LEFT_OPEN.remove(file);
      left.close();
      return false;
    } catch (OverlappingFileLockException e) {
      return true;
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
    synchronized (turn(path)) {
      if (lock.isValid()) {
        try {
          // Which releases the marks as well.
          channel.close();
        } catch (IOException e) {
          throw FileErrors.of("unlock", path, e);
        } finally {
          HOLDING.remove(channel);
          HELD.remove(path);
        }
      }
    }
  }
}
