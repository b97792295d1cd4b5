package io.zrecord.table;

import io.zrecord.Spi;
import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Files that a {@linkplain RecordTable#sweep sweep} deletes. Another process may delete them.
 * Immutable.
 */
@Spi
public final class SweptFiles implements Serializable {
  private static final long serialVersionUID = 1L;

  private final SweptTable table;
  private final ArrayList<String> names;

  /** @param names names of files and directories in the storage of the table */
  SweptFiles(SweptTable table, List<String> names) {
    this.table = table;
    this.names = new ArrayList<>(names);
  }

  /** Returns the number of files and directories. */
  public int count() {
    return names.size();
  }

  /** Returns parts of at most so many files and directories. */
  public List<SweptFiles> parts(int most) {
    return IntStream.range(0, (names.size() + most - 1) / most)
        .mapToObj(part -> new SweptFiles(
            table, names.subList(part * most, Math.min(names.size(), (part + 1) * most))))
        .toList();
  }

  /**
   * Deletes the files, and directories with all that is in them.
   *
   * @throws io.zrecord.errors.StorageException if the storage does not have the table, or a file
   *     cannot be deleted; others may be gone then
   */
  public void delete(Storage storage) {
    table.require(storage);
    deleteHere(storage);
  }

  /** Deletes in the process that sweeps, which sees the table. */
  void deleteHere(Storage storage) {
    storage.deleteAll(names);
  }
}
