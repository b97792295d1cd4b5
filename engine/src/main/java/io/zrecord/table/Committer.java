package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Publishes a change as the next version. After a lost race the change is tried again on top of the
 * winner if the two changes commute, as two appends do; otherwise they conflict. Thread-safe.
 *
 * <p>Nothing is read after a version was published: an error then would look like a failed commit,
 * and the caller would delete shards that a version names.
 */
final class Committer {
  private static final int MAX_ATTEMPTS = 1000;
  private static final long MAX_PAUSE_NANOS = 20_000_000;

  /**
   * Longest time from reading the newest version to publishing the next. In that time the next
   * version cannot have been expired, so that its number is not free again. The rest of the least
   * age is for clocks that differ.
   */
  private static final Duration MAX_PUBLICATION = ExpireOptions.LEAST_AGE.dividedBy(2);

  private final Storage storage;
  private final ManifestLog log;
  private final InstantSource clock;

  public Committer(Storage storage, ManifestLog log) {
    this(storage, log, InstantSource.system());
  }

  Committer(Storage storage, ManifestLog log, InstantSource clock) {
    this.storage = storage;
    this.log = log;
    this.clock = clock;
  }

  /**
   * Publishes a change. Returns the version in force: the version published, or the newest if the
   * transaction took effect before.
   */
  public Manifest commit(TableChange change) {
    SchemaRules rules = new SchemaRules(storage.location(), change);
    long seen = change.baseVersion().orElse(-1);
    for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      Instant began = clock.instant();
      Optional<Manifest> newest = log.newest();
      if (newest.isPresent()) {
        if (isDone(change, newest.get())) {
          return findPublished(change, seen + 1, newest.get()).orElse(newest.get());
        }
        Optional<Manifest> own = findOwn(change, rules, seen + 1, newest.get());
        if (own.isPresent()) {
          return own.get();
        }
        seen = Math.max(seen, newest.get().version());
      }
      RecordSchema schema = rules.after(newest);
      if (attempt == 1) {
        new ShardCheck(storage).check(change.newShards());
        change.indexMap().ifPresent(new ShardCheck(storage)::checkIndexMap);
        if (isLate(began)) {
          // The check of very many shards took long; what was read before is too old to build on.
          continue;
        }
      }
      Optional<Manifest> published = publish(change, schema, newest);
      if (published.isPresent()) {
        requirePrompt(began, published.get());
        return published.get();
      }
      LockSupport.parkNanos(
          ThreadLocalRandom.current().nextLong(MAX_PAUSE_NANOS * Math.min(attempt, 10) / 10));
    }
    throw new CommitConflictException(
        storage.location(),
        "Cannot commit to " + storage.location() + ": other commits came first " + MAX_ATTEMPTS
            + " times; write less often, or more at once");
  }

  /**
   * Requires that publishing did not take too long. A commit that slept meanwhile may have taken a
   * number that was used and expired; no later version has its change then.
   */
  private void requirePrompt(Instant began, Manifest published) {
    if (isLate(began)) {
      throw new CommitOutcomeUnknownException(
          storage.location(),
          "Cannot tell whether version " + published.version() + " of " + storage.location()
              + " counts: publishing it took more than " + MAX_PUBLICATION.toMinutes()
              + " minutes; look whether the newest version has the change, and delete nothing");
    }
  }

  private boolean isLate(Instant began) {
    return Duration.between(began, clock.instant()).abs().compareTo(MAX_PUBLICATION) > 0;
  }

  private static boolean isDone(TableChange change, Manifest newest) {
    return change
        .transaction()
        .map(t ->
            newest.transactions().getOrDefault(t.applicationId(), Long.MIN_VALUE) >= t.number())
        .orElse(false);
  }

  /**
   * Finds this change among the versions since the base: it may be there when it is tried again
   * after an unknown outcome.
   */
  private Optional<Manifest> findPublished(TableChange change, long from, Manifest newest) {
    for (long version = newest.version(); version >= from; version--) {
      try {
        Manifest manifest = version == newest.version() ? newest : log.read(version);
        if (manifest.commitId().equals(change.commitId())) {
          return Optional.of(manifest);
        }
      } catch (MissingFileException e) {
        // This version was expired, and all versions before it.
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  /**
   * Looks through the versions since the base. This change may be among them when it is tried again
   * after an unknown outcome; all other versions must commute with it.
   */
  private Optional<Manifest> findOwn(
      TableChange change, SchemaRules rules, long from, Manifest newest) {
    for (long version = from; version <= newest.version(); version++) {
      Manifest winner;
      try {
        winner = version == newest.version() ? newest : log.read(version);
      } catch (MissingFileException e) {
        if (change.kind() == TableChange.Kind.REBALANCE) {
          // The shards that a rebalance replaces are there or not, whatever came between.
          continue;
        }
        throw new CommitOutcomeUnknownException(
            storage.location(),
            "Cannot commit to " + storage.location() + ": version " + version
                + ", which came since the change was planned, was expired, so that it cannot be told"
                + " whether they fit together, nor whether it is the change itself, tried before;"
                + " look at what the newest version has, and run the write again",
            e);
      }
      if (winner.commitId().equals(change.commitId())) {
        return Optional.of(winner);
      }
      rules.requireCommutes(winner);
    }
    return Optional.empty();
  }

  /**
   * Publishes the next version. Returns empty if another commit has the version; then nothing of
   * this attempt is left.
   */
  private Optional<Manifest> publish(
      TableChange change, RecordSchema schema, Optional<Manifest> newest) {
    List<ShardListFile> written = new ArrayList<>();
    try {
      Manifest next = next(change, schema, newest, written);
      if (log.publish(next)) {
        return Optional.of(next);
      }
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException e) {
      deleteQuietly(written);
      throw e;
    }
    deleteQuietly(written);
    return Optional.empty();
  }

  private Manifest next(
      TableChange change,
      RecordSchema schema,
      Optional<Manifest> newest,
      List<ShardListFile> written) {
    ShardSequence sequence = new ShardSequence(log, written);
    if (newest.isPresent() && change.keepsShards()) {
      sequence.add(newest.get(), new Replacements(storage.location(), change.replacements()));
    }
    change.shards().forEach(sequence::add);
    Map<String, Long> transactions =
        new TreeMap<>(newest.map(Manifest::transactions).orElse(Map.of()));
    change.transaction().ifPresent(t -> transactions.put(t.applicationId(), t.number()));
    int nextFieldId = newest.map(Manifest::nextFieldId).orElse(1);
    for (FieldSpec field : schema.fields()) {
      nextFieldId = Math.max(nextFieldId, Math.addExact(field.id(), 1));
    }
    long now = clock.millis();
    return new Manifest(
        newest.map(Manifest::tableId).orElseGet(UUID::randomUUID),
        newest.map(manifest -> manifest.version() + 1).orElse(0L),
        change.commitId(),
        newest.map(manifest -> Math.max(now, manifest.timestampMillis() + 1)).orElse(now),
        change.kind().name().toLowerCase(Locale.ROOT),
        properties(change, newest),
        nextFieldId,
        schema,
        sequence.lists(),
        sequence.rest(),
        transactions,
        change.indexMap());
  }

  /** Returns the caller's properties, and figures of what the change does. */
  private Map<String, String> properties(TableChange change, Optional<Manifest> newest) {
    Map<String, String> properties = new TreeMap<>(change.properties());
    properties.putIfAbsent("user", System.getProperty("user.name", ""));
    long added = change.kind() == TableChange.Kind.RELAYOUT
        ? 0
        : change.shards().stream().mapToLong(ShardSummary::length).sum();
    long bytes = change.newShards().stream().mapToLong(ShardSummary::chunkBytes).sum();
    boolean replaces = change.kind() == TableChange.Kind.OVERWRITE;
    properties.put("addedRecords", String.valueOf(added));
    properties.put("addedBytes", String.valueOf(bytes));
    properties.put(
        "removedRecords", String.valueOf(replaces ? newest.map(Manifest::length).orElse(0L) : 0L));
    if (replaces && !properties.containsKey("removedBytes")) {
      removedBytes(change, newest)
          .ifPresent(removed -> properties.put("removedBytes", String.valueOf(removed)));
    }
    return properties;
  }

  /**
   * Returns the bytes of the chunks that the version before has and the next version does not have;
   * empty if a list of shards cannot be read.
   */
  private OptionalLong removedBytes(TableChange change, Optional<Manifest> newest) {
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

  /** Deletes lists that no version names and none ever will name. */
  private void deleteQuietly(List<ShardListFile> lists) {
    for (ShardListFile list : lists) {
      try {
        storage.delete(list.file());
      } catch (ZRecordException e) {
        // An orphan costs space only.
      }
    }
  }
}
