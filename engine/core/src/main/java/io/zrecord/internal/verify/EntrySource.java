package io.zrecord.internal.verify;

/** Gives the entries of a field and their checksums. Belongs to one thread. */
public interface EntrySource extends AutoCloseable {
  /** Returns the full path of the file of the entries. */
  String path();

  /**
   * Returns the number of records, from the first on, that are complete in the files: an entry, and
   * a checksum if the field has checksums.
   */
  long presentCount();

  /**
   * Loads the entries of {@code [first, first + count)}. Entries that are not in the files or
   * cannot be read are marked as missing. Calls go from block to block.
   */
  void load(long first, int count, EntryBlock block);

  @Override
  void close();
}
