package io.zrecord;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.internal.dataset.DirectoryGuess;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.table.VersionHint;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Lists the kinds of datasets (FORMAT.md section 1), and tells which kind a directory holds. */
public enum DatasetKind {
  /** Versions of immutable shards. */
  TABLE,
  /** One shard that is written online. */
  STORE;

  /**
   * Tells what a location holds, damaged or not.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   * @throws NotADatasetException if the location has no dataset; the message says what the location
   *     seems to have and what to do
   */
  public static DatasetKind of(String location) {
    return of(Storages.at(location));
  }

  /**
   * Tells what the root of a storage holds, damaged or not.
   *
   * @throws NotADatasetException if the root is no dataset; the message says what the root seems to
   *     be and what to do
   */
  public static DatasetKind of(Storage storage) {
    if (storage instanceof LocalStorage) {
      DirectoryGuess.requireDirectory(Path.of(storage.location()));
    }
    return find(storage).orElseThrow(() -> DirectoryGuess.notADataset(storage));
  }

  /** Tells what the root of a storage holds, damaged or not; empty if the root is no dataset. */
  public static Optional<DatasetKind> find(Storage storage) {
    if (storage.isRemote() && VersionHint.readable(storage).isPresent()) {
      return Optional.of(TABLE); // One request instead of two lists.
    }
    List<StoredFile> found = storage.list("");
    boolean hasManifests = has(found, ManifestNames.DIRECTORY, StoredFile::isDirectory);
    if (hasManifests && hasVersions(storage)) {
      return Optional.of(TABLE);
    }
    boolean hasMeta = hasFile(found, ShardMeta.FILE_NAME);
    if (hasFile(found, JournalRecord.FILE_NAME) && (hasMeta || isJournal(storage))) {
      return Optional.of(STORE); // Also without its meta file, which may have been lost.
    }
    if (hasMeta && isStore(storage)) {
      return Optional.of(STORE);
    }
    return hasManifests ? Optional.of(TABLE) : Optional.empty();
  }

  private static boolean hasFile(List<StoredFile> found, String name) {
    return has(found, name, file -> !file.isDirectory());
  }

  private static boolean has(List<StoredFile> found, String name, Predicate<StoredFile> kind) {
    return found.stream().anyMatch(file -> file.name().equals(name) && kind.test(file));
  }

  private static boolean hasVersions(Storage storage) {
    return ManifestNames.includeVersion(
        storage.list(ManifestNames.DIRECTORY).stream().map(StoredFile::name).toList());
  }

  /** Other programs have files of that name as well. */
  private static boolean isJournal(Storage storage) {
    try (ReadableFile file = storage.open(JournalRecord.FILE_NAME)) {
      byte[] header = new byte[JournalHeader.BYTES];
      if (file.lengthBytes() < header.length) {
        return false;
      }
      file.region(0, header.length).get(header);
      return JournalHeader.isWhole(header);
    }
  }

  private static boolean isStore(Storage storage) {
    return StoreMeta.isStore(
        storage.pathOf(ShardMeta.FILE_NAME),
        storage.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
  }
}
