package io.zrecord.internal.store;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.WriterReplacedException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.TemporaryNames;
import io.zrecord.internal.format.WriterNames;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which writer a store has: a file with a name that no other writer ever has. Each opening
 * makes its own file and deletes those of others, before it reads anything of the store. A writer
 * looks for its file after it forced a commit and before it acknowledges the commit (FORMAT.md
 * section 21). So either the writer finds that another has come, or that other reads the commit.
 * The lock of the system keeps writers apart as well, but a process can lose it without knowing.
 * Thread-safe.
 */
public final class WriterToken {
  private static final Logger LOG = LoggerFactory.getLogger(WriterToken.class);
  private static final int MAX_BYTES = 64;

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

  /**
   * Makes the caller the writer. Whoever was it before cannot acknowledge anything any more.
   *
   * @throws CorruptDataException if the files are copies that were made while a writer had the
   *     store open
   */
  public static WriterToken take(MutableFiles files) {
    requireOriginal(files);
    return takeRepaired(files);
  }

  /** Makes the caller the writer, of copies too. */
  public static WriterToken takeRepaired(MutableFiles files) {
    String name = create(files);
    List<String> found = all(files);
    if (!found.contains(name)) {
      // Another has come since, and its file must stay: whoever comes next has to know of it.
      throw replaced(files);
    }
    List<String> others = found.stream().filter(other -> !other.equals(name)).toList();
    others.forEach(files::delete);
    if (!files.exists(name)) {
      // Two came at once, and each deleted the other's file. A file that stays tells whoever comes
      // next that a writer was not closed.
      create(files);
      throw replaced(files);
    }
    // A writer that has just looked for its file may be about to replace one of the store's, or to
    // publish the manifest that makes a table of the store.
    files.dropReplacements();
    dropManifests(files);
    files.forceDirectory("");
    WriterToken writer = new WriterToken(files, name, !others.isEmpty());
    // A later writer deletes the token before it touches a file: while the token is there, every
    // name leads to the file that it led to.
    files.beginWriting(writer::require);
    return writer;
  }

  /** Deletes manifests that are not published, so that their publication fails. */
  private static void dropManifests(MutableFiles files) {
    for (String name : files.list(ManifestNames.DIRECTORY)) {
      if (TemporaryNames.isTemporary(name)) {
        files.delete(ManifestNames.DIRECTORY + "/" + name);
      }
    }
  }

  private static String create(MutableFiles files) {
    String name = WriterNames.random();
    try (MutableFile file = files.create(name)) {
      Optional<String> identity = files.identityOf(name);
      if (identity.isPresent()) {
        file.write(0, ByteBuffer.wrap(identity.get().getBytes(StandardCharsets.UTF_8)));
      }
    }
    return name;
  }

  /**
   * Tells whether the files are copies that were made while a writer had the store open, or after
   * it was killed. A power loss may have taken what tells that.
   */
  public static boolean isOfCopy(MutableFiles files) {
    return all(files).stream().anyMatch(name -> isCopied(files, name));
  }

  private static boolean isCopied(MutableFiles files, String name) {
    try {
      String written = new String(files.read(name, MAX_BYTES), StandardCharsets.UTF_8);
      // A loss of power may have left nothing, or zeros.
      return written.chars().anyMatch(unit -> unit != 0)
          && files.identityOf(name).filter(now -> !now.equals(written)).isPresent();
    } catch (MissingFileException e) {
      return false; // Its writer has just closed the store.
    }
  }

  /**
   * Requires files that are no copies of a store that was open.
   *
   * @throws CorruptDataException if they are
   */
  public static void requireOriginal(MutableFiles files) {
    if (isOfCopy(files)) {
      throw new CorruptDataException(
          files.location(),
          "Cannot open " + files.location()
              + ": its files were copied while a writer had the store open, one after the other, so they may be of different moments. Copy the original by 'zrecord backup'. If nobody wrote while they were copied, repair this store, which accepts the copy");
    }
  }

  /** Tells whether a name, beside nothing else of a store, is left of a creation cut short. */
  public static boolean isLeftOfCreation(String name) {
    return WriterNames.isName(name) || TemporaryNames.isTemporary(name);
  }

  private static List<String> all(MutableFiles files) {
    return files.list("").stream().filter(WriterNames::isName).toList();
  }

  /**
   * Tells whether there was the token of a writer before, which did not close the store. It was
   * killed, or it is still there and has lost its lock. Without a token the file {@code live} says
   * whether the store was closed: see {@link LiveState#writerBefore}.
   */
  public boolean isTakenOver() {
    return isTakenOver;
  }

  /** Tells whether no other writer has opened the store since. */
  public boolean isPresent() {
    return isPresent.getAsBoolean();
  }

  /**
   * Requires that no other writer has opened the store since.
   *
   * @throws WriterReplacedException if another has, or if the store's files are gone
   */
  public void require() {
    if (!isPresent()) {
      throw replaced(files);
    }
  }

  private static WriterReplacedException replaced(MutableFiles files) {
    return new WriterReplacedException(
        files.location(),
        "Cannot write to " + files.location()
            + " any more: another process has opened it for writing, or its files were moved or"
            + " deleted. A process loses its lock when it reads or deletes the file 'lock'. What"
            + " was acknowledged before is safe; open the store again, and copy stores with"
            + " 'zrecord backup' only");
  }

  /**
   * Says that this writer will change nothing any more. A token that came back after power loss
   * would do the store no harm, but a copy of the store would be refused.
   */
  public void release() {
    files.endWriting();
    files.delete(name);
    try {
      files.forceDirectory("");
    } catch (DiskFullException e) {
      LOG.warn(
          "After power loss {} may look as if its writer had been killed: {}",
          files.location(),
          e.getMessage());
    }
  }
}
