package io.zrecord.table;

import io.zrecord.Spi;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.Restoration;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.IdentityRange;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.table.write.ShardFields;
import io.zrecord.table.write.ShardWriter;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Reads the versions of a table, and commits new ones (FORMAT.md section 7). Nothing is kept in
 * memory between calls, so every call sees the newest version. Thread-safe; any number of processes
 * may commit at once.
 */
public final class RecordTable {
  private static final Set<String> OWN_DIRECTORIES = Set.of("manifest", "list", "shard", "tag");

  private final Storage storage;
  private final ManifestLog log;
  private final VersionReads reads;
  private final InstantSource clock;

  private RecordTable(Storage storage, InstantSource clock) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
    this.reads = new VersionReads(storage, log);
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

  /**
   * Returns whether there is a table: at least one version, and no retraction as the newest. A
   * newest version that cannot be read is one.
   */
  public boolean exists() {
    return reads.exists();
  }

  /**
   * Returns the newest version.
   *
   * @throws NotADatasetException if there is none
   */
  public TableSnapshot latest() {
    return reads.latest();
  }

  /** Returns the newest version; empty if there is no table. */
  public Optional<TableSnapshot> find() {
    return reads.find();
  }

  /**
   * Returns a version by its number. Reads the newest version as well, which decides what can be
   * read. If the manifest of the newest version is damaged, an older version can be read
   * nevertheless.
   *
   * @throws VersionNotFoundException if the version does not exist, or was expired
   */
  public TableSnapshot version(long version) {
    return reads.version(version);
  }

  /**
   * Returns the newest version committed at or before a time.
   *
   * @throws VersionNotFoundException if the time is before the first version, or the version of
   *     that time was expired
   */
  public TableSnapshot asOf(Instant time) {
    return reads.asOf(time);
  }

  /**
   * Returns the version that a tag names.
   *
   * @throws VersionNotFoundException if there is no such tag
   */
  public TableSnapshot tagged(String name) {
    TagNames.require(name);
    return reads.tagged(name);
  }

  /** Returns all tags, by name. */
  public List<Tag> tags() {
    return reads.newest().tags().stream().map(RecordTable::tag).toList();
  }

  private static Tag tag(TagEntry entry) {
    return new Tag(entry.name(), entry.version(), Instant.ofEpochMilli(entry.timestampMillis()));
  }

  /**
   * Gives a version a name, which keeps the version from being expired. This is a commit of its
   * own, which every other commit may follow. Repeating the call has no effect.
   *
   * @param name 1 to 64 letters, digits, {@code . _ -}; no number, and not {@code latest}
   * @throws VersionNotFoundException if there is no such version
   * @throws CommitConflictException if another version has the name
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have the
   *     name; look at {@link #tags}, and repeat the call
   */
  public void tag(long version, String name) {
    TagNames.require(name);
    Committer committer = new Committer(storage, log, clock);
    reads.reading(newest -> new TagCommit(storage, log, newest, version, name).publish(committer));
  }

  /**
   * Makes the table again what it was at a version: its records, fields, partitions and
   * declarations. This is a commit of its own, which writes no record. The versions since stay, and
   * so do tags and the transactions that took effect. A series of numbers goes on where it is.
   *
   * @return the new version
   * @throws VersionNotFoundException if there is no such version
   * @throws CommitConflictException if another commit changed the table meanwhile
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the table may or may not have been
   *     rolled back; look at {@link #latest}
   */
  public TableSnapshot rollBack(long version) {
    RollbackCommit commit = reads.reading(newest -> new RollbackCommit(
        storage, log, newest, new RetainedVersions(log, storage.location(), newest).read(version)));
    return snapshot(new Committer(storage, log, clock).commit(commit));
  }

  /**
   * Removes a tag. This is a commit of its own. The version stays until it is expired.
   *
   * @throws VersionNotFoundException if there is no such tag
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the tag may or may not be left
   */
  public void untag(String name) {
    TagNames.require(name);
    Manifest newest = reads.newest();
    if (newest.tag(name).isEmpty()) {
      throw reads.noTag(newest, name);
    }
    new Committer(storage, log, clock).commit(CareCommit.untag(storage.location(), newest, name));
  }

  /**
   * Removes old versions, which cannot be read any more afterwards. This is a commit of its own.
   * The files of the versions stay for {@link #sweep}. If cut short, call it again. Commits,
   * readers and tags may go on meanwhile.
   *
   * @throws io.zrecord.errors.CorruptDataException if a manifest, or the copy that a tag keeps, is
   *     damaged
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the versions may or may not have
   *     been expired; call it again
   * @throws io.zrecord.errors.StorageException if a file cannot be read or deleted; the versions
   *     may have been expired, as the message says; call it again
   */
  public ExpireResult expire(ExpireOptions options) {
    return new Expiry(storage, clock).run(options).orElseThrow(reads::notATable);
  }

  /**
   * Ends a repair: publishes the newest version again, under a new number. Versions before a gap
   * are expired by that. Copies of tags that were lost become tags {@code recovered-<version>}.
   * Part of {@code io.zrecord.repair}, not for callers.
   *
   * @param commitId the commit of the newest version
   * @throws CommitConflictException if another version is the newest; nothing was published
   */
  public void restore(UUID commitId) {
    ManifestLog present = ManifestLog.ofARepair(storage);
    Manifest newest = present.newest().orElseThrow(reads::notATable);
    if (!newest.commitId().equals(commitId)) {
      throw new CommitConflictException(
          storage.location(),
          "Cannot repair " + storage.location() + ": version " + newest.version()
              + " was committed or restored meanwhile; verify the table and repair it again");
    }
    Restoration restoration = Restoration.of(storage, present, newest);
    new Committer(storage, present, clock)
        .commit(CareCommit.repair(storage.location(), newest, restoration));
  }

  /**
   * Finds or deletes the files in the table's directories that no version names. Before anything is
   * deleted, a commit says how old the files are: a write whose files are as old, and that no
   * version names yet, fails with a conflict. Takes memory for the shards of all versions and for
   * the orphans, about 100 bytes each. If cut short, call it again.
   *
   * @param listener takes each orphan, after the orphan was deleted
   * @throws io.zrecord.errors.CorruptDataException if a manifest, a list of shards, the copy that a
   *     tag keeps, or a shard's meta file is damaged
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if that commit may or may not have been
   *     published; nothing was deleted
   * @throws io.zrecord.errors.StorageException if it is unknown what is still needed; nothing was
   *     deleted
   */
  public SweepResult sweep(SweepOptions options, Consumer<Orphan> listener) {
    return sweep(options, SweepWorkers.here(storage), listener);
  }

  /**
   * Finds or deletes files as {@link #sweep(SweepOptions, Consumer)} does, with workers that look
   * into directories and delete files.
   */
  @Spi
  public SweepResult sweep(SweepOptions options, SweepWorkers workers, Consumer<Orphan> listener) {
    if (log.listed().isEmpty()) {
      throw reads.notATable();
    }
    return new Sweep(storage, clock, options, workers, listener).run();
  }

  /**
   * Returns the numbers of the versions that can be read, oldest first. If the manifest of the
   * newest version is damaged, returns those that may be readable.
   */
  public List<Long> versions() {
    return reads.numbers();
  }

  /**
   * Deletes shards that no version names and none ever will name. A shard that cannot be deleted is
   * logged, and left to a sweep.
   */
  public void discard(List<ShardSummary> shards) {
    UnnamedFiles.discard(storage, shards.stream().map(ShardSummary::directory).toList());
  }

  /**
   * Deletes what was written for a change that no version names and that nobody will commit. What
   * cannot be deleted is logged, and left to a sweep.
   */
  public void discard(ShardChange change) {
    UnnamedFiles.discard(storage, change.files());
  }

  /**
   * Deletes files of a shard that no version names and none ever will name, and no other files of
   * the shard. A file that cannot be deleted is logged, and left to a sweep.
   *
   * @param files a shard as {@link ShardWriter#ofFields} or {@link ShardFields#filesOf} returns it
   */
  public void discardFiles(ShardSummary files) {
    Stream<String> names = Stream.of(
            files.tables().stream().map(files::fileOf),
            files.chunks().stream().map(files::fileOf),
            Stream.ofNullable(files.patch()).map(files::fileOf))
        .flatMap(some -> some);
    UnnamedFiles.discard(storage, names.toList());
  }

  /**
   * Requires that no version that came since may have changed records. A relayout needs this of its
   * base.
   *
   * @throws CommitConflictException if there is such a version, as {@link #commit} would throw
   */
  public void requireNewest(TableSnapshot planned) {
    long newest = log.newest().map(manifest -> manifest.records().version()).orElse(-1L);
    if (newest > planned.version()) {
      throw SchemaRules.notNewest(storage.location(), planned.version(), newest);
    }
  }

  /**
   * Requires that a version is the newest, except for tags and expiries, as a change may expect.
   *
   * @throws CommitConflictException if the version is not the newest, as {@link #commit} would
   *     throw
   */
  public void requireExpected(TableChange.Kind kind, long version) {
    SchemaRules.requireExpected(storage.location(), kind, version, log.newest());
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
    requireCreatable(change);
    return commitBesideOthers(change);
  }

  /**
   * Publishes a change as {@link #commit(TableChange)} does, but trusts that {@link #check} has
   * looked at each new shard, in any process. Asks the storage about no shard.
   *
   * @param oldestFileMillis the least result of {@link #check}; {@link Long#MAX_VALUE} if the
   *     change brings no shard
   */
  public TableSnapshot commitChecked(TableChange change, long oldestFileMillis) {
    requireCreatable(change);
    return snapshot(new Committer(storage, log, clock)
        .commit(new ShardCommit(storage, log, change, OptionalLong.of(oldestFileMillis))));
  }

  /**
   * Checks that the files of a new shard are here, with one list of its directory.
   *
   * @return when the oldest file was changed last, in milliseconds since 1970 by the storage's
   *     clock. A commit needs the time to tell whether a sweep may have deleted the file since
   * @throws MissingFileException if a file is missing
   * @throws CorruptDataException if a file has another length
   */
  public long check(ShardSummary shard) {
    return new ShardCheck(storage).check(List.of(shard));
  }

  /** Asks for the directory only if the change was planned without a table. */
  private void requireCreatable(TableChange change) {
    if (change.baseVersion().isEmpty()) {
      requireCreatable();
    }
  }

  /**
   * Publishes a change of fields as the next version, on top of commits that came first if the
   * changes commute.
   *
   * @throws io.zrecord.errors.CommitConflictException if the changes do not commute; nothing was
   *     published
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the change may or may not have been
   *     published; delete nothing
   */
  public TableSnapshot commit(FieldChange change) {
    return snapshot(
        new Committer(storage, log, clock).commit(new FieldCommit(storage, log, change)));
  }

  /**
   * Requires that a new table may declare something, before a long write begins. The commit
   * requires the same.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if the fields are not what the declarations
   *     need
   */
  public void requireDeclarable(Declarations declarations, RecordSchema schema) {
    new DeclarationRules(storage.location(), declarations).requireNew(schema);
  }

  /**
   * Reserves numbers of an identity, which nobody else gets. This is a commit of its own, which
   * every other commit may follow. Numbers that are not written are gaps.
   *
   * @param identity one of {@link io.zrecord.schema.Declarations#identities} of a version
   * @param count how many numbers, at least 1
   * @throws CommitConflictException if the newest version has another identity of the field, or
   *     none; nothing was reserved
   * @throws io.zrecord.errors.ValueTooLargeException if one of the numbers would need more than 64
   *     bits; nothing was reserved
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if numbers may have been reserved that
   *     nobody knows; call again, for others
   */
  public IdentityRange reserve(Identity identity, long count) {
    if (count < 1) {
      throw new IllegalArgumentException(
          "Cannot reserve " + count + " numbers of an identity; reserve at least 1");
    }
    ReserveCommit commit = new ReserveCommit(storage.location(), reads.newest(), identity, count);
    return commit.range(new Committer(storage, log, clock).commit(commit));
  }

  TableSnapshot commit(DeclarationChange change) {
    return snapshot(new Committer(storage, log, clock)
        .commit(new DeclareCommit(change.declaring(), change.commitId(), change.notes())));
  }

  TableSnapshot commit(SchemaChange change) {
    FieldChange fields = change.fields();
    Declaring declaring = new Declaring(change.base(), change.declarations());
    Commit commit = change.keepsFields()
        ? new DeclareCommit(declaring, fields.commitId(), fields.properties())
        : new FieldCommit(storage, log, fields, declaring);
    return snapshot(new Committer(storage, log, clock).commit(commit));
  }

  /**
   * Adds fields without values, as a {@link SchemaChange} does among others. To add fields with
   * values, use {@link io.zrecord.RecordFieldsWriter}. Touches no shard.
   *
   * @param fields the new fields; they get numbers that the table never used
   * @throws io.zrecord.errors.SchemaMismatchException if the table has a field of one of the names,
   *     or a field whose values may not be absent lacks an {@code initial} default
   * @throws io.zrecord.errors.CommitConflictException if another commit changed fields meanwhile
   */
  public TableSnapshot addFields(List<FieldSpec> fields) {
    SchemaChange change = change();
    fields.forEach(field -> change.add(field, FieldPlace.last()));
    return change.commit(this);
  }

  /**
   * Gives a field another name. Touches no shard.
   *
   * @throws IllegalArgumentException if there is no such field
   * @throws io.zrecord.errors.SchemaMismatchException if another field has the new name
   */
  public TableSnapshot renameField(String name, String newName) {
    return change().rename(name, newName).commit(this);
  }

  /**
   * Removes a field. Touches no shard: versions before keep the values, which take space until the
   * shards are written again, as by a rebalance of all shards.
   *
   * @throws IllegalArgumentException if there is no such field
   */
  public TableSnapshot dropField(String name) {
    return change().drop(name).commit(this);
  }

  /**
   * Gives a field a type to which its type promotes. Touches no shard: readers convert the values
   * that are there.
   *
   * @throws IllegalArgumentException if there is no such field
   * @throws io.zrecord.errors.SchemaMismatchException if the type of the field does not promote to
   *     the new type
   */
  public TableSnapshot promoteField(String name, ElementType type) {
    return change().promote(name, type).commit(this);
  }

  /**
   * Changes the compression of later writes, attributes, {@code write} default or comment of a
   * field, or lets its values be absent. Touches no shard.
   *
   * @param redefinition returns the new definition; number, shape and {@code initial} default stay
   * @throws IllegalArgumentException if there is no such field
   * @throws io.zrecord.errors.SchemaMismatchException if the new definition is not allowed
   */
  public TableSnapshot redefineField(String name, UnaryOperator<FieldSpec> redefinition) {
    return change().redefine(name, redefinition).commit(this);
  }

  private SchemaChange change() {
    return SchemaChange.of(latest());
  }

  /**
   * Publishes a change among files of something else, as when the directory of a store becomes a
   * table. Otherwise does what {@link #commit} does.
   */
  public TableSnapshot commitBesideOthers(TableChange change) {
    return snapshot(new Committer(storage, log, clock).commit(change));
  }

  /**
   * Takes the commit that created the table back, and deletes the files of that commit; the table
   * does not exist afterwards. Other files stay, also those that somebody wrote for a commit to
   * come, and a manifest that says so. If cut short, the table is whole or does not exist, and
   * files may be left for {@link #sweep}.
   *
   * @param commitId the commit, as {@link TableChange#commitId} has it
   * @return {@code false} if there is another version by now, as of a tag; nothing was deleted
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the table may or may not exist;
   *     nothing was deleted
   */
  public boolean retract(UUID commitId) {
    return new TableDrop(storage, log, clock).retract(commitId);
  }

  /**
   * Drops the table with its history: publishes a version that says so, and deletes the files that
   * its versions and tags name. Other files stay, also the directory and the manifest of that
   * version. A commit that is under way becomes a conflict. If cut short, the table is whole or
   * does not exist. Call again then, and files may be left for {@link #sweep}.
   *
   * @param tableId the table that is meant: {@link TableSnapshot#tableId}
   * @throws CommitConflictException if another table stands here by now; nothing was deleted
   * @throws NotADatasetException if there is no table, or a store
   * @throws io.zrecord.errors.UnsupportedFormatException if the table uses a feature that this
   *     release does not know; nothing was deleted
   * @throws io.zrecord.errors.CorruptDataException if a manifest or a list is damaged, so that it
   *     is unknown which files the table has; nothing was deleted
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the table may or may not exist;
   *     nothing was deleted
   * @throws io.zrecord.errors.StorageException if a file cannot be read or deleted; the table may
   *     have been dropped, as the message says
   */
  public DropResult drop(UUID tableId, DropOptions options) {
    return new TableDrop(storage, log, clock).drop(tableId, options, reads::notATable);
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
    return new TableSnapshot(storage, manifest);
  }
}
