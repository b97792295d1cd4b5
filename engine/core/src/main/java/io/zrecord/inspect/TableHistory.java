package io.zrecord.inspect;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.storage.Storage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The versions of a table, by their manifests. Lists of shards are not read. Memory holds one
 * manifest, the tags and the versions' numbers. Thread-safe.
 */
public final class TableHistory {
  /** Operations of commits that remove nothing. */
  private static final Set<String> ADDING = Set.of("append", "create");

  private final Storage storage;
  private final ManifestLog log;
  private final Optional<RetainedVersions> retained;
  private final Map<Long, List<String>> tags;

  private TableHistory(Storage storage) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
    Optional<Manifest> newest = newestUnlessDamaged();
    this.retained = newest.map(manifest -> new RetainedVersions(log, storage.location(), manifest));
    this.tags = newest.map(Manifest::tags).orElse(List.of()).stream()
        .collect(Collectors.groupingBy(
            TagEntry::version,
            TreeMap::new,
            Collectors.mapping(TagEntry::name, Collectors.toList())));
  }

  private Optional<Manifest> newestUnlessDamaged() {
    try {
      return log.last();
    } catch (CorruptDataException | TruncatedFileException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns the history of the table in a storage, up to its newest version now. If the manifest of
   * that version is damaged, there are no tags, and every manifest is taken for a version.
   */
  public static TableHistory of(Storage storage) {
    return new TableHistory(storage);
  }

  /** Returns the numbers of the versions that can be read, oldest first. */
  public List<Long> versions() {
    return retained.map(RetainedVersions::numbers).orElseGet(log::listed);
  }

  /**
   * Returns a version; empty if the version does not exist or was expired.
   *
   * @throws io.zrecord.errors.CorruptDataException if its manifest is damaged
   */
  public Optional<VersionEntry> find(long version) {
    try {
      return Optional.of(entry(read(version)));
    } catch (MissingFileException | VersionNotFoundException e) {
      return Optional.empty();
    }
  }

  private Manifest read(long version) {
    return retained.isPresent()
        ? retained.get().read(version)
        : log.chain().readUnlessReplaced(version);
  }

  private VersionEntry entry(Manifest manifest) {
    return new VersionEntry(
        manifest.version(),
        Instant.ofEpochMilli(manifest.timestampMillis()),
        manifest.operation(),
        Optional.ofNullable(manifest.properties().get("applicationId")),
        Optional.ofNullable(manifest.properties().get("user")),
        figure(manifest, "addedRecords", manifest.isCare()),
        figure(manifest, "addedBytes", manifest.isCare()),
        figure(manifest, "removedRecords", manifest.isCare()),
        figure(
            manifest, "removedBytes", manifest.isCare() || ADDING.contains(manifest.operation())),
        manifest.length(),
        manifest.lists().stream().mapToLong(ShardListFile::shardCount).sum()
            + manifest.shards().size(),
        tags.getOrDefault(manifest.version(), List.of()),
        manifest.properties(),
        manifest.commitId(),
        manifest.previous().isEmpty() || manifest.isBeginning()
            ? OptionalLong.empty()
            : OptionalLong.of(manifest.version() - 1),
        manifest.transactions());
  }

  /**
   * Returns a figure among the properties; empty if there is none.
   *
   * @param isZero whether the operation makes the figure 0 if there is none
   */
  private static OptionalLong figure(Manifest manifest, String key, boolean isZero) {
    OptionalLong none = isZero ? OptionalLong.of(0) : OptionalLong.empty();
    try {
      long number = Long.parseLong(manifest.properties().getOrDefault(key, ""));
      return number < 0 ? none : OptionalLong.of(number);
    } catch (NumberFormatException e) {
      return none;
    }
  }

  /**
   * Returns the files that describe a version only: the manifest, or the copy that a tag keeps of
   * it, and the lists of shards. For the files of the shards see {@link ShardInspection#files}.
   *
   * @throws VersionNotFoundException if there is no such version
   * @throws MissingFileException if the version was expired since the history was opened
   */
  public List<DatasetFile> files(long version) {
    List<DatasetFile> files = new ArrayList<>();
    String name = retained
        .map(versions -> versions.fileOf(version))
        .orElseGet(() -> ManifestNames.nameOf(version));
    files.add(file(storage, name, DatasetFile.Kind.MANIFEST));
    Consumer<ShardListFile> add =
        list -> files.add(file(storage, list.file(), DatasetFile.Kind.LIST));
    log.lists(read(version), add).forEach(add);
    return files;
  }

  private static DatasetFile file(Storage storage, String name, DatasetFile.Kind kind) {
    return new DatasetFile(name, kind, Optional.empty(), lengthBytes(storage, name));
  }

  /** Returns the length of a file in bytes; empty if the file is missing. */
  static OptionalLong lengthBytes(Storage storage, String name) {
    try {
      return OptionalLong.of(storage.lengthBytes(name));
    } catch (MissingFileException e) {
      return OptionalLong.empty();
    }
  }
}
