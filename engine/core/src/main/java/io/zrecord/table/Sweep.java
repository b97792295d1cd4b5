package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.table.LeftOfStore;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Deletes files that no version of a table names: files of failed writes and of expired versions.
 * Belongs to one thread.
 *
 * <p>The sweep lists the files that no version names, and commits a version that says how old they
 * are. Whoever publishes a version after that one adds no file as old; what was published before is
 * seen when the sweep then reads which files the versions name. So no version loses a file, however
 * slow the writers and the sweep are. All times are those of the storage.
 *
 * <p>Where a table was dropped, a creation may be under way that finishes later. There the sweep
 * commits another retraction, which says the same to that creation.
 *
 * <p>If a sweep is cut short at any moment, all named files are whole.
 */
final class Sweep {
  private static final String SHARDS = "shard";
  private static final String LISTS = "list";

  /**
   * Orphans between two looks at all changes. Before each orphan the sweep looks only for a new
   * version.
   */
  private static final int REFRESH_INTERVAL = 100;

  /** Directories of shards that are looked into at a time, and files there that versions name. */
  private static final int PART_DIRECTORIES = 1000;

  private static final int PART_FILES = 50_000;

  private final Storage storage;
  private final InstantSource clock;
  private final NamedFiles named;
  private final SweepOptions options;
  private final SweepWorkers workers;
  private final Consumer<Orphan> listener;
  private final List<Candidate> candidates = new ArrayList<>();
  private long limitMillis;
  private FoundFiles found = FoundFiles.NONE;
  private FoundFiles young = FoundFiles.NONE;

  /**
   * What no version named when it was found, and is old enough to be deleted.
   *
   * @param names what to delete: the name itself, or the files below the name
   */
  private record Candidate(
      String name, FoundFiles size, List<String> names, BooleanSupplier isNamed) {}

  Sweep(
      Storage storage,
      InstantSource clock,
      SweepOptions options,
      SweepWorkers workers,
      Consumer<Orphan> listener) {
    this.storage = storage;
    this.clock = clock;
    this.named = new NamedFiles(storage);
    this.options = options;
    this.workers = workers;
    this.listener = listener;
  }

  /** Deletes what no version names, or tells what that is. */
  SweepResult run() {
    boolean deletes = options.mode() == CareMode.DELETE;
    limitMillis = (deletes ? new StorageClock(storage).millis() : clock.millis())
        - options.olderThan().toMillis();
    find();
    if (deletes && (!candidates.isEmpty() || wasAhead())) {
      announce();
      delete();
    } else {
      candidates.forEach(this::found);
    }
    if (deletes) {
      named.retraction().ifPresent(this::endDrop);
    }
    return new SweepResult(
        options.mode(),
        found.fileCount(),
        found.lengthBytes(),
        young.fileCount(),
        young.lengthBytes());
  }

  /** Finds what no version names. Lists the files before it reads which of them are named. */
  private void find() {
    List<StoredFile> shards = listed(SHARDS);
    List<StoredFile> lists = listed(LISTS);
    List<StoredFile> tagFiles = listed(TagNames.DIRECTORY);
    refresh();
    for (StoredFile file : lists) {
      String name = LISTS + "/" + file.name();
      find(name, sizeOf(name, file), () -> named.namesList(name));
    }
    for (StoredFile file : tagFiles) {
      String name = TagNames.DIRECTORY + "/" + file.name();
      find(name, sizeOf(name, file), () -> named.namesTagFile(name));
    }
    findTemporaries();
    if (storage.isRemote()) {
      byDirectory(shards).forEach(this::findAmong);
    } else {
      findLeftOfStore();
      workers.look(parts(shards), this::findLooked);
    }
    if (!candidates.isEmpty() || wasAhead()) {
      named.requireWritable();
    }
  }

  /** Lists the entries of a directory; where directories have no times, all files below it. */
  private List<StoredFile> listed(String directory) {
    return storage.isRemote() ? storage.listTree(directory) : storage.list(directory);
  }

  /** Groups files below {@link #SHARDS} by the first part of their names. */
  private static Map<String, List<StoredFile>> byDirectory(List<StoredFile> files) {
    Map<String, List<StoredFile>> found = new LinkedHashMap<>();
    for (StoredFile file : files) {
      int slash = file.name().indexOf('/');
      String first = slash < 0 ? file.name() : file.name().substring(0, slash);
      found.computeIfAbsent(first, key -> new ArrayList<>(2)).add(file);
    }
    return found;
  }

  /** Tells whether an earlier sweep had a clock that was ahead: no file would be young enough. */
  private boolean wasAhead() {
    long now = nowMillis() + (named.retraction().isPresent() ? 1 : 0);
    return sweptBeforeMillis() > now;
  }

  private long nowMillis() {
    return limitMillis + options.olderThan().toMillis();
  }

  private long sweptBeforeMillis() {
    return named
        .last()
        .map(Manifest::sweptBeforeMillis)
        .orElse(OptionalLong.empty())
        .orElse(Long.MIN_VALUE);
  }

  /** Commits how old the files are that are about to be deleted. */
  private void announce() {
    while (named.table().isEmpty() && !isAnnouncedWithoutTable()) {
      refresh();
    }
    named
        .table()
        .ifPresent(
            table -> commit(CareCommit.sweep(storage.location(), table, limitMillis, nowMillis())));
    refresh();
    named.requireWritable();
    // A power loss must not take back the newest version, which expired what is deleted now.
    storage.forceDirectory(ManifestNames.DIRECTORY);
  }

  /**
   * Announces to whoever creates the next table. Returns whether that was done; a table was created
   * meanwhile if not.
   */
  private boolean isAnnouncedWithoutTable() {
    Manifest retraction = named.retraction().orElseThrow(this::vanished);
    if (sweptBeforeMillis() >= limitMillis && !wasAhead()) {
      return true;
    }
    long storageMillis = new StorageClock(storage).millis();
    try {
      commit(RetractCommit.ofSweep(storage, retraction, limitMillis, storageMillis));
      return true;
    } catch (CommitConflictException e) {
      return false;
    }
  }

  private void commit(Commit commit) {
    new Committer(storage, new ManifestLog(storage), clock).commit(commit);
  }

  private NotADatasetException vanished() {
    return new NotADatasetException(
        storage.location(),
        "Cannot sweep " + storage.location()
            + ": its manifests have vanished meanwhile; nothing was deleted");
  }

  /** Deletes the manifests below the retraction: that of an earlier one, or of a drop cut short. */
  private void endDrop(Manifest retraction) {
    new ExpiredManifests(storage, new ManifestLog(storage)).deleteBelow(retraction.oldest());
  }

  private void delete() {
    long looked = 0;
    for (List<Candidate> group : groups()) {
      if (group.size() > 1 || ++looked % REFRESH_INTERVAL == 0 || named.hasNext()) {
        refresh();
      }
      List<Candidate> orphans =
          group.stream().filter(candidate -> !candidate.isNamed.getAsBoolean()).toList();
      if (!orphans.isEmpty()) {
        delete(orphans.stream().flatMap(orphan -> orphan.names.stream()).toList());
      }
      orphans.forEach(this::found);
    }
  }

  /**
   * Deletes files. What is not in a shard is deleted here, in order: a meta file that a store left
   * tells what the files before it are.
   */
  private void delete(List<String> names) {
    List<String> inShards = new ArrayList<>();
    List<String> others = new ArrayList<>();
    for (String name : names) {
      (name.startsWith(SHARDS + "/") ? inShards : others).add(name);
    }
    storage.deleteAll(others);
    if (!inShards.isEmpty()) {
      workers.delete(new SweptFiles(sweptTable(), inShards));
    }
  }

  /**
   * Groups what is deleted together, after a look at all versions. No later version than that of
   * this sweep can name a candidate, so a group may be large.
   */
  private List<List<Candidate>> groups() {
    int most = workers.deletedAtOnce();
    List<List<Candidate>> groups = new ArrayList<>();
    List<Candidate> group = new ArrayList<>();
    int files = 0;
    for (Candidate candidate : candidates) {
      files += candidate.names.size();
      if (files > most && !group.isEmpty()) {
        groups.add(group);
        group = new ArrayList<>();
        files = candidate.names.size();
      }
      group.add(candidate);
    }
    if (!group.isEmpty()) {
      groups.add(group);
    }
    return groups;
  }

  private void found(Candidate candidate) {
    FoundFiles size = candidate.size;
    found = found.plus(size);
    listener.accept(new Orphan(candidate.name, size.fileCount(), size.lengthBytes()));
  }

  /**
   * Looks at all changes, in this order: a repair links the new name of a manifest before removing
   * the old one.
   */
  private void refresh() {
    named.refresh();
    MovedAside.requireNone(storage);
  }

  /** Finds the files that an interrupted {@link Storage#publish} of a manifest may leave. */
  private void findTemporaries() {
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      if (file.name().startsWith(".") && file.name().endsWith(".tmp")) {
        String name = ManifestNames.DIRECTORY + "/" + file.name();
        find(name, sizeOf(name, file), () -> false);
      }
    }
  }

  /**
   * Finds what a store left that became this table, as when the conversion was killed. Without a
   * table, the directory may be a store that is open.
   */
  private void findLeftOfStore() {
    BooleanSupplier isStore = () -> named.table().isEmpty();
    for (StoredFile file : LeftOfStore.single(storage)) {
      find(file.name(), sizeOf(file.name(), file), isStore);
    }
    List<StoredFile> files = LeftOfStore.files(storage);
    long modifiedMillis = files.stream()
        .mapToLong(file -> sizeOf(file.name(), file).modifiedMillis())
        .max()
        .orElse(Long.MIN_VALUE);
    for (StoredFile file : files) {
      // All or none: without the meta file nothing tells what the others are.
      FoundFiles size = sizeOf(file.name(), file).plus(new FoundFiles(0, 0, modifiedMillis));
      find(file.name(), size, isStore);
    }
  }

  /** Returns what is directly below {@link #SHARDS}, with the files there that versions name. */
  private Iterator<SweepPart> parts(List<StoredFile> entries) {
    SweptTable table = sweptTable();
    Iterator<StoredFile> left = entries.iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return left.hasNext();
      }

      @Override
      public SweepPart next() {
        List<SweepPart.Entry> part = new ArrayList<>();
        int files = 0;
        while (left.hasNext() && part.size() < PART_DIRECTORIES && files < PART_FILES) {
          SweepPart.Entry entry = entry(left.next());
          files += entry.namedFiles() == null ? 0 : entry.namedFiles().size();
          part.add(entry);
        }
        return new SweepPart(table, SHARDS, limitMillis, part);
      }
    };
  }

  /** Returns the table by the newest version, or by the retraction of the table. */
  private SweptTable sweptTable() {
    return SweptTable.of(named.last().orElseThrow(this::vanished));
  }

  private SweepPart.Entry entry(StoredFile file) {
    Optional<UUID> shard = file.isDirectory() ? shardId(file.name()) : Optional.empty();
    return new SweepPart.Entry(
        file.name(),
        file.isDirectory(),
        file.lengthBytes(),
        file.modifiedMillis(),
        shard
            .filter(named::namesShard)
            .map(id -> List.copyOf(named.filesOf(id)))
            .orElse(null));
  }

  private void findLooked(SweepPart.Looked looked) {
    looked.old().forEach(unnamed -> find(unnamed.name(), unnamed.files(), isNamed(unnamed.name())));
    young = young.plus(looked.young());
  }

  /** Returns whether versions name a file of a shard, or anything of a shard, by the last look. */
  private BooleanSupplier isNamed(String name) {
    String below = name.substring(SHARDS.length() + 1);
    int slash = below.indexOf('/');
    Optional<UUID> id = shardId(slash < 0 ? below : below.substring(0, slash));
    if (id.isEmpty()) {
      return () -> false;
    }
    return slash < 0
        ? () -> named.namesShard(id.get())
        : () -> named.filesOf(id.get()).contains(below.substring(slash + 1));
  }

  /**
   * Finds what no version names among the files of a shard, or what else is below {@link #SHARDS}.
   */
  private void findAmong(String first, List<StoredFile> files) {
    Optional<UUID> id = shardId(first);
    if (id.isPresent() && named.namesShard(id.get())) {
      Set<String> namedFiles = named.filesOf(id.get());
      for (StoredFile file : files) {
        String relative = file.name().substring(Math.min(file.name().length(), first.length() + 1));
        if (!namedFiles.contains(relative)) {
          String name = SHARDS + "/" + file.name();
          find(name, FoundFiles.of(file), isNamed(name));
        }
      }
      return;
    }
    String name = SHARDS + "/" + first;
    find(
        name,
        files.stream().map(FoundFiles::of).reduce(FoundFiles.NONE, FoundFiles::plus),
        files.stream().map(file -> SHARDS + "/" + file.name()).toList(),
        isNamed(name));
  }

  private void find(String name, FoundFiles size, BooleanSupplier isNamed) {
    find(name, size, List.of(name), isNamed);
  }

  private void find(String name, FoundFiles size, List<String> names, BooleanSupplier isNamed) {
    if (isNamed.getAsBoolean()) {
      return;
    }
    if (size.modifiedMillis() < limitMillis) {
      candidates.add(new Candidate(name, size, names, isNamed));
    } else {
      young = young.plus(size);
    }
  }

  private FoundFiles sizeOf(String name, StoredFile file) {
    return FoundFiles.below(storage, name, file);
  }

  private static Optional<UUID> shardId(String directory) {
    try {
      UUID id = UUID.fromString(directory);
      return id.toString().equals(directory) ? Optional.of(id) : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
