package io.zrecord.internal.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.storage.Storage;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Publishes manifests, the files that manifests name, and states of namespaces. Thread-safe. */
public final class Publication {
  private static final int ATTEMPTS = 3;

  private final Storage storage;

  public Publication(Storage storage) {
    this.storage = storage;
  }

  /**
   * Publishes a file under a name that nobody else knows, and that no manifest has yet. If the name
   * is taken, an earlier attempt of this call took it: storages repeat requests whose answers are
   * lost. A failure is one of the commit, which has certainly not happened.
   */
  void publishNew(String name, byte[] content, String what) {
    ZRecordException failure = null;
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        if (storage.publish(name, content)) {
          return;
        }
        if (Arrays.equals(storage.read(name, SealedJson.MAX_BYTES), content)) {
          storage.forceDirectory(name.substring(0, name.lastIndexOf('/')));
          return;
        }
      } catch (CommitOutcomeUnknownException | MissingFileException e) {
        failure = e;
      }
    }
    String path = storage.pathOf(name);
    throw new StorageException(
        path,
        "Cannot write the " + what + " " + path + ": "
            + (failure == null ? "another file has the name" : failure.getMessage()),
        failure);
  }

  /**
   * Publishes a version, as {@link #publish(String, byte[], UUID, Supplier)} does.
   *
   * @param reading reads the manifest that has the version's name
   */
  boolean publish(Manifest manifest, Supplier<Manifest> reading) {
    String name = ManifestNames.nameOf(manifest.version());
    byte[] content = manifest.write();
    requireReadable(name, content, path -> Manifest.read(path, manifest.version(), content));
    return publish(name, content, manifest.commitId(), () -> reading.get().commitId());
  }

  /**
   * Publishes a commit under a name that is taken at most once. If the outcome of an attempt is
   * unclear, the commit id under the name decides. While no file has that name, the same bytes are
   * published again, which is safe because the name is taken at most once.
   *
   * @param reading reads the commit id of the file that has the name
   * @return whether this commit has the name: {@code false} if another commit has it
   * @throws CommitOutcomeUnknownException if that cannot be found out
   */
  public boolean publish(String name, byte[] content, UUID commitId, Supplier<UUID> reading) {
    CommitOutcomeUnknownException unclear = null;
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
      boolean isTaken = false;
      try {
        if (storage.publish(name, content)) {
          return true;
        }
        // Perhaps taken by this commit: a storage that repeats a request may meet its own earlier
        // success.
        isTaken = true;
      } catch (CommitOutcomeUnknownException e) {
        unclear = later(unclear, e);
      } catch (ZRecordException e) {
        if (unclear == null) {
          throw e;
        }
        unclear.addSuppressed(e);
      } catch (RuntimeException e) {
        // The contract excludes this exception, so it proves nothing.
        unclear = later(unclear, unknown(name, e));
      }
      Optional<UUID> present;
      try {
        present = Optional.of(reading.get());
      } catch (MissingFileException e) {
        present = Optional.empty();
        if (isTaken) {
          unclear = later(unclear, unknown(name, e));
        }
      } catch (RuntimeException e) {
        throw later(unclear, unknown(name, e));
      }
      if (present.isPresent()) {
        boolean isOurs = present.get().equals(commitId);
        if (isOurs && unclear != null) {
          forceName(name, unclear);
        }
        return isOurs;
      }
    }
    throw Objects.requireNonNull(unclear);
  }

  /**
   * Makes the name survive power loss. The file exists, but an unclear attempt may have failed to
   * force the directory.
   */
  private void forceName(String name, CommitOutcomeUnknownException unclear) {
    try {
      storage.forceDirectory(name.substring(0, name.lastIndexOf('/')));
    } catch (ZRecordException e) {
      unclear.addSuppressed(e);
      throw unclear;
    }
  }

  private static CommitOutcomeUnknownException later(
      @Nullable CommitOutcomeUnknownException first, CommitOutcomeUnknownException next) {
    if (first == null) {
      return next;
    }
    first.addSuppressed(next);
    return first;
  }

  private CommitOutcomeUnknownException unknown(String name, RuntimeException cause) {
    return new CommitOutcomeUnknownException(
        storage.pathOf(name),
        "Cannot tell whether " + storage.pathOf(name) + " was published: " + cause.getMessage()
            + "; delete nothing, and read the newest version when the storage answers again",
        cause);
  }

  /**
   * Refuses content that readers would refuse: a commit must not lose a table.
   *
   * @param reading reads the content as readers do, given its path
   */
  void requireReadable(String name, byte[] content, Consumer<String> reading) {
    String path = storage.pathOf(name);
    if (content.length > SealedJson.MAX_BYTES) {
      throw new StorageException(
          path,
          "Cannot write " + path + ": it would have " + content.length
              + " bytes, but readers accept " + SealedJson.MAX_BYTES
              + "; write larger chunks, so that there are fewer of them");
    }
    try {
      reading.accept(path);
    } catch (ZRecordException e) {
      throw new StorageException(
          path,
          "Cannot write " + path + ", for readers would refuse it: " + e.getMessage()
              + ". Nothing was committed; verify the dataset that its shards were made of",
          e);
    }
  }
}
