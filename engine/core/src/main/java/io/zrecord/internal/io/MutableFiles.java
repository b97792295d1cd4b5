package io.zrecord.internal.io;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The files of an online store, below one root directory. Names are relative and separated by
 * {@code /}. Failures are {@link io.zrecord.errors.ZRecordException}s that name the full path.
 * Thread-safe.
 */
public interface MutableFiles {

  /** Returns the root as a user writes it. */
  String location();

  /** Returns the full path of a name, for messages. */
  default String pathOf(String name) {
    return location() + "/" + name;
  }

  boolean exists(String name);

  /** Returns what tells whether a regular file exists, for a caller that asks very often. */
  default BooleanSupplier presenceOf(String name) {
    return () -> exists(name);
  }

  /** Returns the bytes that can still be written on this file system, as far as is known. */
  default long usableBytes() {
    return Long.MAX_VALUE;
  }

  /**
   * Tells whether a file has other names as well, under which changes of its content would be
   * visible.
   */
  default boolean hasOtherNames(String name) {
    return false;
  }

  /**
   * Returns what a file keeps when it is moved within its file system, and what no copy of it has;
   * empty where that cannot be told.
   */
  default Optional<String> identityOf(String name) {
    return Optional.empty();
  }

  /**
   * Returns the names directly in a directory ({@code ""} is the root), in no order; none if the
   * directory does not exist.
   */
  List<String> list(String directory);

  /** Returns the content of a small file. A longer file is refused. */
  byte[] read(String name, int maxBytes);

  /** Opens a file that exists. The caller closes the file. */
  MutableFile open(String name, boolean writable);

  /**
   * Creates a file that must not exist, with its directories. The caller closes the file. The name
   * is durable after {@link #forceDirectory}.
   */
  MutableFile create(String name);

  /**
   * Replaces or creates a small file. Afterwards, even after power loss, either the old or the new
   * file exists as a whole.
   */
  default void replace(String name, byte[] content) {
    replace(name, content, () -> {});
  }

  /** Replaces or creates a small file, unless the last check throws. */
  default void replace(String name, byte[] content, Runnable lastCheck) {
    replace(name, file -> file.write(0, ByteBuffer.wrap(content)), lastCheck);
  }

  /**
   * Replaces or creates a file of any length, unless the last check throws. The check comes when
   * everything but the last step is done. If another object calls {@link #dropReplacements} between
   * the check and the last step, that step fails.
   *
   * @param writing writes the content to the new file, which has no bytes yet
   */
  void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck);

  /** Makes replacements and deletions in the root fail that others have begun and not ended. */
  void dropReplacements();

  /**
   * Says that the caller is the writer of these files as long as the check does not throw. The
   * check runs each time a file of this object was opened again by its name, before anything is
   * read or written. If the check throws, the operation fails. What a deletion takes is made now,
   * so that a full disk does not keep files from being deleted.
   */
  default void beginWriting(Runnable check) {}

  /** Says that the caller is the writer no longer. */
  default void endWriting() {}

  /** Makes the names in a directory survive power loss. */
  void forceDirectory(String directory);

  /** Deletes a file. Does nothing if the file does not exist. */
  void delete(String name);

  /**
   * Deletes files or directories one after the other, unless the last check throws. If another
   * object calls {@link #dropReplacements} after the check, the next deletion fails and deletes
   * nothing. Names that do not exist are skipped. Space may be freed later, by another deletion or
   * the next writer, where programs have the files open.
   */
  void delete(List<String> names, Runnable lastCheck);
}
