package io.zrecord.table;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The files that the versions of a table name. Takes some hundred bytes a shard, whatever the
 * number of versions, because each list of shards is read once. The set only grows: files of a
 * version that was expired meanwhile, or of a tag that was removed, stay. Belongs to one thread.
 */
final class NamedFiles {
  private final Storage storage;
  private final ManifestLog log;
  private final Set<Long> versions = new HashSet<>();
  private final Set<String> lists = new LinkedHashSet<>();

  /**
   * What the file of each list has, by an element that replaces nothing. An element with other
   * counts leads to the file again, which is refused then.
   */
  private final Map<ShardListFile, List<ShardSummary>> inFiles = new HashMap<>();

  /** The ordinals of shards of the file of a list that each version so far has replaced. */
  private final Map<String, Set<Integer>> replaced = new HashMap<>();

  /** What the lists of lists of the version that was read last have, likewise. */
  private Map<ShardListFile, List<ShardListFile>> members = new HashMap<>();

  private final Set<String> tagFiles = new LinkedHashSet<>();
  private final Map<UUID, Set<ShardSummary>> shards = new LinkedHashMap<>();

  /** Chunks of each shard that other shards name. */
  private final Map<UUID, Set<String>> lent = new LinkedHashMap<>();

  private final List<ShardSummary> unchecked = new ArrayList<>();
  private Optional<Manifest> last = Optional.empty();

  NamedFiles(Storage storage) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
  }

  /**
   * Reads the versions committed since the last call.
   *
   * @throws io.zrecord.errors.MissingFileException if the named files cannot be determined, because
   *     the manifest of a version and the copies of its tags are missing
   */
  void refresh() {
    last = log.readingLast(this::add).or(() -> last);
  }

  /** Returns the newest version or retraction when the versions were read last. */
  Optional<Manifest> last() {
    return last;
  }

  /** Returns the newest version when the versions were read last; empty if there was no table. */
  Optional<Manifest> table() {
    return last.filter(Manifest::isTable);
  }

  /** Returns the retraction that was the newest version when the versions were read last. */
  Optional<Manifest> retraction() {
    return last.filter(manifest -> !manifest.isTable());
  }

  /** Adds what the newest version keeps, and returns that version. */
  private Manifest add(Manifest latest) {
    RetainedVersions retained = new RetainedVersions(log, storage.location(), latest);
    addVersion(latest);
    // Downwards, because each version is compared with the next.
    for (long version = latest.version() - 1; version >= latest.oldest(); version--) {
      if (!versions.contains(version)) {
        addVersion(retained.read(version));
      }
    }
    List<TagEntry> tags = new ArrayList<>(latest.tags());
    tags.sort(Comparator.comparingLong(TagEntry::version).reversed());
    for (TagEntry tag : tags) {
      if (!versions.contains(tag.version())) {
        addVersion(retained.read(tag.version()));
      }
      tagFiles.add(tag.file());
    }
    return latest;
  }

  /**
   * Tells whether a version was committed since the last time. Takes one call of the storage,
   * however many versions there are.
   */
  boolean hasNext() {
    return storage.exists(
        ManifestNames.nameOf(last.map(manifest -> manifest.version() + 1).orElse(0L)));
  }

  /**
   * Requires that this release knows what all named shards need of programs that delete, as far as
   * they were named since the last call. Manifests and lists are looked at when they are read.
   * Reads what the tables files of each shard say.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if a shard uses an unknown feature: it may
   *     need files that are not known here
   */
  void requireWritable() {
    Requests.forEach(storage, unchecked, shard -> TablesFile.requireWritable(storage, shard));
    unchecked.clear();
  }

  private void addVersion(Manifest manifest) {
    manifest.requireWritable(storage.location());
    Map<ShardListFile, List<ShardListFile>> present = new HashMap<>();
    for (ShardListFile list : manifest.lists()) {
      if (list.isOfLists()) {
        ShardListFile unreplaced = list.unreplaced();
        List<ShardListFile> inFile = members.get(unreplaced);
        List<ShardListFile> named = inFile == null ? log.membersToChange(list) : inFile;
        present.put(unreplaced, named);
        list.standing(named).forEach(this::addList);
        lists.add(list.file());
      } else {
        addList(list);
      }
    }
    members = present;
    add(manifest.shards());
    add(manifest.indexMap().stream().toList());
    versions.add(manifest.version());
  }

  private void addList(ShardListFile list) {
    List<ShardSummary> inFile = inFiles.computeIfAbsent(
        list.unreplaced(),
        file ->
            log.shardsToChange(file).stream().map(ShardSummary::withoutSizes).toList());
    // A sweep must not go by a list that is damaged.
    log.standing(list, inFile);
    Set<Integer> before = replaced.get(list.file());
    Set<Integer> after = list.replaced().ordinals();
    if (before == null) {
      for (int i = 0; i < inFile.size(); i++) {
        addUnless(after.contains(i), inFile.get(i));
      }
    } else {
      for (int ordinal : before) {
        addUnless(after.contains(ordinal), inFile.get(ordinal));
      }
      after.retainAll(before);
    }
    replaced.put(list.file(), after);
    add(list.replaced().shards().toList());
    lists.add(list.file());
  }

  private void addUnless(boolean isReplaced, ShardSummary shard) {
    if (!isReplaced) {
      add(List.of(shard));
    }
  }

  private void add(List<ShardSummary> named) {
    for (ShardSummary shard : named) {
      ShardSummary files = shard.withoutSizes();
      Set<ShardSummary> present = shards.getOrDefault(shard.id(), Set.of());
      if (!present.contains(files)) {
        shards.put(shard.id(), with(present, files));
        unchecked.add(files);
        files.chunks().stream()
            .filter(chunk -> chunk.owner() != null)
            .forEach(
                chunk -> lent.computeIfAbsent(chunk.ownerIn(shard), owner -> new LinkedHashSet<>())
                    .add(chunk.fileName()));
      }
    }
  }

  private static Set<ShardSummary> with(Set<ShardSummary> present, ShardSummary added) {
    Set<ShardSummary> all = new LinkedHashSet<>(present);
    all.add(added);
    return Collections.unmodifiableSet(all);
  }

  /** Returns the number of versions that were read. */
  int versionCount() {
    return versions.size();
  }

  /** Returns the number of files that are named, without manifests. */
  long fileCount() {
    return besideShards().count()
        + shards().stream().mapToLong(id -> filesOf(id).size()).sum();
  }

  /** Returns the named lists and copies of manifests. */
  Stream<String> besideShards() {
    return Stream.concat(lists.stream(), tagFiles.stream());
  }

  /** Returns the shards in whose directories there are named files. */
  Set<UUID> shards() {
    Set<UUID> all = new LinkedHashSet<>(shards.keySet());
    all.addAll(lent.keySet());
    return all;
  }

  boolean namesList(String file) {
    return lists.contains(file);
  }

  boolean namesTagFile(String file) {
    return tagFiles.contains(file);
  }

  boolean namesShard(UUID shard) {
    return shards.containsKey(shard) || lent.containsKey(shard);
  }

  /** Returns the named files in the directory of a shard, relative to that. */
  Set<String> filesOf(UUID id) {
    Set<String> files = new LinkedHashSet<>(lent.getOrDefault(id, Set.of()));
    for (ShardSummary shard : shards.getOrDefault(id, Set.of())) {
      shard.tables().forEach(tables -> files.add(tables.fileName()));
      PatchRef patch = shard.patch();
      if (patch != null) {
        files.add(patch.fileName());
      }
      shard.chunks().stream()
          .filter(chunk -> chunk.owner() == null)
          .forEach(chunk -> files.add(chunk.fileName()));
    }
    return files;
  }
}
