package io.zrecord.table;

import io.zrecord.Spi;
import io.zrecord.storage.Storage;
import java.util.Iterator;
import java.util.function.Consumer;

/**
 * Does the long work of a {@linkplain RecordTable#sweep sweep}: looks into directories, and deletes
 * files. Which files may be deleted, the sweep decides.
 */
@Spi
public interface SweepWorkers {
  /**
   * Looks into directories, in any order.
   *
   * @param parts what to look into, made when asked for; each is for {@link SweepPart#look}
   * @param looked takes what was seen in each part, in the calling thread
   */
  void look(Iterator<SweepPart> parts, Consumer<SweepPart.Looked> looked);

  /**
   * Deletes files, in any order.
   *
   * @param files what to delete, maybe in {@linkplain SweptFiles#parts parts}
   * @throws io.zrecord.errors.StorageException if one cannot be deleted; others may be gone then
   */
  void delete(SweptFiles files);

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
        parts.forEachRemaining(part -> looked.accept(part.lookHere(storage)));
      }

      @Override
      public void delete(SweptFiles files) {
        files.deleteHere(storage);
      }

      @Override
      public int deletedAtOnce() {
        // Where a deletion is a request, many files are one.
        return storage.isRemote() ? 1000 : 1;
      }
    };
  }
}
