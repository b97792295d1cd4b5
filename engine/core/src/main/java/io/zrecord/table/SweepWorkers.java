package io.zrecord.table;

import io.zrecord.storage.Storage;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;

/**
 * Does the long work of a {@linkplain RecordTable#sweep sweep}: looks into directories, and deletes
 * files. Which files may be deleted, the sweep decides.
 */
public interface SweepWorkers {
  /**
   * Looks into directories, in any order.
   *
   * @param parts what to look into, made when asked for; each is for {@link SweepPart#look}
   * @param looked takes what was seen in each part, in the calling thread
   */
  void look(Iterator<SweepPart> parts, Consumer<SweepPart.Looked> looked);

  /**
   * Deletes files, and directories with all that is in them, in any order.
   *
   * @param names names in the storage of the table
   * @throws io.zrecord.errors.StorageException if one cannot be deleted; others may be gone then
   */
  void delete(List<String> names);

  /**
   * Returns the number of files that the sweep gives to {@link #delete} at once, 1 or more. Before
   * that the sweep looks at all versions again.
   */
  int deletedAtOnce();

  /** Returns workers that do all in the calling thread. */
  static SweepWorkers here(Storage storage) {
    return new SweepWorkers() {
      @Override
      public void look(Iterator<SweepPart> parts, Consumer<SweepPart.Looked> looked) {
        parts.forEachRemaining(part -> looked.accept(part.look(storage)));
      }

      @Override
      public void delete(List<String> names) {
        storage.deleteAll(names);
      }

      @Override
      public int deletedAtOnce() {
        // Where a deletion is a request, many files are one.
        return storage.isRemote() ? 1000 : 1;
      }
    };
  }
}
