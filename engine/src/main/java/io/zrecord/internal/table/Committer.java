package io.zrecord.internal.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.table.ShardSummary;
import io.zrecord.table.TableChange;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Publishes a change as the next version. A lost race is tried again on top of the winner if the two commute (design: append with
 * append), and is a conflict otherwise. Thread-safe.
 */
public final class Committer {
  private static final int MAX_ATTEMPTS = 1000;
  private static final long MAX_PAUSE_NANOS = 20_000_000;

  private final Storage storage;
  private final ManifestLog log;

  public Committer(Storage storage, ManifestLog log) {
    this.storage = storage;
    this.log = log;
  }

  /** Returns the version in force: the one published, or the newest if the transaction took effect before. */
  public Manifest commit(TableChange change) {
    Optional<Manifest> newest = log.newest();
    for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      if (newest.isPresent() && isDone(change, newest.get())) {
        return newest.get();
      }
      if (attempt == 1) {
        new ShardCheck(storage).check(change.shards());
      }
      Manifest next = next(change, newest);
      if (log.publish(next)) {
        return next;
      }
      LockSupport.parkNanos(
          ThreadLocalRandom.current().nextLong(MAX_PAUSE_NANOS * Math.min(attempt, 10) / 10));
      newest = log.newest();
    }
    throw new CommitConflictException(
        storage.location(),
        "Cannot commit to " + storage.location() + ": other commits came first " + MAX_ATTEMPTS
            + " times; write less often, or more at once");
  }

  private static boolean isDone(TableChange change, Manifest newest) {
    return change
        .transaction()
        .map(t ->
            newest.transactions().getOrDefault(t.applicationId(), Long.MIN_VALUE) >= t.number())
        .orElse(false);
  }

  private Manifest next(TableChange change, Optional<Manifest> newest) {
    RecordSchema schema = schemaAfter(change, newest);
    boolean keeps = change.kind() == TableChange.Kind.APPEND && newest.isPresent();
    List<ShardList> lists = new ArrayList<>(keeps ? newest.get().lists() : List.of());
    List<ShardSummary> shards = new ArrayList<>(keeps ? newest.get().shards() : List.of());
    shards.addAll(change.shards());
    if (shards.size() > ShardList.MAX_SHARDS) {
      int spilled = shards.size() - shards.size() % ShardList.MAX_SHARDS;
      lists.addAll(log.writeLists(shards.subList(0, spilled)));
      shards = shards.subList(spilled, shards.size());
    }
    Map<String, Long> transactions =
        new TreeMap<>(newest.map(Manifest::transactions).orElse(Map.of()));
    change.transaction().ifPresent(t -> transactions.put(t.applicationId(), t.number()));
    int nextFieldId = newest.map(Manifest::nextFieldId).orElse(1);
    for (FieldSpec field : schema.fields()) {
      nextFieldId = Math.max(nextFieldId, field.id() + 1);
    }
    long now = System.currentTimeMillis();
    return new Manifest(
        newest.map(Manifest::tableId).orElseGet(UUID::randomUUID),
        newest.map(manifest -> manifest.version() + 1).orElse(0L),
        change.commitId(),
        newest.map(manifest -> Math.max(now, manifest.timestampMillis() + 1)).orElse(now),
        change.kind().name().toLowerCase(Locale.ROOT),
        change.properties(),
        nextFieldId,
        schema,
        lists,
        shards,
        transactions);
  }

  private RecordSchema schemaAfter(TableChange change, Optional<Manifest> newest) {
    if (newest.isEmpty()) {
      if (change.baseVersion().isPresent()) {
        throw conflict(
            change,
            "it was planned on version " + change.baseVersion().getAsLong()
                + ", but there is none now");
      }
      return change.schema();
    }
    Manifest manifest = newest.get();
    return switch (change.kind()) {
      case CREATE ->
        throw new DatasetExistsException(
            storage.location(),
            "Cannot create " + storage.location() + ": it exists, its newest version is "
                + manifest.version() + "; append to it or overwrite it");
      case OVERWRITE -> {
        if (change.baseVersion().orElse(-1) != manifest.version()) {
          throw conflict(
              change,
              "version " + manifest.version()
                  + " was committed meanwhile, and overwriting it would drop what it added");
        }
        yield change.schema();
      }
      case APPEND -> rebased(change, manifest);
    };
  }

  /** The winner's fields and those that the change adds. */
  private RecordSchema rebased(TableChange change, Manifest manifest) {
    List<FieldSpec> fields = new ArrayList<>(manifest.schema().fields());
    for (FieldSpec field : change.schema().fields()) {
      Optional<FieldSpec> same = manifest.schema().find(field.id());
      if (same.isPresent()) {
        boolean fits = same.get().name().equals(field.name())
            && same.get().type().equals(field.type())
            && same.get().shape().equals(field.shape());
        if (!fits) {
          throw conflict(
              change,
              "field '" + field.name() + "' has the number " + field.id() + ", which is '"
                  + same.get().name() + "' of another name or type in version "
                  + manifest.version());
        }
      } else if (field.id() < manifest.nextFieldId()
          || manifest.schema().find(field.name()).isPresent()) {
        throw conflict(
            change,
            "field '" + field.name() + "' was removed or added by version " + manifest.version());
      } else {
        fields.add(field);
      }
    }
    return new RecordSchema(fields);
  }

  private CommitConflictException conflict(TableChange change, String reason) {
    return new CommitConflictException(
        storage.location(),
        "Cannot commit the " + change.kind().name().toLowerCase(Locale.ROOT) + " to "
            + storage.location() + ": " + reason + "; read the newest version and try again");
  }
}
