package io.zrecord.internal.io;

import io.zrecord.storage.StoredFile;
import java.util.List;
import java.util.Optional;

/**
 * The files of one directory that other processes change, fill and delete at any time. Nothing is
 * forced. Failures are {@link io.zrecord.errors.ZRecordException}s. Thread-safe.
 */
public interface CacheFiles {

  /**
   * The space of a file system.
   *
   * @param usableBytes that can still be written
   * @param totalBytes size of the file system
   */
  record Space(long usableBytes, long totalBytes) {}

  /** Returns the directory as a user writes it. */
  String location();

  /** Returns the names in the directory, in no order; none if there is no directory. */
  List<String> names();

  /** Returns what is known of a regular file; empty if there is none. */
  Optional<StoredFile> look(String name);

  /**
   * Opens a file for reading. The caller closes the file.
   *
   * @throws io.zrecord.errors.MissingFileException if there is none
   */
  MutableFile open(String name);

  /**
   * Writes a file, whole or not at all, over any file of that name. Makes the directory if there is
   * none.
   */
  void write(String name, byte[] content);

  /** Deletes a regular file. Does nothing if there is none. */
  void delete(String name);

  /** Sets the Unix time in milliseconds of a file's last change. */
  void setModified(String name, long millis);

  /** Returns the space of the file system that has the directory, or would have it. */
  Space space();
}
