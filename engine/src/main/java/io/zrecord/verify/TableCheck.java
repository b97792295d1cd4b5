package io.zrecord.verify;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestAside;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardList;
import io.zrecord.internal.table.TagLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.IndexMap;
import io.zrecord.verify.Finding.Kind;
import io.zrecord.verify.SealedShardCheck.Depth;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks a table (FORMAT.md section 7): every manifest, the files of every shard that one of them names, and the values of the
 * versions asked for. Belongs to one thread.
 */
final class TableCheck {
  private final CheckRun run;
  private final Consumer<ShardVerification> shards;
  private final Storage storage;
  private final ManifestLog log;
  private final Set<String> checkedShards = new HashSet<>();
  private final Set<String> namedShards = new HashSet<>();
  private final Set<String> namedLists = new HashSet<>();
  private boolean isComplete = true;

  /** @param shards checks each shard when its turn comes, or takes care that somebody does */
  TableCheck(CheckRun run, Storage storage, Consumer<ShardVerification> shards) {
    this.run = run;
    this.shards = shards;
    this.storage = storage;
    this.log = new ManifestLog(storage);
  }

  void check(VersionChoice choice) {
    List<Long> versions = log.versions();
    requirePresent(choice, versions);
    List<Long> newestFirst = new ArrayList<>(versions);
    newestFirst.sort(Comparator.reverseOrder());
    // Versions whose values are checked come first: a shard is looked at once.
    List<Long> left = checkValues(choice, newestFirst);
    for (long version : left) {
      check(version, Depth.FILES);
    }
    for (ManifestAside aside : log.aside()) {
      if (!versions.contains(aside.version())) {
        check(aside.version(), Depth.FILES);
      }
    }
    checkSuccession(versions);
    checkTags(versions);
    if (isComplete) {
      new OrphanSearch(run, storage).search(namedShards, namedLists);
    } else {
      run.found(
          Kind.NOTE,
          storage.location(),
          "files that no version names were not looked for, because not every manifest can be read");
    }
  }

  /** Returns the versions whose values were not to be checked. */
  private List<Long> checkValues(VersionChoice choice, List<Long> newestFirst) {
    List<Long> left = new ArrayList<>();
    boolean isNewestDone = false;
    for (long version : newestFirst) {
      boolean isDue =
          choice.equals(VersionChoice.NEWEST) ? !isNewestDone : choice.includes(version);
      if (isDue) {
        // If the newest one cannot be read, the next takes its place.
        isNewestDone |= check(version, Depth.VALUES);
      } else {
        left.add(version);
      }
    }
    return left;
  }

  private void requirePresent(VersionChoice choice, List<Long> versions) {
    if (versions.isEmpty()) {
      run.found(
          Kind.MANIFEST,
          storage.pathOf("manifest"),
          "it has no manifest: the table was never committed, or all its manifests were removed");
    } else if (choice.version().isPresent()
        && !versions.contains(choice.version().getAsLong())) {
      throw new VersionNotFoundException(
          storage.location(),
          "Cannot check version " + choice.version().getAsLong() + " of " + storage.location()
              + ": the versions are " + versions.get(0) + " to "
              + versions.get(versions.size() - 1));
    }
  }

  /** Returns whether the manifest can be read. */
  private boolean check(long version, Depth depth) {
    Manifest manifest;
    List<ShardSummary> named;
    try {
      manifest = log.read(version);
      named = log.shards(manifest);
    } catch (ZRecordException e) {
      isComplete = false;
      if (e instanceof MissingFileException && !isPresent(version)) {
        run.found(Kind.NOTE, e.resource(), "version " + version + " was expired meanwhile");
      } else {
        run.found(
            Kind.MANIFEST,
            e.resource(),
            "version " + version + " cannot be read: " + ChunkFiles.reason(e));
      }
      return false;
    }
    manifest.lists().stream().map(ShardList::file).forEach(namedLists::add);
    List<ShardSummary> due =
        named.stream().filter(shard -> !checkedShards.contains(keyOf(shard))).toList();
    if (depth == Depth.VALUES) {
      run.expect(due.stream().mapToLong(ShardVerification::valueBytes).sum());
    }
    long firstIndex = 0;
    for (ShardSummary shard : named) {
      namedShards.add(shard.id().toString());
      if (checkedShards.add(keyOf(shard))) {
        shards.accept(
            new ShardVerification(storage.location(), shard, manifest.schema(), firstIndex, depth));
      }
      firstIndex += shard.length();
    }
    manifest.indexMap().ifPresent(map -> checkIndexMap(map, version, depth));
    return true;
  }

  private void checkIndexMap(ShardSummary map, long version, Depth depth) {
    namedShards.add(map.id().toString());
    long bytes = ShardVerification.valueBytes(map);
    if (depth == Depth.VALUES) {
      run.expect(bytes);
      run.beginPart(0, bytes);
    }
    MutableFiles files = new LocalMutableFiles(Path.of(storage.location()));
    new SealedShardCheck(run, files, depth).check(map, IndexMap.SCHEMA, 0);
    if (depth == Depth.VALUES) {
      run.endPart();
      new IndexMapCheck(run, storage).check(version);
    }
  }

  private static String keyOf(ShardSummary shard) {
    return shard.id() + "/" + shard.metaFile();
  }

  private void checkTags(List<Long> versions) {
    try {
      for (TagLog.Entry tag : new TagLog(storage).all()) {
        if (!versions.contains(tag.version()) && !isPresent(tag.version())) {
          run.found(
              Kind.MANIFEST,
              storage.pathOf(TagNames.fileOf(tag.name())),
              "it names version " + tag.version() + ", whose manifest is missing");
        }
      }
    } catch (ZRecordException e) {
      run.found(Kind.MANIFEST, e.resource(), "the tag cannot be read: " + ChunkFiles.reason(e));
    }
  }

  /** Whether there is a version now, damaged ones and those set aside included. */
  private boolean isPresent(long version) {
    try {
      log.read(version);
      return true;
    } catch (MissingFileException e) {
      return false;
    } catch (ZRecordException e) {
      return true;
    }
  }

  /** Each version follows the one before. */
  private void checkSuccession(List<Long> versions) {
    Manifest before = null;
    for (long version : versions) {
      Manifest manifest = readOrNull(version);
      if (manifest != null && before != null) {
        checkPair(before, manifest);
      }
      before = manifest;
    }
  }

  private @Nullable Manifest readOrNull(long version) {
    try {
      return log.read(version);
    } catch (ZRecordException e) {
      return null; // Was reported before.
    }
  }

  private void checkPair(Manifest before, Manifest manifest) {
    String path = storage.pathOf(ManifestNames.nameOf(manifest.version()));
    if (!before.tableId().equals(manifest.tableId())) {
      run.found(
          Kind.MANIFEST,
          path,
          "it is of table " + manifest.tableId() + ", but version " + before.version() + " is of "
              + before.tableId());
    } else if (before.timestampMillis() >= manifest.timestampMillis()
        || before.nextFieldId() > manifest.nextFieldId()) {
      run.found(
          Kind.MANIFEST,
          path,
          "its time or its next field id is not that of a later version than " + before.version());
    }
  }
}
