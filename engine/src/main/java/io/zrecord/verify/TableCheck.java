package io.zrecord.verify;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestAside;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TagLog;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.IndexMap;
import io.zrecord.verify.Finding.Kind;
import io.zrecord.verify.SealedShardCheck.Depth;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks a table (FORMAT.md section 7): every manifest, the files of every shard that a manifest
 * names, and the values of the chosen versions. Belongs to one thread.
 */
final class TableCheck {
  private final CheckRun run;
  private final ShardVisitor shards;
  private final Storage storage;
  private final ManifestLog log;
  private final Set<String> checkedShards = new HashSet<>();
  private final Set<String> namedShards = new HashSet<>();
  private final Set<String> namedLists = new HashSet<>();
  private boolean isComplete = true;
  private long newest;

  /**
   * Prepares the check.
   *
   * @param shards checks each shard in its turn, or hands the check on
   */
  TableCheck(CheckRun run, Storage storage, ShardVisitor shards) {
    this.run = run;
    this.shards = shards;
    this.storage = storage;
    this.log = new ManifestLog(storage);
  }

  void check(CheckedVersions choice) {
    List<Long> versions = log.versions();
    requirePresent(choice, versions);
    newest = versions.isEmpty() ? -1 : versions.get(versions.size() - 1);
    List<Long> newestFirst = new ArrayList<>(versions);
    newestFirst.sort(Comparator.reverseOrder());
    // Versions with a check of values come first, because each shard is checked once.
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

  /** Checks the values of the chosen versions and returns the other versions. */
  private List<Long> checkValues(CheckedVersions choice, List<Long> newestFirst) {
    List<Long> left = new ArrayList<>();
    boolean isNewestDone = false;
    for (long version : newestFirst) {
      boolean isDue =
          choice.equals(CheckedVersions.NEWEST) ? !isNewestDone : choice.includes(version);
      if (isDue) {
        // If the newest version cannot be read, the next one takes its place.
        isNewestDone |= check(version, Depth.VALUES);
      } else {
        left.add(version);
      }
    }
    return left;
  }

  private void requirePresent(CheckedVersions choice, List<Long> versions) {
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

  /** Checks a version and returns whether its manifest can be read. */
  private boolean check(long version, Depth depth) {
    Manifest manifest;
    Map<String, List<ShardSummary>> newLists = new HashMap<>();
    try {
      manifest = log.read(version);
      for (ShardListFile list : manifest.lists()) {
        // All shards of a list that another version names too were checked by then.
        if (!namedLists.contains(list.file())) {
          newLists.put(list.file(), log.shards(list));
        }
      }
    } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
      isComplete = false;
      if (e instanceof MissingFileException && !isPresent(version)) {
        ShardNeed.requireVisible(storage, log.versions(), newest);
        run.found(Kind.NOTE, e.resource(), "version " + version + " was expired meanwhile");
      } else {
        run.found(
            Kind.MANIFEST,
            e.resource(),
            "version " + version + " cannot be read: " + FileProblem.of(e));
      }
      return false;
    }
    namedLists.addAll(newLists.keySet());
    ShardNeed.Source source = new ShardNeed.Source(manifest.tableId(), version, newest);
    Part part = new Part(source, manifest.schema(), depth);
    for (ShardListFile list : manifest.lists()) {
      List<ShardSummary> listed = newLists.get(list.file());
      if (listed == null) {
        part.skip(list.length());
      } else {
        part.add(listed);
      }
    }
    part.add(manifest.shards());
    part.finish();
    manifest.indexMap().ifPresent(map -> checkIndexMap(map, source, depth));
    return true;
  }

  /** The shards of a version that no earlier part had. */
  private final class Part {
    private final ShardNeed.Source source;
    private final RecordSchema schema;
    private final Depth depth;
    private final List<ShardVerification> due = new ArrayList<>();
    private long nextIndex;

    Part(ShardNeed.Source source, RecordSchema schema, Depth depth) {
      this.source = source;
      this.schema = schema;
      this.depth = depth;
    }

    void skip(long recordCount) {
      nextIndex += recordCount;
    }

    void add(List<ShardSummary> named) {
      for (ShardSummary shard : named) {
        namedShards.add(shard.id().toString());
        if (checkedShards.add(keyOf(shard))) {
          due.add(new ShardVerification(
              storage.location(), source, shard, nextIndex, depth, ShardRole.RECORDS));
        }
        nextIndex += shard.length();
      }
    }

    /** Ends the part. The amount of work is announced before the work begins. */
    void finish() {
      run.expect(due.stream().mapToLong(ShardVerification::valueBytes).sum());
      due.forEach(shard -> shards.accept(shard, schema));
    }
  }

  private void checkIndexMap(ShardSummary map, ShardNeed.Source source, Depth depth) {
    namedShards.add(map.id().toString());
    ShardVerification due =
        new ShardVerification(storage.location(), source, map, 0, depth, ShardRole.INDEX_MAP);
    run.expect(due.valueBytes());
    shards.accept(due, IndexMap.SCHEMA);
  }

  private static String keyOf(ShardSummary shard) {
    return shard.id() + "/" + shard.metaFile();
  }

  private void checkTags(List<Long> versions) {
    try {
      for (TagLog.Entry tag : new TagLog(storage).all()) {
        if (!versions.contains(tag.version()) && !isPresent(tag.version())) {
          boolean isPending = TagNames.isPending(tag.name());
          run.found(
              isPending ? Kind.NOTE : Kind.MANIFEST,
              storage.pathOf(TagNames.fileOf(tag.name())),
              "it names version " + tag.version() + ", whose manifest is missing"
                  + (isPending
                      ? ": it is left of a tagging that was cut short, and can be removed"
                      : ""));
        }
      }
    } catch (CorruptDataException | TruncatedFileException e) {
      run.found(Kind.MANIFEST, e.resource(), "the tag cannot be read: " + FileProblem.of(e));
    }
  }

  /** Tells whether a version exists now, damaged versions and versions set aside included. */
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

  /** Checks that each version is a valid successor of the version before. */
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
      return null; // Reported before.
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
