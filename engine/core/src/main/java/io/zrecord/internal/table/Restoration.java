package io.zrecord.internal.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a repair keeps when it publishes the newest readable version again (FORMAT.md section 18):
 * the versions that are there without a gap, and copies of tags that were made in versions given
 * up. Immutable.
 */
public final class Restoration {
  private static final String RECOVERED = "recovered-";

  private final Manifest current;
  private final long oldest;
  private final List<TagEntry> recovered;

  private Restoration(Manifest current, long oldest, List<TagEntry> recovered) {
    this.current = current;
    this.oldest = oldest;
    this.recovered = List.copyOf(recovered);
  }

  /**
   * Finds out what a repair keeps.
   *
   * @param current the newest version that can be read
   */
  public static Restoration of(Storage storage, ManifestLog log, Manifest current) {
    long oldest = oldestOf(log, current);
    return new Restoration(current, oldest, recovered(storage, log, current, oldest));
  }

  /**
   * Returns the lowest number, not below the floor, from which on each manifest is there and
   * follows the one before. Others below may have been expired by a version that is given up.
   */
  public long oldest() {
    return oldest;
  }

  /** Tells whether a version between the floor and the newest is missing, or does not fit. */
  public boolean hasGap() {
    return oldest > current.oldest();
  }

  /** Returns the tags that the repair adds. */
  public List<TagEntry> recovered() {
    return recovered;
  }

  /** Returns what the repair keeps. */
  public Retention retention(long nowMillis) {
    List<TagEntry> tags = new ArrayList<>(current.tags());
    recovered.forEach(tag -> tags.add(tag.at(nowMillis)));
    tags.sort(Comparator.comparing(TagEntry::name));
    return current.retention().withOldest(oldest).withTags(tags);
  }

  private static long oldestOf(ManifestLog log, Manifest current) {
    long oldest = current.version();
    try {
      for (Link link = log.link(oldest); oldest > current.oldest(); oldest--) {
        Link below = log.link(oldest - 1);
        if (!link.follows(below)) {
          break;
        }
        link = below;
      }
    } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
      // Whatever is below cannot be told from what an expiry left.
    }
    return oldest;
  }

  private static List<TagEntry> recovered(
      Storage storage, ManifestLog log, Manifest current, long oldest) {
    Set<String> namedFiles = new HashSet<>();
    Set<String> names = new HashSet<>();
    Set<Long> versions = new HashSet<>();
    for (TagEntry tag : current.tags()) {
      namedFiles.add(tag.file());
      names.add(tag.name());
      versions.add(tag.version());
    }
    List<TagEntry> recovered = new ArrayList<>();
    for (StoredFile file : storage.list(TagNames.DIRECTORY)) {
      String name = TagNames.DIRECTORY + "/" + file.name();
      if (!TagNames.isFile(name)
          || namedFiles.contains(name)
          || names.size() + recovered.size() >= Manifest.MAX_TAGS) {
        continue;
      }
      recovered(storage, log, current, oldest, name)
          .filter(tag -> !names.contains(tag.name()) && versions.add(tag.version()))
          .ifPresent(recovered::add);
    }
    return recovered;
  }

  /** Returns a tag for a copy that no tag names, if the copy fits and its shards are there. */
  private static Optional<TagEntry> recovered(
      Storage storage, ManifestLog log, Manifest current, long oldest, String file) {
    String path = storage.pathOf(file);
    try {
      byte[] content = storage.read(file, SealedJson.MAX_BYTES);
      long version = SealedJson.openMembers(path, content, Set.of("version"))
          .integer("version", 0, Long.MAX_VALUE);
      ManifestFile copy = ManifestFile.read(path, version, content);
      boolean fits = copy.manifest().tableId().equals(current.tableId())
          && version <= current.version()
          && (version < oldest
              || log.link(version).commitId().equals(copy.manifest().commitId()))
          && log.shards(copy.manifest()).stream()
              .flatMap(Restoration::tablesFiles)
              .allMatch(storage::exists);
      return fits ? Optional.of(copy.tag(RECOVERED + version, 0, file)) : Optional.empty();
    } catch (CorruptDataException
        | TruncatedFileException
        | MissingFileException
        | UnsupportedFormatException e) {
      return Optional.empty();
    }
  }

  private static Stream<String> tablesFiles(ShardSummary shard) {
    Stream<String> patch = Stream.ofNullable(shard.patch()).map(PatchRef::fileName);
    return Stream.concat(shard.tables().stream().map(TablesRef::fileName), patch)
        .map(name -> shard.directory() + "/" + name);
  }
}
