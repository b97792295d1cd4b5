package io.zrecord.testing;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A store of objects in memory. There are keys only: a directory is there while a key below it is,
 * and has the time of the request that lists it. An object is visible and durable when its file is
 * finished, and not before. A publication is a put on condition that the key is free. Objects are
 * dated by the clock of the server. Thread-safe.
 *
 * <p>Requests are counted: a list is one for each 1,000 keys that it shows, a deletion of many keys
 * one for each 1,000. Lost and late requests are those of a {@code FaultyStorage} before this one.
 */
public final class ObjectStorage extends MemoryStorage {
  /** Keys of an answer to a list, and of a request that deletes. */
  public static final int PAGE = 1000;

  private static final int REGION_BYTES = 1 << 23;

  private final InstantSource serverClock;
  private final Map<String, Integer> requests = new TreeMap<>();
  /** What became of keys, the latest last. */
  private final List<Change> changes = new ArrayList<>();

  private int lateChanges;

  /** A key and what it was before a change; empty if the key was free. */
  private record Change(String key, Optional<StoredFile> before) {}

  /** Creates an empty store whose clock stands still. */
  public ObjectStorage() {
    this(InstantSource.fixed(java.time.Instant.ofEpochMilli(1)));
  }

  /**
   * Creates an empty store.
   *
   * @param serverClock dates the objects, whatever the clocks of the clients say
   */
  public ObjectStorage(InstantSource serverClock) {
    super(serverClock);
    this.serverClock = serverClock;
  }

  /**
   * Lets lists miss the latest changes from now on: keys that were put are not shown, and keys that
   * were deleted are. Everything else sees each change at once.
   *
   * @param count the latest changes that lists miss; 0 for none
   */
  public synchronized ObjectStorage listingWithout(int count) {
    lateChanges = count;
    return this;
  }

  /** Returns the number of requests since the last call of {@link #forgetRequests}, by kind. */
  public synchronized Map<String, Integer> requests() {
    return new TreeMap<>(requests);
  }

  /** Counts requests from 0 again. */
  public synchronized void forgetRequests() {
    requests.clear();
  }

  private synchronized void request(String kind, int count) {
    requests.merge(kind, count, Integer::sum);
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  /** Returns 1, so that the order of the requests can be repeated. */
  @Override
  public int requestsAtOnce() {
    return 1;
  }

  @Override
  public synchronized boolean exists(String name) {
    request("head", 1);
    return super.exists(name);
  }

  @Override
  public synchronized long lengthBytes(String name) {
    request("head", 1);
    return super.lengthBytes(name);
  }

  @Override
  public synchronized byte[] read(String name, int maxBytes) {
    request("get", 1);
    return super.read(name, maxBytes);
  }

  @Override
  public synchronized List<StoredFile> list(String directory) {
    Map<String, StoredFile> found = new LinkedHashMap<>();
    shown(directory).forEach((rest, file) -> {
      int slash = rest.indexOf('/');
      String child = slash < 0 ? rest : rest.substring(0, slash);
      found.put(child, slash < 0 ? file : new StoredFile(child, true, 0, serverClock.millis()));
    });
    request("list", pages(found.size()));
    return List.copyOf(found.values());
  }

  @Override
  public synchronized List<StoredFile> listTree(String directory) {
    List<StoredFile> found = new ArrayList<>();
    shown(directory)
        .forEach((rest, file) ->
            found.add(new StoredFile(rest, false, file.lengthBytes(), file.modifiedMillis())));
    request("list", pages(found.size()));
    return found;
  }

  private static int pages(int count) {
    return Math.max(1, (count + PAGE - 1) / PAGE);
  }

  /** Returns the objects below a directory as a list shows them, by the rest of their keys. */
  private Map<String, StoredFile> shown(String directory) {
    String prefix = directory.isEmpty() ? "" : directory + "/";
    Map<String, StoredFile> shown = new LinkedHashMap<>();
    for (String key : namesByCreation()) {
      if (key.startsWith(prefix)) {
        shown.put(key.substring(prefix.length()), file(key));
      }
    }
    int from = Math.max(0, changes.size() - lateChanges);
    for (int i = changes.size() - 1; i >= from; i--) {
      Change change = changes.get(i);
      if (change.key.startsWith(prefix)) {
        String rest = change.key.substring(prefix.length());
        change.before.ifPresentOrElse(file -> shown.put(rest, file), () -> shown.remove(rest));
      }
    }
    return shown;
  }

  private StoredFile file(String key) {
    return new StoredFile(
        key.substring(key.lastIndexOf('/') + 1),
        false,
        super.lengthBytes(key),
        modified(key).toEpochMilli());
  }

  private void note(String key) {
    changes.add(new Change(key, hasFile(key) ? Optional.of(file(key)) : Optional.empty()));
  }

  @Override
  public synchronized void overwrite(String name, byte[] content) {
    note(name);
    super.overwrite(name, content);
  }

  @Override
  public synchronized ReadableFile open(String name) {
    request("head", 1);
    return new Remote(super.open(name));
  }

  /** Opens without a request; this store has the object now, so that nothing need be kept. */
  @Override
  public synchronized ReadableFile open(String name, long lengthBytes) {
    return new Remote(super.open(name));
  }

  @Override
  public synchronized boolean publish(String name, byte[] content) {
    request("put", 1);
    return super.publish(name, content);
  }

  @Override
  public synchronized void replace(String name, byte[] content) {
    request("put", 1);
    super.replace(name, content);
  }

  @Override
  public synchronized WritableFile create(String name) {
    requireName(name);
    called("create " + name);
    if (super.exists(name)) {
      throw new StorageException(pathOf(name), "Cannot create " + pathOf(name) + ": it exists");
    }
    return new Upload(name);
  }

  /** Deletes an object, or lists the objects below a directory and deletes them one by one. */
  @Override
  public synchronized void delete(String name) {
    requireName(name);
    called("delete " + name);
    List<String> below = names().stream()
        .filter(key -> key.equals(name) || key.startsWith(name + "/"))
        .toList();
    request("delete", Math.max(1, below.size()));
    below.forEach(this::remove);
  }

  @Override
  public synchronized void deleteAll(List<String> names) {
    names.forEach(MemoryStorage::requireName);
    called("deleteAll " + names);
    request("delete", names.isEmpty() ? 0 : pages(names.size()));
    names.stream().filter(this::hasFile).forEach(this::remove);
  }

  private void remove(String key) {
    note(key);
    forget(key);
  }

  /** Puts the object when the file is finished. */
  private final class Upload implements WritableFile {
    private final String name;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private boolean isOpen = true;

    Upload(String name) {
      this.name = name;
    }

    @Override
    public String path() {
      return pathOf(name);
    }

    @Override
    public long positionBytes() {
      return bytes.size();
    }

    @Override
    public void write(ByteBuffer... buffers) {
      requireOpen();
      called("write " + name);
      for (ByteBuffer buffer : buffers) {
        byte[] content = new byte[buffer.remaining()];
        buffer.get(content);
        bytes.writeBytes(content);
      }
    }

    @Override
    public void force() {
      requireOpen();
    }

    @Override
    public void finish() {
      requireOpen();
      isOpen = false;
      called("finish " + name);
      request("put", 1);
      overwrite(name, bytes.toByteArray());
    }

    @Override
    public void close() {
      isOpen = false;
    }

    private void requireOpen() {
      if (!isOpen) {
        throw new IllegalStateException("File " + name + " is closed");
      }
    }
  }

  /** Answers each region with a request. */
  private final class Remote implements ReadableFile {
    private final ReadableFile file;

    Remote(ReadableFile file) {
      this.file = file;
    }

    @Override
    public String path() {
      return file.path();
    }

    @Override
    public synchronized long lengthBytes() {
      return file.lengthBytes();
    }

    @Override
    public ByteBuffer region(long position, int lengthBytes) {
      request("get", 1);
      return file.region(position, lengthBytes);
    }

    @Override
    public int preferredRegionBytes() {
      return REGION_BYTES;
    }

    @Override
    public boolean isMapped() {
      return false;
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
