package io.zrecord.verify;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.internal.table.VersionHint;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.internal.verify.FileProblem;
import io.zrecord.internal.verify.SealedShardCheck.Depth;
import io.zrecord.internal.verify.ShardNeed;
import io.zrecord.internal.verify.ShardRole;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.IndexMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;

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

  /** Files of each shard that a version names, by the shard's id. */
  private final Map<String, Set<String>> namedShards = new HashMap<>();

  private final Set<String> namedLists = new HashSet<>();

  /** Lists of which a version that was checked has replaced nothing. */
  private final Set<ShardListFile> wholeLists = new HashSet<>();

  /** The lists of the version that was checked last, and what they replace. */
  private final Set<ShardListFile> lastLists = new HashSet<>();

  private final Map<Long, UUID> checkedVersions = new HashMap<>();
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
    List<Long> listed = log.listed();
    newest = newest(listed);
    Optional<Manifest> current = newestReadable(listed);
    long floor = current.map(Manifest::oldest).orElse(0L);
    List<TagEntry> tags = current.map(Manifest::tags).orElse(List.of());
    List<Long> versions = new ArrayList<>(tags.stream()
        .map(TagEntry::version)
        .filter(version -> version < floor)
        .distinct()
        .sorted()
        .toList());
    listed.stream().filter(version -> version >= floor).forEach(versions::add);
    requirePresent(choice, versions, current);
    List<Long> newestFirst = new ArrayList<>(versions);
    newestFirst.sort(Comparator.reverseOrder());
    // Versions with a check of values come first, because each shard is checked once.
    List<Long> left = checkValues(choice, newestFirst, current);
    for (long version : left) {
      check(version, Depth.FILES, current);
    }
    current.filter(manifest -> !manifest.isTable()).ifPresent(this::noteRetraction);
    checkNumbers(listed, floor);
    current.ifPresent(this::checkHint);
    checkChain(listed, floor);
    checkCopies(tags, floor);
    if (isComplete) {
      Set<String> tagFiles = tags.stream().map(TagEntry::file).collect(Collectors.toSet());
      new OrphanSearch(run, storage).search(namedShards, namedLists, tagFiles);
    } else {
      run.found(
          Kind.NOTE,
          storage.location(),
          "files that no version names were not looked for, because not every manifest can be read");
    }
  }

  /** Returns the newest version whose manifest can be read, which knows the floor and the tags. */
  private Optional<Manifest> newestReadable(List<Long> listed) {
    for (int i = listed.size() - 1; i >= 0; i--) {
      Optional<Manifest> manifest = readable(listed.get(i));
      if (manifest.isPresent()) {
        return manifest;
      }
    }
    return Optional.empty();
  }

  /** Checks the values of the chosen versions and returns the other versions. */
  private List<Long> checkValues(
      CheckedVersions choice, List<Long> newestFirst, Optional<Manifest> current) {
    List<Long> left = new ArrayList<>();
    boolean isNewestDone = false;
    for (long version : newestFirst) {
      boolean isDue =
          choice.equals(CheckedVersions.NEWEST) ? !isNewestDone : choice.includes(version);
      if (isDue) {
        // If the newest version cannot be read, the next one takes its place.
        isNewestDone |= check(version, Depth.VALUES, current);
      } else {
        left.add(version);
      }
    }
    return left;
  }

  private void requirePresent(
      CheckedVersions choice, List<Long> versions, Optional<Manifest> current) {
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
              + ": the versions are "
              + current
                  .map(manifest ->
                      new RetainedVersions(log, storage.location(), manifest).described())
                  .orElse(versions.get(0) + " to " + versions.get(versions.size() - 1)));
    }
  }

  /** Checks a version and returns whether its manifest can be read. */
  private boolean check(long version, Depth depth, Optional<Manifest> current) {
    try {
      Optional<TagEntry> copy = current
          .filter(manifest -> version < manifest.oldest())
          .flatMap(manifest -> manifest.tagsOf(version).stream().findFirst());
      check(copy.isPresent() ? log.read(copy.get()) : log.read(version), depth);
      return true;
    } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
      isComplete = false;
      if (e instanceof MissingFileException && wasExpired(version)) {
        run.found(Kind.NOTE, e.resource(), "version " + version + " was expired meanwhile");
      } else {
        run.found(
            Kind.MANIFEST,
            e.resource(),
            "version " + version + " cannot be read: " + FileProblem.of(e));
      }
      return false;
    }
  }

  /** Checks what a manifest names. */
  private void check(Manifest manifest, Depth depth) {
    List<Runnable> adding = new ArrayList<>();
    Set<ShardListFile> read = new HashSet<>();
    ShardNeed.Source source = new ShardNeed.Source(manifest.tableId(), manifest.version(), newest);
    Part part = new Part(source, manifest, depth);
    read(manifest.lists(), part, adding, read);
    // Only a version whose lists can all be read is checked.
    read.forEach(list -> {
      namedLists.add(list.file());
      if (list.replaced().isEmpty()) {
        wholeLists.add(list);
      }
    });
    lastLists.clear();
    lastLists.addAll(read);
    adding.forEach(Runnable::run);
    part.add(manifest.shards());
    part.finish();
    manifest.indexMap().ifPresent(map -> checkIndexMap(map, source, depth));
    checkedVersions.put(manifest.version(), manifest.commitId());
  }

  /**
   * Reads lists of a version, except lists that another version names too, whose shards were all
   * checked by then. A list in which shards were replaced is read again unless the version that was
   * checked before has replaced the same.
   *
   * @param adding takes what adds the lists to the part
   * @param read takes the lists
   */
  private void read(
      List<ShardListFile> lists, Part part, List<Runnable> adding, Set<ShardListFile> read) {
    for (ShardListFile list : lists) {
      if (isChecked(list)) {
        adding.add(() -> part.skip(list.length()));
      } else if (list.isOfLists()) {
        read(log.members(list), part, adding, read);
      } else {
        List<ShardSummary> shards = log.shards(list, part.manifest.partitions());
        adding.add(() -> part.add(shards));
      }
      read.add(list);
    }
  }

  private boolean isChecked(ShardListFile list) {
    return lastLists.contains(list) || wholeLists.contains(list);
  }

  /** The shards of a version that no earlier part had. */
  private final class Part {
    private final ShardNeed.Source source;
    private final Manifest manifest;
    private final Depth depth;
    private final List<ShardVerification> due = new ArrayList<>();
    private long nextIndex;

    Part(ShardNeed.Source source, Manifest manifest, Depth depth) {
      this.source = source;
      this.manifest = manifest;
      this.depth = depth;
    }

    void skip(long recordCount) {
      nextIndex += recordCount;
    }

    void add(List<ShardSummary> named) {
      for (ShardSummary shard : named) {
        if (checkedShards.add(keyOf(shard))) {
          addFiles(shard);
          due.add(new ShardVerification(
              storage.location(),
              source,
              shard,
              nextIndex,
              depth,
              ShardRole.RECORDS,
              manifest.partitions()));
        }
        nextIndex += shard.length();
      }
    }

    /** Ends the part. The amount of work is announced before the work begins. */
    void finish() {
      run.expect(due.stream().mapToLong(ShardVerification::valueBytes).sum());
      due.forEach(shard -> shards.accept(shard, manifest.schema()));
    }
  }

  private void checkIndexMap(ShardSummary map, ShardNeed.Source source, Depth depth) {
    addFiles(map);
    ShardVerification due = new ShardVerification(
        storage.location(), source, map, 0, depth, ShardRole.INDEX_MAP, List.of());
    run.expect(due.valueBytes());
    shards.accept(due, IndexMap.SCHEMA);
  }

  private void addFiles(ShardSummary shard) {
    Set<String> files = namedFilesOf(shard.id());
    shard.tables().forEach(tables -> files.add(tables.fileName()));
    PatchRef patch = shard.patch();
    if (patch != null) {
      files.add(patch.fileName());
    }
    shard.chunks().forEach(chunk -> namedFilesOf(chunk.ownerIn(shard)).add(chunk.fileName()));
  }

  private Set<String> namedFilesOf(UUID shard) {
    return namedShards.computeIfAbsent(shard.toString(), id -> new HashSet<>());
  }

  private static String keyOf(ShardSummary shard) {
    return shard.id() + " " + shard.tables() + " " + shard.patch();
  }

  /** Checks that no number is missing, and notes manifests without a meaning. */
  private void checkNumbers(List<Long> listed, long floor) {
    long expected = floor;
    for (long version : listed) {
      if (version < floor) {
        run.found(
            Kind.NOTE,
            storage.pathOf(ManifestNames.nameOf(version)),
            "its version was expired: an expiry that was cut short left it, or a slow commit");
        continue;
      }
      if (version > expected && !wasExpired(version - 1)) {
        isComplete = false;
        run.found(
            Kind.MANIFEST,
            storage.pathOf(ManifestNames.nameOf(expected)),
            expected == version - 1
                ? "version " + expected + " is missing"
                : "versions " + expected + " to " + (version - 1) + " are missing");
      }
      expected = version + 1;
    }
  }

  /** Checks that the hint leads to a version that is there, or was expired. */
  private void checkHint(Manifest current) {
    try {
      VersionHint.read(storage).ifPresent(hint -> checkHint(hint, current));
    } catch (ZRecordException e) {
      run.found(
          Kind.NOTE,
          storage.pathOf(ManifestNames.HINT),
          "it cannot be read, so that the directory is listed: " + e.getMessage());
    }
  }

  private void checkHint(VersionHint hint, Manifest current) {
    boolean isOfTable = hint.tableId().equals(current.tableId());
    if (hint.version() > newest) {
      long now = newest(log.listed());
      if (isOfTable && hint.version() > now) {
        isComplete = false;
        foundOfHint(
            "version " + hint.version() + " was published, but version " + now + " is the newest");
      }
      return;
    }
    boolean isCompared =
        hint.version() == newest || (isOfTable && hint.version() >= current.oldest());
    if (isCompared
        && log.readableLink(hint.version())
            .filter(link -> hint.contradicts(link) && !log.chain().isOfTableBefore(hint, link))
            .isPresent()
        && !wasExpired(hint.version())) {
      isComplete = false;
      foundOfHint("version " + hint.version() + " was published by commit " + hint.commitId()
          + " of table " + hint.tableId() + ", but its manifest is of another commit");
    }
  }

  private void foundOfHint(String text) {
    run.found(Kind.MANIFEST, storage.pathOf(ManifestNames.HINT), text);
  }

  private static long newest(List<Long> listed) {
    return listed.isEmpty() ? -1 : listed.get(listed.size() - 1);
  }

  private void noteRetraction(Manifest retraction) {
    run.found(
        Kind.NOTE,
        storage.pathOf(ManifestNames.nameOf(retraction.version())),
        "there is no table: it was dropped, or its creation was taken back");
  }

  private void checkChain(List<Long> listed, long floor) {
    VersionChain chain = new VersionChain(run, storage);
    listed.stream().filter(version -> version >= floor).map(this::readable).forEach(chain::add);
  }

  /** Returns a manifest; empty if it cannot be read, which is reported elsewhere. */
  private Optional<Manifest> readable(long version) {
    try {
      return Optional.of(log.read(version));
    } catch (ZRecordException e) {
      return Optional.empty();
    }
  }

  /**
   * Checks the copies of tagged manifests. Below the floor, the first copy of each version was
   * checked like a version. A copy of a version that could not be read takes its place.
   */
  private void checkCopies(List<TagEntry> tags, long floor) {
    Set<Long> versions = new HashSet<>();
    for (TagEntry tag : tags) {
      if (versions.add(tag.version()) && tag.version() < floor) {
        continue;
      }
      try {
        Manifest copy = log.read(tag);
        UUID checked = checkedVersions.get(tag.version());
        if (checked == null) {
          check(copy, Depth.FILES);
        } else if (tag.version() < floor
            ? !copy.commitId().equals(checked)
            : !readable(tag.version()).map(copy::equals).orElse(true)) {
          run.found(
              Kind.MANIFEST,
              storage.pathOf(tag.file()),
              "it is no copy of the manifest of version " + tag.version() + ", which tag '"
                  + tag.name() + "' keeps");
        }
      } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
        if (!(e instanceof MissingFileException) || isTagged(tag)) {
          run.found(
              Kind.MANIFEST,
              e.resource(),
              "the copy of version " + tag.version() + " for tag '" + tag.name()
                  + "' cannot be read: " + FileProblem.of(e));
        }
      }
    }
  }

  /** Tells whether a tag still keeps its copy; nobody needs it otherwise. */
  private boolean isTagged(TagEntry tag) {
    return newestNow(
        now -> now.tags().stream().anyMatch(present -> present.file().equals(tag.file())));
  }

  /** Tells whether a version was expired since the check began. */
  private boolean wasExpired(long version) {
    return !newestNow(now -> new RetainedVersions(log, storage.location(), now).has(version));
  }

  /** Asks the version that is the newest now; true if that is damaged. */
  private boolean newestNow(Predicate<Manifest> question) {
    ShardNeed.requireVisible(storage, newest);
    try {
      return log.last().map(question::test).orElse(true);
    } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
      return true;
    }
  }
}
