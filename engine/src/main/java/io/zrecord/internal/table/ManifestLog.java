package io.zrecord.internal.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The manifests of a table: lists and reads them, and publishes the next. Thread-safe. */
public final class ManifestLog {
  private static final int PUBLISH_ATTEMPTS = 3;
  private static final int READ_ATTEMPTS = 3;

  /**
   * Looks without success before a manifest counts as gone: others may put it back between two
   * looks and set it aside again.
   */
  private static final int PUT_BACK_MISSES = 3;

  private final Storage storage;

  public ManifestLog(Storage storage) {
    this.storage = storage;
  }

  /** Returns the numbers of the versions present, oldest first. */
  public List<Long> versions() {
    List<Long> versions = new ArrayList<>();
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      ManifestNames.version(file.name()).ifPresent(versions::add);
    }
    versions.sort(null);
    return versions;
  }

  /**
   * Runs a reading of versions. Runs it again on the remaining versions if one was expired
   * meanwhile.
   *
   * @param reading takes the versions present, oldest first; there may be none
   */
  public <T> T reading(Function<List<Long>, T> reading) {
    List<Long> versions = versions();
    while (true) {
      try {
        return reading.apply(versions);
      } catch (MissingFileException e) {
        List<Long> left = versions();
        if (left.containsAll(versions)) {
          // No version was expired: this is damage.
          throw e;
        }
        versions = left;
      }
    }
  }

  /**
   * Reads a version, even if its manifest was set aside.
   *
   * @throws io.zrecord.errors.MissingFileException if the version does not exist
   * @throws CorruptDataException if the manifest is damaged
   */
  public Manifest read(long version) {
    String name = ManifestNames.nameOf(version);
    int attempts = 0;
    while (true) {
      try {
        return read(name, version);
      } catch (MissingFileException e) {
        Optional<Manifest> aside = readAside(version);
        if (aside.isPresent()) {
          return aside.get();
        }
        // The manifest may have been put back.
        if (++attempts == READ_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private Optional<Manifest> readAside(long version) {
    for (ManifestAside aside : aside()) {
      if (aside.version() == version) {
        try {
          return Optional.of(read(aside.name(), version));
        } catch (MissingFileException e) {
          // Put back or deleted.
        }
      }
    }
    return Optional.empty();
  }

  private Manifest read(String name, long version) {
    try {
      return Manifest.read(storage.pathOf(name), version, storage.read(name, SealedJson.MAX_BYTES));
    } catch (CorruptDataException e) {
      throw withWayOut(e);
    }
  }

  /** Returns the manifests that were set aside and not yet put back or deleted. */
  public List<ManifestAside> aside() {
    List<ManifestAside> aside = new ArrayList<>();
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      ManifestNames.versionSetAside(file.name())
          .ifPresent(version ->
              aside.add(new ManifestAside(version, ManifestNames.DIRECTORY + "/" + file.name())));
    }
    return aside;
  }

  /**
   * Sets the manifest of a version aside; empty if there is no manifest under its name any more.
   */
  public Optional<ManifestAside> setAside(long version) {
    ManifestAside aside = new ManifestAside(version, ManifestNames.newAsideNameOf(version));
    return storage.rename(ManifestNames.nameOf(version), aside.name())
        ? Optional.of(aside)
        : Optional.empty();
  }

  /**
   * Puts the manifest of a version back if it was set aside. Returns whether the manifest is under
   * its name now.
   */
  public boolean putBack(long version) {
    String name = ManifestNames.nameOf(version);
    int misses = 0;
    while (misses < PUT_BACK_MISSES) {
      if (storage.exists(name)) {
        return true;
      }
      Optional<ManifestAside> found =
          aside().stream().filter(aside -> aside.version() == version).findFirst();
      if (found.isEmpty()) {
        misses++;
      } else if (storage.rename(found.get().name(), name)) {
        storage.forceDirectory(ManifestNames.DIRECTORY);
        return true;
      }
    }
    return false;
  }

  /** Deletes a manifest that was set aside, unless it was put back. */
  public void delete(ManifestAside aside) {
    storage.delete(aside.name());
  }

  private static CorruptDataException withWayOut(CorruptDataException e) {
    return new CorruptDataException(
        e.resource(),
        e.getMessage() + "; or read an older version of the table, with the option versionAsOf",
        e);
  }

  /** Returns the newest version, if there is one. */
  public Optional<Manifest> newest() {
    return reading(versions -> versions.isEmpty()
        ? Optional.empty()
        : Optional.of(read(versions.get(versions.size() - 1))));
  }

  /** Returns all shards of a version, including the shards of its lists. */
  public List<ShardSummary> shards(Manifest manifest) {
    List<ShardSummary> shards = new ArrayList<>();
    manifest.lists().forEach(list -> shards.addAll(shards(list)));
    shards.addAll(manifest.shards());
    return shards;
  }

  /** Returns the shards of a list. */
  public List<ShardSummary> shards(ShardListFile list) {
    try {
      return list.readFile(
          storage.pathOf(list.file()), storage.read(list.file(), SealedJson.MAX_BYTES));
    } catch (CorruptDataException e) {
      throw withWayOut(e);
    }
  }

  /**
   * Writes shards to new lists. The lists belong to a version as soon as a manifest names them.
   *
   * @param written takes each list before its file is written, so that the caller can delete the
   *     list after a failure
   */
  public void writeLists(List<ShardSummary> shards, List<ShardListFile> written) {
    for (int from = 0; from < shards.size(); from += ShardListFile.MAX_SHARDS) {
      List<ShardSummary> part =
          shards.subList(from, Math.min(shards.size(), from + ShardListFile.MAX_SHARDS));
      String name = "list/" + UUID.randomUUID() + ".json";
      ShardListFile list = new ShardListFile(
          name, part.size(), part.stream().mapToLong(ShardSummary::length).sum());
      byte[] content = ShardListFile.writeFile(part);
      requireReadable(name, content, path -> list.readFile(path, content));
      written.add(list);
      boolean isNew;
      try {
        isNew = storage.publish(name, content);
      } catch (CommitOutcomeUnknownException e) {
        // No manifest names the list, so its outcome does not matter: the commit has certainly not
        // happened.
        throw new StorageException(
            storage.pathOf(name),
            "Cannot write the shard list " + storage.pathOf(name) + ": " + e.getMessage(),
            e);
      }
      if (!isNew) {
        throw new StorageException(
            storage.pathOf(name),
            "Cannot write the shard list " + storage.pathOf(name)
                + ": the name is taken; try again");
      }
    }
  }

  /**
   * Publishes a version. If the outcome of an attempt is unclear, the commit id under the version's
   * name decides. While no file has that name, the same bytes are published again, which is safe
   * because the name is taken at most once.
   *
   * @return whether this commit has the version: {@code false} if another commit has it
   * @throws CommitOutcomeUnknownException if that cannot be found out
   */
  public boolean publish(Manifest manifest) {
    String name = ManifestNames.nameOf(manifest.version());
    byte[] content = manifest.write();
    requireReadable(name, content, path -> Manifest.read(path, manifest.version(), content));
    CommitOutcomeUnknownException unclear = null;
    for (int attempt = 1; attempt <= PUBLISH_ATTEMPTS; attempt++) {
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
      Optional<Manifest> present;
      try {
        present = Optional.of(read(manifest.version()));
      } catch (MissingFileException e) {
        present = Optional.empty();
        if (isTaken) {
          unclear = later(unclear, unknown(name, e));
        }
      } catch (RuntimeException e) {
        throw later(unclear, unknown(name, e));
      }
      if (present.isPresent()) {
        boolean isOurs = present.get().commitId().equals(manifest.commitId());
        if (isOurs && unclear != null) {
          forceName(unclear);
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
  private void forceName(CommitOutcomeUnknownException unclear) {
    try {
      storage.forceDirectory(ManifestNames.DIRECTORY);
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
  private void requireReadable(String name, byte[] content, Consumer<String> reading) {
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
