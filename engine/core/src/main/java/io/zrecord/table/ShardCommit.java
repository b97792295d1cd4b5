package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Head;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Commits a change of shards. Belongs to one thread. */
final class ShardCommit implements Commit {
  private final Storage storage;
  private final ManifestLog log;
  private final TableChange change;
  private final SchemaRules rules;
  private final FollowedRecords followed;
  private final OptionalLong checkedMillis;
  private long oldestFileMillis = Long.MAX_VALUE;

  /** The fields to which the change gives values of records that are there, once that is known. */
  private @Nullable Set<Integer> given;

  /** Shards with patches of this change in whose place the last attempt has written others. */
  private List<ShardSummary> writtenElsewhere = List.of();

  ShardCommit(Storage storage, ManifestLog log, TableChange change) {
    this(storage, log, change, OptionalLong.empty());
  }

  /**
   * Creates a commit.
   *
   * @param checkedMillis time of the oldest file if the files were checked elsewhere; empty if the
   *     commit has to check them
   */
  ShardCommit(Storage storage, ManifestLog log, TableChange change, OptionalLong checkedMillis) {
    this.checkedMillis = checkedMillis;
    this.storage = storage;
    this.log = log;
    this.change = change;
    this.rules = new SchemaRules(storage.location(), change, new AddedToPartitions(log, change));
    this.followed = new FollowedRecords(
        log, storage.location(), change.baseVersion().orElse(-1), rules.since());
  }

  @Override
  public UUID commitId() {
    return change.commitId();
  }

  @Override
  public OptionalLong baseVersion() {
    return change.baseVersion();
  }

  /** Tells whether the transaction of the change took effect before. */
  @Override
  public boolean isDone(Manifest newest) {
    return change
        .transaction()
        .map(t ->
            newest.transactions().getOrDefault(t.applicationId(), Long.MIN_VALUE) >= t.number())
        .orElse(false);
  }

  @Override
  public Optional<SinceBase> sinceBase() {
    return Optional.of(rules);
  }

  @Override
  public void requireFits(Optional<Manifest> newest) {
    declarations(newest, rules.after(newest));
  }

  /** Returns what the table declares after the change, which must fit. */
  private Declarations declarations(Optional<Manifest> newest, RecordSchema schema) {
    boolean isNew = newest.isEmpty() || change.kind() == TableChange.Kind.OVERWRITE;
    Declarations declarations = newest.map(Manifest::declarations).orElse(Declarations.NONE);
    if (isNew && change.declarations().isPresent()) {
      declarations = change.declarations().get().withSeriesOf(declarations);
      new DeclarationRules(storage.location(), declarations).requireNew(schema);
    }
    DeclarationRules declared = new DeclarationRules(storage.location(), declarations);
    if (isNew) {
      declared.requireKept(newest.map(Manifest::schema).orElse(schema), schema);
      declared.requirePartitions(schema, change.partitions());
    }
    if (change.kind() != TableChange.Kind.RELAYOUT && !change.shards().isEmpty()) {
      declared.requireEvaluated(change.evaluated());
      declared.requireAssigned(schema, change.assigned(), change.shards());
      DeclarationRules.requireWritten(storage.location(), rules.known(schema), change.shards());
      if (change.kind() == TableChange.Kind.MERGE && declared.isAnyAlwaysGenerated()) {
        declared.requireGiven(schema, given());
      }
    } else if (change.kind() == TableChange.Kind.UPDATE
        || change.kind() == TableChange.Kind.MERGE) {
      List<Integer> given = change.schema().fields().stream().map(FieldSpec::id).toList();
      declared.requireEvaluated(change.evaluated(), given);
      declared.requireGiven(schema, given);
    }
    return declarations;
  }

  /** A merge that adds shards does not say in which fields it gives values of other records. */
  private Set<Integer> given() {
    Set<Integer> fields = given;
    if (fields == null) {
      fields = GivenFields.of(storage, change.replacements());
      given = fields;
    }
    return fields;
  }

  @Override
  public void checkFiles() {
    WrittenFields.require(storage.location(), change);
    ShardCheck check = new ShardCheck(storage);
    oldestFileMillis = checkedMillis.isPresent()
        ? checkedMillis.getAsLong()
        : check.check(change.newShards(), change.knownFiles());
    change
        .indexMap()
        .ifPresent(map -> oldestFileMillis = Math.min(oldestFileMillis, check.checkIndexMap(map)));
  }

  /**
   * Requires that no sweep or drop may have deleted files of a change. Both say before they delete
   * how old the files are, so this says it of all that came before the next version.
   */
  static void requireUnswept(String location, long oldestFileMillis, Manifest last) {
    long sweptBefore = last.sweptBeforeMillis().orElse(Long.MIN_VALUE);
    if (oldestFileMillis < sweptBefore) {
      throw new CommitConflictException(
          location,
          "Cannot commit to " + location + ": a file of the change was last changed at "
              + Instant.ofEpochMilli(oldestFileMillis)
              + (last.isTable()
                  ? ", and files before " + Instant.ofEpochMilli(sweptBefore)
                      + " that no version named have been swept since; run the write again. If that"
                      + " time is yet to come, the clock of an earlier sweep was ahead: sweep again"
                      + " first"
                  : ", before " + Instant.ofEpochMilli(sweptBefore)
                      + ", and the table that had files of that time was dropped; run the write"
                      + " again"));
    }
  }

  @Override
  public Manifest next(Optional<Manifest> last, long nowMillis, List<String> written) {
    Optional<Manifest> newest = last.filter(Manifest::isTable);
    last.ifPresent(manifest -> requireUnswept(storage.location(), oldestFileMillis, manifest));
    RecordSchema schema = rules.after(newest);
    List<Integer> partitions = newest
        .filter(manifest -> change.kind() != TableChange.Kind.OVERWRITE)
        .map(Manifest::partitions)
        .orElse(change.partitions());
    ShardSequence sequence = newest.isPresent() && change.keepsShards()
        ? kept(newest.get(), written)
        : new ShardSequence(log, written);
    // After the search for the shards: where the table was replaced by one with other partitions,
    // they are gone, and that is a conflict.
    new PartitionRules(storage.location(), schema, partitions).require(change);
    change.shards().forEach(sequence::add);
    Head head = Head.after(
        last, change.commitId(), change.baseVersion(), nowMillis, operation(), properties(newest));
    return new Manifest(
        head,
        schema,
        partitions,
        declarations(newest, schema),
        nextFieldId(schema, newest),
        sequence.lists(),
        sequence.rest(),
        transactions(newest),
        change.indexMap(),
        new Retention(
            head.asRecords(),
            last.map(Manifest::oldestOfNext).orElse(0L),
            newest.map(Manifest::tags).orElse(List.of()),
            last.map(Manifest::sweptBeforeMillis).orElse(OptionalLong.empty())));
  }

  /**
   * Returns the shards of the newest version with the replacements. What other commits have done to
   * the replaced shards is kept as well, if the two commute.
   */
  private ShardSequence kept(Manifest newest, List<String> written) {
    Carrier carrier = new Carrier(storage, operation(), written, rules.areRecordsKept());
    boolean isRebalance = change.kind() == TableChange.Kind.REBALANCE;
    ShardSequence sequence = new ShardSequence(log, written);
    Replacements planned = new Replacements(carrier, change.replacements(), isRebalance);
    sequence.add(newest, planned);
    List<TableChange.Replacement> missing = planned.missing();
    writtenElsewhere = Stream.concat(planned.carried().stream(), missing.stream())
        .filter(Carrier::isNarrow)
        .flatMap(run -> run.added().stream())
        .filter(shard -> shard.patch() != null && change.owned().contains(patchFile(shard)))
        .toList();
    if (missing.isEmpty()) {
      return sequence;
    }
    if (isRebalance || change.baseVersion().isEmpty()) {
      planned.requireDone();
    }
    // The lists have the wrong shards, and what was carried is carried again.
    UnnamedFiles.discard(storage, written);
    written.clear();
    List<TableChange.Replacement> runs = new ArrayList<>(change.replacements());
    runs.removeAll(missing);
    runs.addAll(followed.follow(carrier, missing, newest));
    Replacements found = new Replacements(carrier, runs, false);
    ShardSequence again = new ShardSequence(log, written);
    again.add(newest, found);
    found.requireDone();
    return again;
  }

  @Override
  public void published(Manifest version) {
    List<String> unnamed = rules
        .since()
        .unnamed(
            log, storage.location(), change.baseVersion().orElse(-1), version, writtenElsewhere)
        .stream()
        .map(ShardCommit::patchFile)
        .toList();
    UnnamedFiles.discardAtOnce(storage, unnamed);
  }

  /** Returns the patch of a shard whose records were changed. */
  private static String patchFile(ShardSummary shard) {
    return shard.fileOf(Objects.requireNonNull(shard.patch()));
  }

  private String operation() {
    return change.kind().name().toLowerCase(Locale.ROOT);
  }

  private static int nextFieldId(RecordSchema schema, Optional<Manifest> newest) {
    int nextFieldId = newest.map(Manifest::nextFieldId).orElse(1);
    for (FieldSpec field : schema.fields()) {
      nextFieldId = Math.max(nextFieldId, Math.addExact(field.id(), 1));
    }
    return nextFieldId;
  }

  private Map<String, Long> transactions(Optional<Manifest> newest) {
    Map<String, Long> transactions =
        new TreeMap<>(newest.map(Manifest::transactions).orElse(Map.of()));
    change.transaction().ifPresent(t -> transactions.put(t.applicationId(), t.number()));
    return transactions;
  }

  /** Returns the caller's properties, and figures of what the change does. */
  private Map<String, String> properties(Optional<Manifest> newest) {
    Map<String, String> properties = new TreeMap<>(change.properties());
    properties.putIfAbsent("user", System.getProperty("user.name", ""));
    long added = change.kind() == TableChange.Kind.RELAYOUT
        ? 0
        : change.shards().stream().mapToLong(ShardSummary::length).sum();
    Set<UUID> known = change.knownFiles();
    long bytes = change.newShards().stream()
        .flatMap(shard -> shard.chunks().stream())
        .filter(chunk -> !known.contains(chunk.id()))
        .mapToLong(ChunkFile::bytes)
        .sum();
    boolean replaces = change.kind() == TableChange.Kind.OVERWRITE;
    properties.put("addedRecords", String.valueOf(added));
    properties.put("addedBytes", String.valueOf(bytes));
    long removed = replaces ? newest.map(Manifest::length).orElse(0L) : change.deletedRecords();
    properties.put("removedRecords", String.valueOf(removed));
    if (replaces && !properties.containsKey("removedBytes")) {
      removedBytes(newest)
          .ifPresent(freed -> properties.put("removedBytes", String.valueOf(freed)));
    }
    return properties;
  }

  /**
   * Returns the bytes of the chunks that the version before has and the next version does not have;
   * empty if a list of shards cannot be read.
   */
  private OptionalLong removedBytes(Optional<Manifest> newest) {
    if (newest.isEmpty()) {
      return OptionalLong.of(0);
    }
    Set<UUID> counted = new HashSet<>();
    change.shards().forEach(shard -> counted.add(shard.id()));
    try {
      return OptionalLong.of(log.shards(newest.get()).stream()
          .filter(shard -> counted.add(shard.id()))
          .mapToLong(ShardSummary::chunkBytes)
          .sum());
    } catch (ZRecordException e) {
      // A damaged list must not keep its version from being replaced.
      return OptionalLong.empty();
    }
  }
}
