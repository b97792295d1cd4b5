package io.zrecord.testing;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A storage in memory that remembers what was done to it, fails on demand, and knows what would be
 * left after power loss. Every call that changes something counts, those of the files that it hands
 * out included, from 0. Files and directories have the times of a clock. Thread-safe.
 */
public class MemoryStorage implements Storage {
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final String location = "memory-" + COUNT.incrementAndGet() + ":";
  private final InstantSource clock;

  /** In the order of their creation, which is the same in each run, whatever their names are. */
  private final Map<String, Content> files = new LinkedHashMap<>();

  private final Map<String, Long> modifiedMillis = new HashMap<>();
  private final Set<String> durableNames = new TreeSet<>();
  private final Map<String, Deleted> pendingDeletions = new TreeMap<>();
  private final List<String> log = new ArrayList<>();
  private final Set<Memory> openFiles = new java.util.HashSet<>();
  private int firstFailing = Integer.MAX_VALUE;
  private int lastFailing = Integer.MAX_VALUE;

  public MemoryStorage() {
    this(InstantSource.fixed(Instant.ofEpochMilli(1)));
  }

  public MemoryStorage(InstantSource clock) {
    this.clock = clock;
  }

  private static final class Content {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int forcedBytes;

    byte[] forced() {
      return Arrays.copyOf(bytes.toByteArray(), forcedBytes);
    }
  }

  /**
   * A durable file that was deleted.
   *
   * @param by the name that was deleted: the file's, or that of a directory above
   */
  private record Deleted(Content content, String by) {}

  /** Lets {@code count} calls fail, without effect, from the given number on. */
  public synchronized MemoryStorage failingFrom(int call, int count) {
    firstFailing = call;
    lastFailing = count > Integer.MAX_VALUE - call ? Integer.MAX_VALUE : call + count - 1;
    return this;
  }

  /**
   * Returns what was done, in order: the verb and the name, such as {@code force
   * shard/…/meta.json}.
   */
  public synchronized List<String> log() {
    return List.copyOf(log);
  }

  /** Returns the names of all files. */
  public synchronized Set<String> names() {
    return new TreeSet<>(files.keySet());
  }

  /** Returns the names of all files in the order of their creation. */
  protected final synchronized List<String> namesByCreation() {
    return List.copyOf(files.keySet());
  }

  /** Returns the number of files that were created and not closed. */
  public synchronized int openFileCount() {
    return openFiles.size();
  }

  /** Replaces the content of a file, or makes one. The content is durable, a new name is not. */
  public synchronized void overwrite(String name, byte[] content) {
    Content file = new Content();
    file.bytes.writeBytes(content);
    file.forcedBytes = content.length;
    files.put(name, file);
    touch(name);
  }

  /** Dates a name, and its directory. */
  private void touch(String name) {
    modifiedMillis.put(name, clock.millis());
    int slash = name.lastIndexOf('/');
    if (slash > 0) {
      modifiedMillis.put(name.substring(0, slash), clock.millis());
    }
  }

  /** Returns when a file or directory was changed last. */
  public synchronized Instant modified(String name) {
    return Instant.ofEpochMilli(modifiedMillis.getOrDefault(name, 1L));
  }

  /**
   * Returns the durable files that were deleted since the last force of the directory that held the
   * deleted name. A power loss may bring each of them back.
   */
  public synchronized Set<String> pendingDeletions() {
    return new TreeSet<>(pendingDeletions.keySet());
  }

  /**
   * Returns what power loss leaves for certain: files of which every name on the way from the root
   * was forced, with the bytes that were forced. Names in the root are taken for durable. No
   * deletion is undone.
   */
  public MemoryStorage afterPowerLoss() {
    return afterPowerLoss(Set.of());
  }

  /**
   * Returns what power loss leaves that undoes some deletions.
   *
   * @param returning files out of {@link #pendingDeletions}
   */
  public synchronized MemoryStorage afterPowerLoss(Set<String> returning) {
    MemoryStorage left = new MemoryStorage(clock);
    files.forEach((name, file) -> {
      if (isDurable(name)) {
        left.overwrite(name, file.forced());
      }
    });
    for (String name : returning) {
      left.overwrite(
          name, Objects.requireNonNull(pendingDeletions.get(name)).content.forced());
    }
    left.files.keySet().forEach(name -> left.durableNames.addAll(namesBelowRoot(name)));
    return left;
  }

  private boolean isDurable(String name) {
    return durableNames.containsAll(namesBelowRoot(name));
  }

  /** Returns the names on the way to a file that are not in the root. */
  private static List<String> namesBelowRoot(String name) {
    List<String> names = new ArrayList<>();
    for (int slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
      int end = name.indexOf('/', slash + 1);
      names.add(end < 0 ? name : name.substring(0, end));
    }
    return names;
  }

  @Override
  public String location() {
    return location;
  }

  /**
   * Returns this storage as another process sees it: what is kept open by location is not shared.
   */
  public Storage elsewhere() {
    String itsLocation = "elsewhere-" + COUNT.incrementAndGet() + ":";
    return (Storage) Proxy.newProxyInstance(
        Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, given) -> {
          try {
            return switch (method.getName()) {
              case "location", "identity" -> itsLocation;
              default -> method.invoke(this, given);
            };
          } catch (InvocationTargetException e) {
            throw Objects.requireNonNull(e.getCause());
          }
        });
  }

  @Override
  public synchronized boolean exists(String name) {
    return files.containsKey(name) || isDirectory(name);
  }

  @Override
  public synchronized long lengthBytes(String name) {
    return content(name).bytes.size();
  }

  @Override
  public synchronized List<StoredFile> list(String directory) {
    String prefix = directory.isEmpty() ? "" : directory + "/";
    Map<String, StoredFile> found = new LinkedHashMap<>();
    files.forEach((name, file) -> {
      if (name.startsWith(prefix)) {
        String rest = name.substring(prefix.length());
        int slash = rest.indexOf('/');
        String child = slash < 0 ? rest : rest.substring(0, slash);
        long lengthBytes = slash < 0 ? file.bytes.size() : 0;
        long millis = modified(prefix + child).toEpochMilli();
        found.put(child, new StoredFile(child, slash >= 0, lengthBytes, millis));
      }
    });
    return List.copyOf(found.values());
  }

  @Override
  public synchronized byte[] read(String name, int maxBytes) {
    byte[] bytes = content(name).bytes.toByteArray();
    if (bytes.length > maxBytes) {
      throw new CorruptDataException(
          pathOf(name), pathOf(name) + " has " + bytes.length + " bytes, more than " + maxBytes);
    }
    return bytes;
  }

  @Override
  public synchronized ReadableFile open(String name) {
    return new Region(pathOf(name), content(name).bytes.toByteArray());
  }

  @Override
  public synchronized WritableFile create(String name) {
    requireName(name);
    called("create " + name);
    if (exists(name)) {
      throw new StorageException(pathOf(name), "Cannot create " + pathOf(name) + ": it exists");
    }
    Content file = new Content();
    files.put(name, file);
    touch(name);
    Memory writable = new Memory(name, file);
    openFiles.add(writable);
    return writable;
  }

  @Override
  public synchronized boolean publish(String name, byte[] content) {
    requireName(name);
    called("publish " + name);
    if (exists(name)) {
      return false;
    }
    overwrite(name, content);
    durableNames.addAll(namesBelowRoot(name));
    return true;
  }

  @Override
  public synchronized void replace(String name, byte[] content) {
    requireName(name);
    called("replace " + name);
    overwrite(name, content);
  }

  @Override
  public synchronized void forceDirectory(String directory) {
    called("forceDirectory " + directory);
    list(directory)
        .forEach(child ->
            durableNames.add(directory.isEmpty() ? child.name() : directory + "/" + child.name()));
    pendingDeletions.values().removeIf(deleted -> directoryOf(deleted.by).equals(directory));
  }

  private static String directoryOf(String name) {
    return name.substring(0, Math.max(0, name.lastIndexOf('/')));
  }

  @Override
  public synchronized void delete(String name) {
    requireName(name);
    called("delete " + name);
    files.forEach((file, content) -> {
      if ((file.equals(name) || file.startsWith(name + "/")) && isDurable(file)) {
        pendingDeletions.put(file, new Deleted(content, name));
      }
    });
    files.keySet().removeIf(file -> file.equals(name) || file.startsWith(name + "/"));
    durableNames.removeIf(file -> file.equals(name) || file.startsWith(name + "/"));
    touch(name);
  }

  /** Tells whether there is a file of that name. */
  protected final synchronized boolean hasFile(String name) {
    return files.containsKey(name);
  }

  /** Removes a file from all records of this storage, without a call. */
  protected final synchronized void forget(String name) {
    files.remove(name);
    durableNames.remove(name);
    modifiedMillis.remove(name);
  }

  private boolean isDirectory(String name) {
    return name.isEmpty() || files.keySet().stream().anyMatch(file -> file.startsWith(name + "/"));
  }

  private Content content(String name) {
    requireName(name);
    Content file = files.get(name);
    if (file != null) {
      return file;
    }
    if (isDirectory(name)) {
      throw new MissingFileException(pathOf(name), pathOf(name) + " is a directory");
    }
    throw new MissingFileException(pathOf(name), "There is no file " + pathOf(name));
  }

  /** Takes note of a call that changes something; fails if the call was to fail. */
  protected final synchronized void called(String what) {
    int call = log.size();
    log.add(what);
    if (call >= firstFailing && call <= lastFailing) {
      throw new StorageException(location(), "injected failure of call " + call + ": " + what);
    }
  }

  /** Refuses a name that could leave the root. */
  protected static void requireName(String name) {
    for (String part : name.split("/", -1)) {
      if (part.isEmpty() || part.equals(".") || part.equals("..")) {
        throw new IllegalArgumentException("The name '" + name + "' could leave the storage");
      }
    }
  }

  private final class Memory implements WritableFile {
    private final String name;
    private final Content file;

    Memory(String name, Content file) {
      this.name = name;
      this.file = file;
    }

    @Override
    public String path() {
      return pathOf(name);
    }

    @Override
    public long positionBytes() {
      return file.bytes.size();
    }

    @Override
    public void write(ByteBuffer... buffers) {
      synchronized (MemoryStorage.this) {
        requireOpen();
        called("write " + name);
        for (ByteBuffer buffer : buffers) {
          byte[] bytes = new byte[buffer.remaining()];
          buffer.get(bytes);
          file.bytes.writeBytes(bytes);
          modifiedMillis.put(name, clock.millis());
        }
      }
    }

    @Override
    public void force() {
      synchronized (MemoryStorage.this) {
        requireOpen();
        called("force " + name);
        file.forcedBytes = file.bytes.size();
      }
    }

    @Override
    public void close() {
      synchronized (MemoryStorage.this) {
        if (openFiles.remove(this)) {
          called("close " + name);
        }
      }
    }

    private void requireOpen() {
      if (!openFiles.contains(this)) {
        throw new IllegalStateException("File " + name + " is closed");
      }
    }
  }

  private static final class Region implements ReadableFile {
    private final String path;
    private final byte[] bytes;

    Region(String path, byte[] bytes) {
      this.path = path;
      this.bytes = bytes;
    }

    @Override
    public String path() {
      return path;
    }

    @Override
    public long lengthBytes() {
      return bytes.length;
    }

    @Override
    public ByteBuffer region(long position, int lengthBytes) {
      if (position < 0 || lengthBytes < 0 || position > bytes.length - lengthBytes) {
        throw new IllegalArgumentException(
            "Region at " + position + " of " + lengthBytes + " bytes is not within " + path);
      }
      return ByteBuffer.wrap(bytes, (int) position, lengthBytes)
          .slice()
          .asReadOnlyBuffer()
          .order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() {}
  }
}
