package io.zrecord.storage.hadoop;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Files and directories of one container of Azure with a hierarchical namespace, in memory. Each
 * call takes effect at once. Names have no slash at their ends; that of the root is empty.
 * Thread-safe.
 */
final class AzureContainer {
  /** A deletion of a directory takes so many entries with one request. */
  private static final int DELETED_AT_ONCE = 3;

  private final TreeMap<String, Entry> entries = new TreeMap<>();
  private final Map<String, TreeMap<Long, byte[]>> unflushed = new HashMap<>();
  private long changes;

  /**
   * A file or a directory.
   *
   * @param etag without quotes
   * @param transaction of the client that made it; empty if it named none
   */
  @SuppressWarnings("ArrayRecordComponent") // Nobody compares entries.
  record Entry(
      boolean isDirectory, byte[] content, String etag, Instant modified, String transaction) {}

  /** Says that a request is refused, and has no effect. */
  static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    final int status;
    final String code;

    RefusedException(int status, String code) {
      super(code);
      this.status = status;
      this.code = code;
    }
  }

  private Entry entry(boolean isDirectory, byte[] content, String transaction) {
    return new Entry(isDirectory, content, "0x" + ++changes, Instant.now(), transaction);
  }

  /** Returns what a name has. */
  synchronized Entry status(String name) throws RefusedException {
    Entry found = entries.get(name);
    if (found == null) {
      throw new RefusedException(404, "PathNotFound");
    }
    return found;
  }

  /**
   * Makes an empty file, or a directory.
   *
   * @param ifMatch ETag that the entry must have; empty if none is asked for
   */
  synchronized Entry create(
      String name, boolean isDirectory, boolean isNew, String ifMatch, String transaction)
      throws RefusedException {
    Entry old = entries.get(name);
    if (isNew && old != null) {
      throw new RefusedException(409, "PathAlreadyExists");
    }
    if (!ifMatch.isEmpty() && (old == null || !old.etag.equals(ifMatch))) {
      throw new RefusedException(412, "ConditionNotMet");
    }
    if (old != null && old.isDirectory != isDirectory) {
      throw new RefusedException(409, "ResourceTypeMismatch");
    }
    if (old != null && isDirectory) {
      return old;
    }
    makeDirectory(parent(name));
    Entry made = entry(isDirectory, new byte[0], transaction);
    entries.put(name, made);
    unflushed.remove(name);
    return made;
  }

  private static String parent(String name) {
    return name.substring(0, Math.max(0, name.lastIndexOf('/')));
  }

  private void makeDirectory(String name) throws RefusedException {
    if (name.isEmpty()) {
      return;
    }
    makeDirectory(parent(name));
    Entry old = entries.get(name);
    if (old != null && !old.isDirectory) {
      throw new RefusedException(409, "ResourceTypeMismatch");
    }
    if (old == null) {
      entries.put(name, entry(true, new byte[0], ""));
    }
  }

  /** Takes bytes of a file, which nobody sees before they are flushed. */
  synchronized void append(String name, long position, byte[] content) throws RefusedException {
    status(name);
    unflushed.computeIfAbsent(name, file -> new TreeMap<>()).put(position, content);
  }

  /** Makes bytes visible, up to a length. */
  synchronized Entry flush(String name, long length) throws RefusedException {
    Entry old = status(name);
    byte[] content = Arrays.copyOf(old.content, Math.toIntExact(length));
    long known = old.content.length;
    for (var part : unflushed.getOrDefault(name, new TreeMap<>()).entrySet()) {
      if (part.getKey() != known || known + part.getValue().length > length) {
        throw new RefusedException(400, "InvalidFlushPosition");
      }
      System.arraycopy(part.getValue(), 0, content, (int) known, part.getValue().length);
      known += part.getValue().length;
    }
    if (known != length) {
      throw new RefusedException(400, "InvalidFlushPosition");
    }
    Entry flushed = entry(false, content, old.transaction);
    entries.put(name, flushed);
    unflushed.remove(name);
    return flushed;
  }

  /**
   * Gives a file another name. The file keeps its ETag.
   *
   * @param isTargetFirst whether the condition of the target is looked at before the source
   */
  synchronized Entry rename(
      String source, String target, boolean isNew, boolean isTargetFirst, String transaction)
      throws RefusedException {
    Entry old = entries.get(source);
    boolean isTaken = isNew && entries.containsKey(target);
    if (old == null && !(isTargetFirst && isTaken)) {
      throw new RefusedException(404, "SourcePathNotFound");
    }
    if (isTaken) {
      throw new RefusedException(409, "PathAlreadyExists");
    }
    if (!parent(target).isEmpty() && !entries.containsKey(parent(target))) {
      throw new RefusedException(404, "RenameDestinationParentPathNotFound");
    }
    if (old.isDirectory) {
      throw new IllegalStateException("Nobody renames a directory");
    }
    entries.remove(source);
    Entry renamed = new Entry(false, old.content, old.etag, old.modified, transaction);
    entries.put(target, renamed);
    unflushed.remove(target);
    return renamed;
  }

  /** Deletes a file or a directory. Returns whether another request must go on. */
  synchronized boolean delete(String name, boolean isRecursive) throws RefusedException {
    status(name);
    List<String> below = new ArrayList<>(below(name).descendingKeySet());
    if (!isRecursive && !below.isEmpty()) {
      throw new RefusedException(409, "DirectoryNotEmpty");
    }
    below.stream().limit(DELETED_AT_ONCE).forEach(entries::remove);
    if (below.size() > DELETED_AT_ONCE) {
      return true;
    }
    entries.remove(name);
    return false;
  }

  private NavigableMap<String, Entry> below(String name) {
    return name.isEmpty()
        ? entries
        : entries.subMap(name + '/', true, name + (char) ('/' + 1), false);
  }

  /**
   * Returns names below a directory with their entries, in order.
   *
   * @param after name before the first one; empty to begin
   */
  synchronized List<Map.Entry<String, Entry>> list(
      String directory, boolean isRecursive, String after, int most) throws RefusedException {
    if (!directory.isEmpty()) {
      status(directory);
    }
    return below(directory).entrySet().stream()
        .filter(found -> isRecursive || parent(found.getKey()).equals(directory))
        .filter(found -> found.getKey().compareTo(after) > 0)
        .limit(most)
        .map(found -> Map.entry(found.getKey(), found.getValue()))
        .toList();
  }
}
