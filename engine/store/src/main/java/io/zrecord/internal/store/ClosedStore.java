package io.zrecord.internal.store;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFiles;
import java.util.Optional;

/**
 * Compares the files of a store whose file {@code live} says that it was closed (FORMAT.md section
 * 9.8). The journal is empty then, and {@code live} and the meta file are of one commit. Otherwise
 * these files are of different moments, such as copies of single files. Tables and chunks are not
 * compared. Stateless.
 */
public final class ClosedStore {
  private ClosedStore() {}

  /**
   * Returns what is wrong; empty if nothing is, or {@code live} does not say that the store was
   * closed.
   */
  public static Optional<CorruptDataException> contradiction(
      MutableFiles files, LiveState live, StoreMeta meta, Journal journal) {
    long length = live.length();
    long sequence = live.sequence();
    long journalBytes = journal.fileBytes();
    if (!live.saysClosed()
        || (journal.isEmpty() && length == meta.shard().length() && sequence == meta.sequence())) {
      return Optional.empty();
    }
    String path = files.pathOf(LiveState.FILE_NAME);
    return Optional.of(new CorruptDataException(
        path,
        "Cannot read " + files.location() + ": " + path + " says that it was closed with " + length
            + " records after commit " + sequence + ", but its meta file says "
            + meta.shard().length() + " records and commit " + meta.sequence()
            + ", and its journal has "
            + journalBytes + " bytes: the files are of different moments. Restore the store from"
            + " a copy that 'zrecord backup' made, or repair it, which takes the files as they"
            + " are"));
  }
}
