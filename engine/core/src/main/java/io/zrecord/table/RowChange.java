package io.zrecord.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.internal.shard.write.SlotCollector;
import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Collects deletions and new values of single records of a version, and commits them as one
 * version. Each shard that is touched gets a patch (FORMAT.md section 3.3); all other files stay as
 * they are. The change commutes with every commit that leaves these shards alone.
 *
 * <pre>{@code
 * RowChange change = RowChange.of(RecordTable.at(storage).latest());
 * change.update(7, "label", 3);
 * change.delete(9);
 * TableSnapshot after = change.commit();
 * }</pre>
 *
 * <p>Indices are those of the version, whatever was deleted before in this change. New values stay
 * in memory until the commit. Belongs to one thread.
 */
public final class RowChange {
  private final TableSnapshot base;
  private final Storage storage;
  private final ChangeBase version;
  private final SortedMap<Integer, Rows> byShard = new TreeMap<>();
  private final Map<String, String> properties = new HashMap<>();

  private Optional<TableChange.Transaction> transaction = Optional.empty();

  /** The change, once it is written. */
  private @Nullable MergeChange written;

  /** What is changed in a shard, by indices in the shard. */
  private static final class Rows {
    private final SlotCollector deleted = new SlotCollector();
    private final Map<FieldSpec, SortedMap<Long, byte @Nullable []>> values = new HashMap<>();
    /** Whether all records of the shard are deleted. */
    private boolean isRemoved;

    private boolean deletes(long index) {
      return isRemoved || deleted.contains(index);
    }
  }

  private RowChange(TableSnapshot base) {
    this.base = base;
    this.storage = base.storage();
    this.version = ChangeBase.of(base);
  }

  /** Begins a change of a version, mostly the newest. */
  public static RowChange of(TableSnapshot base) {
    return new RowChange(base);
  }

  /**
   * Deletes a record. Records after it move down by one index, in the version that is committed.
   * Values given for the record before are dropped.
   *
   * @throws IndexOutOfBoundsException if there is no such record in the version
   */
  public void delete(long index) {
    requireOpen();
    int shard = base.shardOf(index);
    Rows rows = byShard.computeIfAbsent(shard, ordinal -> new Rows());
    long local = index - base.firstIndex(shard);
    rows.deleted.add(local);
    rows.values.values().forEach(values -> values.remove(local));
  }

  /**
   * Deletes records. A shard of which all records are given at once is not opened, and takes no
   * memory for its records.
   *
   * @throws IndexOutOfBoundsException if the version has not all of them
   */
  public void delete(IndexSet indices) {
    requireOpen();
    for (int range = 0; range < indices.rangeCount(); range++) {
      long from = indices.rangeFrom(range);
      long to = indices.rangeTo(range);
      while (from < to) {
        int shard = base.shardOf(from);
        long first = base.firstIndex(shard);
        long end = Math.min(to, base.firstIndex(shard + 1));
        if (from == first && end == base.firstIndex(shard + 1)) {
          Rows rows = byShard.computeIfAbsent(shard, ordinal -> new Rows());
          rows.isRemoved = true;
          rows.values.clear();
          from = end;
        }
        for (; from < end; from++) {
          delete(from);
        }
      }
    }
  }

  /**
   * Gives a value of a record. A value given before is replaced.
   *
   * @param value as {@link io.zrecord.RecordDatasetWriter} takes it, or the bytes; null if the
   *     value is absent from now on
   * @throws IndexOutOfBoundsException if there is no such record in the version
   * @throws IllegalArgumentException if there is no such field, the value does not fit the field,
   *     or the record is deleted by this change
   * @throws SchemaMismatchException if the table is partitioned by the field, or always generates
   *     its values
   * @throws io.zrecord.errors.ValueTooLargeException if the length of the value does not fit
   */
  public void update(long index, String field, @Nullable Object value) {
    requireOpen();
    FieldSpec spec = ShardChangeWriter.field(storage.location(), version, field);
    base.requireGiven(List.of(spec));
    int shard = base.shardOf(index);
    long local = index - base.firstIndex(shard);
    byte[] bytes = ShardChangeWriter.bytes(spec, value, index);
    Rows rows = byShard.computeIfAbsent(shard, ordinal -> new Rows());
    if (rows.deletes(local)) {
      throw new IllegalArgumentException(
          "Cannot update record " + index + ": the same change deletes it");
    }
    rows.values
        .computeIfAbsent(spec, key -> new TreeMap<>())
        .put(local, bytes == null ? null : bytes.clone());
  }

  private void requireOpen() {
    if (written != null) {
      throw new IllegalStateException("Cannot add to the change of " + base
          + ": it was committed, or has failed; begin another");
    }
  }

  /** Sets the key under which the change takes effect once only. */
  public void transaction(TableChange.Transaction key) {
    requireOpen();
    transaction = Optional.of(key);
  }

  /** Adds an informative string to the version. */
  public void property(String key, String value) {
    requireOpen();
    properties.put(key, value);
  }

  /**
   * Writes the patches and commits the version. Where a patch would exceed
   * {@link PatchRef#MOST_BYTES} or {@link PatchRef#MOST_CHUNKS}, fields get tables files instead.
   * May be called once, and again after an unknown outcome: the change takes effect once.
   *
   * @return the version committed; the base if nothing was changed
   * @throws io.zrecord.errors.CommitConflictException if another commit has changed one of the
   *     records, given values to a field of one of the shards, or replaced the table since the
   *     base; nothing was changed
   * @throws CommitOutcomeUnknownException if the version may or may not have been committed; call
   *     again, because a new change with the same indices may delete other records
   */
  public TableSnapshot commit() {
    return commit(RecordTable.at(storage));
  }

  TableSnapshot commit(RecordTable table) {
    MergeChange change = written;
    if (change == null) {
      change = MergeChange.of(base);
      written = change;
      try {
        write(change);
      } catch (RuntimeException e) {
        change.abandon();
        throw e;
      }
    }
    return change.commit(table);
  }

  /** Writes the patches. A shard of which nothing is left needs none, and is not opened. */
  private void write(MergeChange change) {
    properties.forEach(change::property);
    transaction.ifPresent(change::transaction);
    byShard.forEach((ordinal, rows) -> {
      ShardSummary shard = base.shards().get(ordinal);
      if (rows.isRemoved || rows.deleted.count() == shard.length()) {
        change.removing(shard);
      } else {
        change.changeOwned(write(shard, rows));
      }
    });
  }

  private ShardChange write(ShardSummary shard, Rows rows) {
    Set<String> fields = rows.values.entrySet().stream()
        .filter(values -> !values.getValue().isEmpty())
        .map(values -> values.getKey().name())
        .collect(Collectors.toUnmodifiableSet());
    try (ShardChangeWriter writer = ShardChangeWriter.open(storage, version, shard, fields)) {
      // Values of a field stand together, in the order of the records.
      base.schema()
          .fields()
          .forEach(spec ->
              put(writer, spec, rows.values.getOrDefault(spec, Collections.emptySortedMap())));
      rows.deleted.forEach(writer::delete);
      return writer.finish();
    }
  }

  private static void put(
      ShardChangeWriter writer, FieldSpec spec, SortedMap<Long, byte @Nullable []> values) {
    values.forEach((index, value) -> {
      if (value == null) {
        writer.values(spec.name()).putAbsent(index);
      } else {
        writer.values(spec.name()).put(index, value, 0, value.length);
      }
    });
  }
}
