package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.dataset.DirectoryGuess;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TagLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;

/**
 * Reads the versions of a table, and commits new ones (FORMAT.md section 7). Nothing is kept in
 * memory between calls, so every call sees the newest version. Thread-safe; any number of processes
 * may commit at once.
 */
public final class RecordTable {
  private static final Set<String> OWN_DIRECTORIES = Set.of("manifest", "list", "shard", "tag");

  private final Storage storage;
  private final ManifestLog log;
  private final TagLog tags;
  private final InstantSource clock;

  private RecordTable(Storage storage, InstantSource clock) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
    this.tags = new TagLog(storage);
    this.clock = clock;
  }

  /** Returns the table in a storage, which need not exist yet. */
  public static RecordTable at(Storage storage) {
    return at(storage, InstantSource.system());
  }

  static RecordTable at(Storage storage, InstantSource clock) {
    return new RecordTable(storage, clock);
  }

  /** Returns the storage that holds the table. */
  public Storage storage() {
    return storage;
  }

  /** Returns whether there is at least one version. */
  public boolean exists() {
    return !log.versions().isEmpty();
  }

  /**
   * Returns the newest version.
   *
   * @throws NotADatasetException if there is none
   */
  public TableSnapshot latest() {
    return snapshot(log.newest().orElseThrow(this::notATable));
  }

  /**
   * Returns a version by its number.
   *
   * @throws VersionNotFoundException if the version does not exist, or was expired
   */
  public TableSnapshot version(long version) {
    try {
      return snapshot(log.read(version));
    } catch (MissingFileException e) {
      // If the version is listed, something else is missing.
      requireVersion(version, requireVersions());
      throw e;
    }
  }

  private void requireVersion(long version, List<Long> versions) {
    if (!versions.contains(version)) {
      throw missing(version, versions);
    }
  }

  private VersionNotFoundException missing(long version, List<Long> versions) {
    long newest = versions.isEmpty() ? -1 : versions.get(versions.size() - 1);
    return new VersionNotFoundException(
        storage.location(),
        "Cannot read version " + version + " of " + storage.location() + ": "
            + (version >= 0 && version < newest ? "it was expired; " : "")
            + "the versions are " + described(versions));
  }

  /** Describes versions, such as {@code 3, 7 to 9}. */
  private static String described(List<Long> versions) {
    StringBuilder text = new StringBuilder();
    for (int from = 0; from < versions.size(); ) {
      int to = from;
      while (to + 1 < versions.size() && versions.get(to + 1) == versions.get(to) + 1) {
        to++;
      }
      text.append(text.isEmpty() ? "" : ", ").append(versions.get(from));
      if (to > from) {
        text.append(" to ").append(versions.get(to));
      }
      from = to + 1;
    }
    return text.toString();
  }

  /**
   * Returns the newest version committed at or before a time.
   *
   * @throws VersionNotFoundException if the time is before the first version, or the version of
   *     that time was expired
   */
  public TableSnapshot asOf(Instant time) {
    return log.reading(versions -> asOf(time, versions));
  }

  private TableSnapshot asOf(Instant time, List<Long> versions) {
    if (versions.isEmpty()) {
      throw notATable();
    }
    int low = 0;
    int high = versions.size() - 1;
    Manifest first = log.read(versions.get(0));
    if (Instant.ofEpochMilli(first.timestampMillis()).isAfter(time)) {
      Manifest last = log.read(versions.get(high));
      throw new VersionNotFoundException(
          storage.location(),
          "Cannot read " + storage.location() + " as of " + time + ": its versions are "
              + first.version() + " of " + Instant.ofEpochMilli(first.timestampMillis()) + " to "
              + last.version() + " of " + Instant.ofEpochMilli(last.timestampMillis()));
    }
    Manifest found = first;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      Manifest manifest = log.read(versions.get(middle));
      if (Instant.ofEpochMilli(manifest.timestampMillis()).isAfter(time)) {
        high = middle - 1;
      } else {
        low = middle;
        found = manifest;
      }
    }
    if (low + 1 < versions.size() && versions.get(low + 1) != found.version() + 1) {
      throw new VersionNotFoundException(
          storage.location(),
          "Cannot read " + storage.location() + " as of " + time
              + ": versions of that time, between " + found.version() + " and "
              + versions.get(low + 1) + ", were expired; ask for one of the versions "
              + described(versions));
    }
    return snapshot(found);
  }

  /**
   * Returns the version that a tag names.
   *
   * @throws VersionNotFoundException if there is no such tag
   */
  public TableSnapshot tagged(String name) {
    TagLog.Entry tag = tags.find(name).orElseThrow(() -> noTag(name));
    return version(tag.version());
  }

  /** Returns all tags, by name. */
  public List<Tag> tags() {
    requireVersions();
    return tags.all().stream().map(RecordTable::tag).toList();
  }

  private static Tag tag(TagLog.Entry entry) {
    return new Tag(entry.name(), entry.version(), Instant.ofEpochMilli(entry.timestampMillis()));
  }

  /**
   * Gives a version a name, which keeps the version from being expired. Repeating the call has no
   * effect. During the call there is a tag {@code pending-…}; if such a tag is left, as after a
   * crash, remove it like any other.
   *
   * @param name 1 to 64 letters, digits, {@code . _ -}; no number, and not {@code latest}
   * @throws VersionNotFoundException if there is no such version
   * @throws CommitConflictException if another version has the name
   */
  public void tag(long version, String name) {
    TagLog.Entry tag = new TagLog.Entry(name, version, clock.millis());
    TagNames.fileOf(name);
    requireVersion(version, requireVersions());
    // Publish a name that nobody else knows first: if the version is gone, deleting that name
    // removes nobody's tag.
    TagLog.Entry pending = new TagLog.Entry(TagNames.newPending(), version, tag.timestampMillis());
    tags.publish(pending);
    try {
      requireKept(version);
      while (!tags.publish(tag) && !isTag(version, name)) {
        // The tag was removed meanwhile.
        Thread.onSpinWait();
      }
      requireKept(version);
    } finally {
      tags.delete(pending.name());
    }
  }

  /**
   * Requires that a version with a new tag is kept: an expiry at the same time may have removed the
   * version or be about to; see {@link Expiry}.
   */
  private void requireKept(long version) {
    if (!log.putBack(version)) {
      throw missing(version, requireVersions());
    }
  }

  /** Returns whether a version has a tag; throws a conflict if another version has the name. */
  private boolean isTag(long version, String name) {
    Optional<TagLog.Entry> present = tags.find(name);
    if (present.isPresent() && present.get().version() != version) {
      throw new CommitConflictException(
          storage.location(),
          "Cannot tag version " + version + " of " + storage.location() + " as '" + name
              + "': the name is taken by version " + present.get().version()
              + "; take another name, or untag that one first");
    }
    return present.isPresent();
  }

  /**
   * Removes a tag. The version stays until it is expired.
   *
   * @throws VersionNotFoundException if there is no such tag
   */
  public void untag(String name) {
    if (!tags.delete(name)) {
      throw noTag(name);
    }
  }

  private VersionNotFoundException noTag(String name) {
    List<TagLog.Entry> present = tags.all();
    return new VersionNotFoundException(
        storage.location(),
        "There is no tag '" + name + "' of " + storage.location() + "; "
            + (present.isEmpty()
                ? "it has no tags"
                : "the tags are "
                    + present.stream().map(TagLog.Entry::name).collect(Collectors.joining(", "))));
  }

  /**
   * Removes old versions, which cannot be read any more afterwards. Their files stay for
   * {@link #sweep}. If cut short, call it again. Commits, readers and tags may go on meanwhile.
   *
   * @throws io.zrecord.errors.CorruptDataException if a manifest or a tag is damaged
   */
  public ExpireResult expire(ExpireOptions options) {
    requireVersions();
    return new Expiry(storage, clock).run(options);
  }

  /**
   * Finds or deletes the files in the table's directories that no version names. Takes memory for
   * the shards of all versions, about 100 bytes each, and for the names in one directory. If cut
   * short, call it again.
   *
   * @param listener takes each orphan, after the orphan was deleted
   * @throws io.zrecord.errors.CorruptDataException if a manifest, a list of shards, a tag or a
   *     shard's meta file is damaged
   * @throws io.zrecord.errors.StorageException if it is unknown what is still needed; nothing was
   *     deleted
   */
  public SweepResult sweep(SweepOptions options, Consumer<Orphan> listener) {
    requireVersions();
    return new Sweep(storage, clock, options, listener).run();
  }

  /** Returns the numbers of the versions that can be read, oldest first. */
  public List<Long> versions() {
    return log.versions();
  }

  /**
   * Deletes shards that no version names and none ever will name. A shard that cannot be deleted is
   * logged, and left to a sweep.
   */
  public void discard(List<ShardSummary> shards) {
    for (ShardSummary shard : shards) {
      try {
        storage.delete(shard.directory());
      } catch (ZRecordException e) {
        LoggerFactory.getLogger(RecordTable.class)
            .warn(
                "Cannot delete {}, which no version names: {}",
                storage.pathOf(shard.directory()),
                e.getMessage());
      }
    }
  }

  /**
   * Requires, without reading a file, that a version is still the newest. A relayout needs this of
   * its base.
   *
   * @throws CommitConflictException if the version is not the newest, as {@link #commit} would
   *     throw
   */
  public void requireNewest(TableSnapshot planned) {
    List<Long> versions = versions();
    long newest = versions.isEmpty() ? -1 : versions.get(versions.size() - 1);
    if (newest > planned.version()) {
      throw SchemaRules.notNewest(storage.location(), planned.version(), newest);
    }
  }

  /**
   * Requires, without reading a file, that a version is the newest, as a change may expect.
   *
   * @throws CommitConflictException if the version is not the newest, as {@link #commit} would
   *     throw
   */
  public void requireExpected(TableChange.Kind kind, long version) {
    List<Long> versions = versions();
    SchemaRules.requireExpected(
        storage.location(),
        kind,
        version,
        versions.isEmpty() ? Optional.empty() : Optional.of(versions.get(versions.size() - 1)));
  }

  /**
   * Publishes a change as the next version, on top of commits that came first if the changes
   * commute.
   *
   * @return the version published, or the newest version if the transaction took effect before
   * @throws io.zrecord.errors.CommitConflictException if the changes do not commute; nothing was
   *     published
   * @throws io.zrecord.errors.DatasetExistsException if the table was to be created and exists
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the change may or may not have been
   *     published; delete nothing
   */
  public TableSnapshot commit(TableChange change) {
    requireCreatable();
    return commitBesideOthers(change);
  }

  /**
   * Publishes a change among files of something else, as when the directory of a store becomes a
   * table. Otherwise does what {@link #commit} does.
   */
  public TableSnapshot commitBesideOthers(TableChange change) {
    Manifest manifest = new Committer(storage, log, clock).commit(change);
    return new TableSnapshot(storage, manifest, () -> log.shards(manifest));
  }

  /**
   * Takes the commit that created the table back, and deletes the files of that commit; the table
   * does not exist afterwards. Other files stay, also those that somebody wrote for a commit to
   * come. If cut short, versions that are left are whole, and files may be left that no version
   * names.
   *
   * @param commitId the commit, as {@link TableChange#commitId} has it
   * @return {@code false} if there is another version or a tag by now; nothing was deleted
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been
   *     emptied; nothing was deleted
   */
  public boolean retract(UUID commitId) {
    return new Retraction(storage, log, tags, clock).run(commitId);
  }

  /**
   * Checks that a table exists here or can be created. A table cannot be created among files of
   * something else.
   *
   * @throws NotADatasetException if there are such files
   */
  public void requireCreatable() {
    for (StoredFile file : storage.list("")) {
      boolean isHidden = file.name().startsWith(".") || file.name().startsWith("_");
      if (!isHidden && !OWN_DIRECTORIES.contains(file.name()) && !exists()) {
        throw new NotADatasetException(
            storage.location(),
            "Cannot create a dataset at " + storage.location()
                + ": the directory has other content, such as " + file.name()
                + "; choose an empty or new directory");
      }
    }
  }

  private TableSnapshot snapshot(Manifest manifest) {
    return new TableSnapshot(storage, manifest, () -> log.shards(manifest)).load();
  }

  private List<Long> requireVersions() {
    List<Long> versions = log.versions();
    if (versions.isEmpty()) {
      throw notATable();
    }
    return versions;
  }

  private NotADatasetException notATable() {
    return new NotADatasetException(
        storage.location(),
        "There is no zrecord table at " + storage.location() + ": " + DirectoryGuess.of(storage));
  }
}
