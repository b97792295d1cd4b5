package io.zrecord.storage;

import java.util.List;

/**
 * The files of one dataset: everything the engine reads and writes goes through a storage that is rooted at the dataset's
 * directory. Names are relative to the root, separated by {@code /}, such as {@code shard/9f0c…/meta.json}.
 *
 * <p>Guarantees that implementations give:
 *
 * <ol>
 *   <li>A name never leaves the root: empty, {@code .}, {@code ..} and absolute parts are an {@link IllegalArgumentException}.
 *   <li>Only regular files are opened; symbolic links below the root are refused.
 *   <li>{@link #publish} makes the whole content visible at once, or nothing, and at most one caller wins a name.
 *   <li>What {@link WritableFile#force} and {@link #forceDirectory} returned for survives power loss, where the medium can.
 *   <li>Errors are {@link io.zrecord.errors.ZRecordException}s that name the full path.
 * </ol>
 *
 * <p>Implementations are thread-safe. The files that they hand out are not, unless they say so.
 */
public interface Storage {

  /** The root, as a user writes it. */
  String location();

  /** The full path of a name, for messages. */
  default String pathOf(String name) {
    return location() + "/" + name;
  }

  /** Bytes that can still be written, as far as that is known; the root must exist. */
  default long usableBytes() {
    return Long.MAX_VALUE;
  }

  /** Whether the file or directory exists. */
  boolean exists(String name);

  /**
   * Length in bytes of an existing file.
   *
   * @throws io.zrecord.errors.MissingFileException if there is none
   */
  long lengthBytes(String name);

  /** What stands directly in a directory ({@code ""} is the root), in no order; empty if the directory does not exist. */
  List<StoredFile> list(String directory);

  /**
   * Content of a small file.
   *
   * @param maxBytes a longer file is refused with {@link io.zrecord.errors.CorruptDataException}
   * @throws io.zrecord.errors.MissingFileException if there is none
   */
  byte[] read(String name, int maxBytes);

  /** Opens a file for reading. The caller closes it; regions handed out stay valid afterwards. */
  ReadableFile open(String name);

  /** Creates a file that must not exist, with its directories. The caller closes it. */
  WritableFile create(String name);

  /**
   * Publishes a small file under a name that must not exist: all of it or nothing, durable when this returns {@code true}.
   *
   * @return {@code false} if the name is taken
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if it may or may not have taken effect
   * @throws io.zrecord.errors.StorageException if it had no effect
   */
  boolean publish(String name, byte[] content);

  /**
   * Gives a file another name in its directory, at once: at any moment it has one of the two, and of several who rename or delete it
   * one does.
   *
   * @param to a name that does not exist and that nobody else makes
   * @return {@code false} if there is no file {@code from}
   */
  boolean rename(String from, String to);

  /** Makes the names in a directory survive power loss. */
  void forceDirectory(String directory);

  /** Deletes a file, or a directory with all that is in it; nothing happens if it does not exist. */
  void delete(String name);
}
