package io.zrecord.internal.store;

import io.zrecord.errors.WriterReplacedException;
import io.zrecord.internal.io.MutableFiles;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/**
 * Says which writer a store has: a file with a name that no other writer ever has. Each opening
 * makes its own file and deletes those of others, before it reads anything of the store. A writer
 * looks for its file after it forced a commit and before it acknowledges the commit (FORMAT.md
 * section 21). So either the writer finds that another has come, or that other reads the commit.
 * The lock of the system keeps writers apart as well, but a process can lose it without knowing.
 * Thread-safe.
 */
public final class WriterToken {
  private static final String PREFIX = "writer-";

  private final MutableFiles files;
  private final String name;
  private final BooleanSupplier isPresent;
  private final boolean isTakenOver;

  private WriterToken(MutableFiles files, String name, boolean isTakenOver) {
    this.files = files;
    this.name = name;
    this.isPresent = files.presenceOf(name);
    this.isTakenOver = isTakenOver;
  }

  /** Makes the caller the writer. Whoever was it before cannot acknowledge anything any more. */
  public static WriterToken take(MutableFiles files) {
    String name = PREFIX + UUID.randomUUID();
    files.create(name).close();
    List<String> others =
        all(files).stream().filter(other -> !other.equals(name)).toList();
    others.forEach(files::delete);
    // A writer that has just looked for its file may be about to replace one of the store's.
    files.dropReplacements();
    files.forceDirectory("");
    return new WriterToken(files, name, !others.isEmpty());
  }

  private static List<String> all(MutableFiles files) {
    return files.list("").stream().filter(found -> found.startsWith(PREFIX)).toList();
  }

  /** Deletes the files of all writers of a store that is one no longer. */
  static void removeAll(MutableFiles files) {
    all(files).forEach(files::delete);
  }

  /**
   * Tells whether the writer before did not close the store. It was killed, or it is still there
   * and has lost its lock.
   */
  public boolean isTakenOver() {
    return isTakenOver;
  }

  /**
   * Requires that no other writer has opened the store since.
   *
   * @throws WriterReplacedException if another has, or if the store's files are gone
   */
  public void require() {
    if (!isPresent.getAsBoolean()) {
      throw new WriterReplacedException(
          files.location(),
          "Cannot write to " + files.location()
              + " any more: another process has opened it for writing, or its files were moved or"
              + " deleted. A process loses its lock when it reads or deletes the file 'lock'. What"
              + " was acknowledged before is safe; open the store again, and copy stores with"
              + " 'zrecord backup' only");
    }
  }

  /** Says that this writer will change nothing any more. */
  public void release() {
    files.delete(name);
  }
}
