package io.zrecord.storage;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The files of one dataset. The engine reads and writes only through a storage, which is rooted at
 * the dataset's directory. Names are relative to the root, separated by {@code /}, such as
 * {@code shard/9f0c…/meta.json}.
 *
 * <p>Implementations guarantee:
 *
 * <ol>
 *   <li>A name never leaves the root: empty, {@code .}, {@code ..} and absolute parts are an
 *       {@link IllegalArgumentException}.
 *   <li>Only regular files are opened; symbolic links below the root are refused.
 *   <li>{@link #publish} makes the whole content visible at once, or nothing, and at most one
 *       caller wins a name.
 *   <li>Content for which {@link WritableFile#force} returned survives power loss, where the medium
 *       can. So do names for which {@link #forceDirectory} returned.
 *   <li>Errors are {@link io.zrecord.errors.ZRecordException}s that name the full path.
 * </ol>
 *
 * <p>Implementations are thread-safe. The files that they hand out are not, unless they say so.
 */
public interface Storage {

  /** Returns the root as a user writes it. */
  String location();

  /**
   * Returns what is equal for two storages if a file that is opened by either may serve the readers
   * of both: the same files, reached with the same rights by the same connection. This storage
   * itself unless overridden.
   */
  default Object identity() {
    return this;
  }

  /**
   * Tells whether each call takes a request to another machine. The engine then asks for several
   * files side by side.
   */
  default boolean isRemote() {
    return false;
  }

  /** Returns this storage without any cache, for whoever checks what the storage has. */
  default Storage uncached() {
    return this;
  }

  /**
   * Forgets what a cache has of a file, because that was wrong: the next reader asks for the file.
   *
   * @param lengthBytes of the file
   */
  default void forget(String name, long lengthBytes) {}

  /** Returns the full path of a name, for messages. */
  default String pathOf(String name) {
    return location() + "/" + name;
  }

  /** Returns the bytes that can still be written, as far as is known. The root must exist. */
  default long usableBytes() {
    return Long.MAX_VALUE;
  }

  /**
   * Returns how many requests a reader may have under way at the same time; 1 where nothing is
   * gained.
   */
  default int requestsAtOnce() {
    return isRemote() ? 64 : 1;
  }

  /** Tells whether the file or directory exists. */
  boolean exists(String name);

  /**
   * Returns the length of an existing file in bytes.
   *
   * @throws io.zrecord.errors.MissingFileException if there is none
   */
  long lengthBytes(String name);

  /**
   * Lists the direct entries of a directory ({@code ""} is the root), in no order. Empty if the
   * directory does not exist.
   */
  List<StoredFile> list(String directory);

  /**
   * Returns what {@link #list} says of a file; empty if there is none. A storage that has to list
   * the whole directory for that does not override this.
   */
  default Optional<StoredFile> find(String name) {
    int slash = name.lastIndexOf('/');
    String last = name.substring(slash + 1);
    return list(name.substring(0, Math.max(0, slash))).stream()
        .filter(file -> !file.isDirectory() && file.name().equals(last))
        .findFirst();
  }

  /**
   * Lists all files below a directory ({@code ""} is the root), at any depth, in no order. The name
   * of each file is relative to the directory, such as {@code 9f0c…/9f0c….zr}. Empty if the
   * directory does not exist. A store of objects answers with a request for each 1,000 files, not
   * for each directory.
   */
  default List<StoredFile> listTree(String directory) {
    List<StoredFile> found = new ArrayList<>();
    addTree(directory, "", found);
    return found;
  }

  private void addTree(String directory, String below, List<StoredFile> found) {
    for (StoredFile file : list(joined(directory, below))) {
      String name = joined(below, file.name());
      if (file.isDirectory()) {
        addTree(directory, name, found);
      } else {
        found.add(new StoredFile(name, false, file.lengthBytes(), file.modifiedMillis()));
      }
    }
  }

  private static String joined(String directory, String name) {
    return directory.isEmpty() || name.isEmpty() ? directory + name : directory + "/" + name;
  }

  /**
   * Returns the content of a small file.
   *
   * @param maxBytes a longer file is refused with {@link io.zrecord.errors.CorruptDataException}
   * @throws io.zrecord.errors.MissingFileException if there is none
   */
  byte[] read(String name, int maxBytes);

  /**
   * Opens a file for reading. The caller closes the file. Regions handed out stay valid after that.
   */
  ReadableFile open(String name);

  /**
   * Opens a file of a known length for reading, as {@link #open(String)} does. A storage for which
   * asking is a request does not ask: that the file is missing, or shorter, is then found when its
   * bytes are read.
   *
   * @param lengthBytes what a manifest, a list or a shard says
   */
  default ReadableFile open(String name, long lengthBytes) {
    return open(name);
  }

  /**
   * Creates a file under a name that nobody has used, with its directories. The caller closes the
   * file. A taken name is refused here or in {@link WritableFile#finish}, except by S3A, which
   * replaces the file.
   */
  WritableFile create(String name);

  /**
   * Publishes a small file under a name that must not exist: all of the file or nothing. The file
   * is durable when this returns {@code true}.
   *
   * @return {@code false} if the name is taken
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the publication may or may not have
   *     taken effect
   * @throws io.zrecord.errors.StorageException if the publication had no effect
   */
  boolean publish(String name, byte[] content);

  /**
   * Writes a small file under a name that may exist, without a promise: whoever reads the file may
   * find the old content, the new content, a part of it, or nothing.
   */
  void replace(String name, byte[] content);

  /** Makes the names in a directory survive power loss. */
  void forceDirectory(String directory);

  /**
   * Deletes a file, or a directory with everything in it. Does nothing if the name does not exist.
   */
  void delete(String name);

  /**
   * Deletes files, in no order. Does nothing for a name that does not exist. A store of objects
   * takes many names with one request.
   *
   * @throws io.zrecord.errors.StorageException if one cannot be deleted; others may be gone then
   */
  default void deleteAll(List<String> names) {
    names.forEach(this::delete);
  }

  /**
   * Deletes a directory ({@code ""} is the root) if it is empty. Never fails, and never deletes a
   * file.
   *
   * @return whether there is no such directory now
   */
  default boolean deleteIfEmpty(String directory) {
    return !exists(directory);
  }
}
