package io.zrecord.inspect;

import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TagLog;
import io.zrecord.storage.Storage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
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
  private final Map<Long, List<String>> tags;

  private TableHistory(Storage storage) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
    this.tags = new TagLog(storage)
        .all().stream()
            .collect(Collectors.groupingBy(
                TagLog.Entry::version,
                TreeMap::new,
                Collectors.mapping(TagLog.Entry::name, Collectors.toList())));
  }

  /**
   * Returns the history of the table in a storage, with the current tags.
   *
   * @throws io.zrecord.errors.CorruptDataException if a tag is damaged
   */
  public static TableHistory of(Storage storage) {
    return new TableHistory(storage);
  }

  /** Returns the numbers of the table's versions, oldest first. */
  public List<Long> versions() {
    return log.versions();
  }

  /**
   * Returns a version; empty if the version does not exist or was expired.
   *
   * @throws io.zrecord.errors.CorruptDataException if its manifest is damaged
   */
  public Optional<VersionEntry> find(long version) {
    return read(version).map(this::entry);
  }

  private Optional<Manifest> read(long version) {
    try {
      return Optional.of(log.read(version));
    } catch (MissingFileException e) {
      return Optional.empty();
    }
  }

  private VersionEntry entry(Manifest manifest) {
    Map<String, String> said = manifest.properties();
    OptionalLong removedBytes = number(said, "removedBytes");
    return new VersionEntry(
        manifest.version(),
        Instant.ofEpochMilli(manifest.timestampMillis()),
        manifest.operation(),
        Optional.ofNullable(said.get("applicationId")),
        Optional.ofNullable(said.get("user")),
        number(said, "addedRecords"),
        number(said, "addedBytes"),
        number(said, "removedRecords"),
        removedBytes.isEmpty() && ADDING.contains(manifest.operation())
            ? OptionalLong.of(0)
            : removedBytes,
        manifest.length(),
        manifest.lists().stream().mapToLong(ShardListFile::shardCount).sum()
            + manifest.shards().size(),
        tags.getOrDefault(manifest.version(), List.of()),
        said);
  }

  private static OptionalLong number(Map<String, String> said, String key) {
    try {
      long number = Long.parseLong(said.getOrDefault(key, ""));
      return number < 0 ? OptionalLong.empty() : OptionalLong.of(number);
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  /**
   * Returns the files that describe a version only: the manifest and the lists of shards. For the
   * files of the shards see {@link ShardInspection#files}.
   *
   * @throws MissingFileException if there is no such version
   */
  public List<DatasetFile> files(long version) {
    List<DatasetFile> files = new ArrayList<>();
    files.add(file(storage, ManifestNames.nameOf(version), DatasetFile.Kind.MANIFEST));
    for (ShardListFile list : log.read(version).lists()) {
      files.add(file(storage, list.file(), DatasetFile.Kind.LIST));
    }
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
