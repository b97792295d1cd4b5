package io.zrecord.internal.io;

import java.util.List;

/**
 * The files of a store that is written online, below one root directory. Names are relative and separated by {@code /}. Failures
 * are {@link io.zrecord.errors.ZRecordException}s that name the full path. Thread-safe.
 */
public interface MutableFiles {

  /** The root, as a user writes it. */
  String location();

  /** The full path of a name, for messages. */
  default String pathOf(String name) {
    return location() + "/" + name;
  }

  boolean exists(String name);

  /** Bytes that can still be written on this file system, as far as that is known. */
  default long usableBytes() {
    return Long.MAX_VALUE;
  }

  /** Whether a file is known under other names as well, which would see what is written to it. */
  default boolean hasOtherNames(String name) {
    return false;
  }

  /** Names of what stands directly in a directory ({@code ""} is the root), in no order; none if it does not exist. */
  List<String> list(String directory);

  /** Content of a small file; a longer one is refused. */
  byte[] read(String name, int maxBytes);

  /** Opens a file that exists. The caller closes it. */
  MutableFile open(String name, boolean writable);

  /** Creates a file that must not exist, with its directories. The caller closes it. Durable with {@link #forceDirectory}. */
  MutableFile create(String name);

  /** Puts a small file in the place of another, or of none: afterwards, also after power loss, one of the two is there, whole. */
  void replace(String name, byte[] content);

  /** Makes the names in a directory survive power loss. */
  void forceDirectory(String directory);

  /** Deletes a file; nothing happens if it does not exist. */
  void delete(String name);
}
