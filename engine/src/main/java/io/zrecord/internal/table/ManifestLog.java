package io.zrecord.internal.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TagNames;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The manifests of a table: lists and reads them, and publishes the next. Thread-safe. */
public final class ManifestLog {
  private static final int PUBLISH_ATTEMPTS = 3;

  private final Storage storage;

  public ManifestLog(Storage storage) {
    this.storage = storage;
  }

  /**
   * Returns the numbers of the manifests present, lowest first. Numbers below the floor of the
   * newest version have no meaning.
   */
  public List<Long> listed() {
    List<Long> versions = new ArrayList<>();
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      if (!file.isDirectory()) {
        ManifestNames.version(file.name()).ifPresent(versions::add);
      }
    }
    versions.sort(null);
    return versions;
  }

  /** Returns the newest version; empty if there is no table. */
  public Optional<Manifest> newest() {
    return last().filter(Manifest::isTable);
  }

  /**
   * Returns the manifest with the greatest number, which may be a retraction. The next version
   * follows it.
   */
  public Optional<Manifest> last() {
    OptionalLong missing = OptionalLong.empty();
    while (true) {
      List<Long> listed = listed();
      if (listed.isEmpty()) {
        return Optional.empty();
      }
      long greatest = listed.get(listed.size() - 1);
      try {
        return Optional.of(read(greatest));
      } catch (MissingFileException e) {
        // Expired since the directory was read, unless it is the greatest again.
        if (missing.equals(OptionalLong.of(greatest))) {
          throw e;
        }
        missing = OptionalLong.of(greatest);
      }
    }
  }

  /**
   * Runs a reading of versions. Runs it again if a file was missing and there is a newer version,
   * because an expiry and a sweep may have come between.
   *
   * @param reading takes the newest version
   * @return empty if there is no table
   */
  public <T> Optional<T> reading(Function<Manifest, T> reading) {
    return reading(this::newest, reading);
  }

  /** Runs a reading as {@link #reading} does, given what {@link #last} returns. */
  public <T> Optional<T> readingLast(Function<Manifest, T> reading) {
    return reading(this::last, reading);
  }

  private static <T> Optional<T> reading(
      Supplier<Optional<Manifest>> latest, Function<Manifest, T> reading) {
    Optional<Manifest> newest = latest.get();
    while (newest.isPresent()) {
      try {
        return Optional.of(reading.apply(newest.get()));
      } catch (MissingFileException e) {
        Optional<Manifest> now = latest.get();
        if (now.map(Manifest::commitId).equals(newest.map(Manifest::commitId))) {
          // Nothing was expired: this is damage.
          throw e;
        }
        newest = now;
      }
    }
    return Optional.empty();
  }

  /**
   * Reads the manifest of a version, even below the floor; {@link RetainedVersions} tells which
   * versions count.
   *
   * @throws MissingFileException if the file does not exist
   * @throws CorruptDataException if the manifest is damaged
   */
  public Manifest read(long version) {
    return file(version).manifest();
  }

  /** Reads the manifest of a version as {@link #read(long)} does. */
  ManifestFile file(long version) {
    String name = ManifestNames.nameOf(version);
    try {
      return ManifestFile.read(
          storage.pathOf(name), version, storage.read(name, SealedJson.MAX_BYTES));
    } catch (CorruptDataException e) {
      throw withWayOut(e);
    }
  }

  /**
   * Reads the version that a tag keeps by its copy.
   *
   * @throws MissingFileException if the copy does not exist
   * @throws CorruptDataException if the copy is damaged, or another file
   */
  public Manifest read(TagEntry tag) {
    return file(tag).manifest();
  }

  /** Reads the copy of a tag as {@link #read(TagEntry)} does. */
  ManifestFile file(TagEntry tag) {
    String path = storage.pathOf(tag.file());
    byte[] file = storage.read(tag.file(), SealedJson.MAX_BYTES);
    int checksum = SealedJson.checksum(path, file);
    if (file.length != tag.lengthBytes() || checksum != tag.checksum()) {
      throw new CorruptDataException(
          path,
          "Cannot read " + path + ": it has " + file.length + " bytes with checksum "
              + HexFormat.of().toHexDigits(checksum) + ", but tag '" + tag.name() + "' says "
              + tag.lengthBytes() + " with " + HexFormat.of().toHexDigits(tag.checksum())
              + "; restore it from a copy");
    }
    return ManifestFile.read(path, tag.version(), file);
  }

  /** Reads what chains a version to the version before. */
  public Link link(long version) {
    String name = ManifestNames.nameOf(version);
    return Link.read(storage.pathOf(name), version, storage.read(name, SealedJson.MAX_BYTES));
  }

  /**
   * Copies the manifest of a version, for a tag.
   *
   * @return the tag, which the caller publishes, or whose copy the caller deletes
   * @throws StorageException if the copy cannot be written
   */
  public TagEntry copy(ManifestFile manifest, String tagName, long nowMillis) {
    String file = TagNames.newFile();
    publishNew(file, manifest.content(), "copy of a manifest");
    return manifest.tag(tagName, nowMillis, file);
  }

  private static CorruptDataException withWayOut(CorruptDataException e) {
    return new CorruptDataException(
        e.resource(),
        e.getMessage() + "; or read an older version of the table, with the option versionAsOf",
        e);
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
   * Returns the shards of a list that is to be written again, or beside which files are deleted.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the list uses a feature that this
   *     release does not know
   */
  public List<ShardSummary> shardsToChange(ShardListFile list) {
    list.requireWritable(
        storage.pathOf(list.file()), storage.read(list.file(), SealedJson.MAX_BYTES));
    return shards(list);
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
      publishNew(name, content, "shard list");
    }
  }

  /** Publishes a file under a name that nobody else knows, and that no manifest has yet. */
  private void publishNew(String name, byte[] content, String what) {
    String path = storage.pathOf(name);
    boolean isNew;
    try {
      isNew = storage.publish(name, content);
    } catch (CommitOutcomeUnknownException e) {
      // No manifest names the file, so its outcome does not matter: the commit has certainly not
      // happened.
      throw new StorageException(
          path, "Cannot write the " + what + " " + path + ": " + e.getMessage(), e);
    }
    if (!isNew) {
      throw new StorageException(
          path, "Cannot write the " + what + " " + path + ": the name is taken; try again");
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
