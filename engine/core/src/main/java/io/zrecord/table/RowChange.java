package io.zrecord.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchWriter;
import io.zrecord.internal.values.ValueBytes;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

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
  private final List<FieldSpec> partitionFields;
  private final SortedMap<Integer, Rows> byShard = new TreeMap<>();
  private final Map<String, String> properties = new HashMap<>();
  private final List<String> written = new ArrayList<>();

  /** What is to be committed, once it is written. */
  private @Nullable TableChange prepared;

  private boolean isDone;

  /** What is changed in a shard, by indices in the shard. */
  private static final class Rows {
    private final SortedMap<Long, Boolean> deleted = new TreeMap<>();
    private final Map<FieldSpec, SortedMap<Long, byte @Nullable []>> values = new HashMap<>();
  }

  private RowChange(TableSnapshot base) {
    this.base = base;
    this.storage = base.storage();
    this.partitionFields = base.partitionFields();
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
    rows.deleted.put(local, true);
    rows.values.values().forEach(values -> values.remove(local));
  }

  /**
   * Gives a value of a record. A value given before is replaced.
   *
   * @param value as {@link io.zrecord.RecordDatasetWriter} takes it, or the bytes; null if the
   *     value is absent from now on
   * @throws IndexOutOfBoundsException if there is no such record in the version
   * @throws IllegalArgumentException if there is no such field, the value does not fit the field,
   *     or the record is deleted by this change
   * @throws SchemaMismatchException if the table is partitioned by the field
   * @throws io.zrecord.errors.ValueTooLargeException if the length of the value does not fit
   */
  public void update(long index, String field, @Nullable Object value) {
    requireOpen();
    RecordSchema schema = base.schema();
    schema.requireReadable(storage.location(), field);
    FieldSpec spec = schema.fields().get(schema.ordinal(field));
    if (partitionFields.contains(spec)) {
      throw new SchemaMismatchException(
          storage.location(),
          "Cannot update field '" + field + "' of " + storage.location()
              + ": the table is partitioned by it; delete the record, and append it to its"
              + " partition");
    }
    int shard = base.shardOf(index);
    long local = index - base.firstIndex(shard);
    if (value == null && !spec.rules().isNullable()) {
      throw new IllegalArgumentException(
          "Field '" + field + "' is never absent; give record " + index + " a value");
    }
    byte[] bytes = value == null ? null : ValueBytes.of(spec, value).clone();
    Rows rows = byShard.computeIfAbsent(shard, ordinal -> new Rows());
    if (rows.deleted.containsKey(local)) {
      throw new IllegalArgumentException(
          "Cannot update record " + index + ": the same change deletes it");
    }
    rows.values.computeIfAbsent(spec, key -> new TreeMap<>()).put(local, bytes);
  }

  private void requireOpen() {
    if (isDone || prepared != null) {
      throw new IllegalStateException("Cannot add to the change of " + base
          + ": it was committed, or has failed; begin another");
    }
  }

  /** Adds an informative string to the version. */
  public void property(String key, String value) {
    properties.put(key, value);
  }

  /**
   * Writes the patches and commits the version. A shard whose patch would exceed
   * {@link PatchRef#MOST_BYTES} or {@link PatchRef#MOST_CHUNKS} is written again instead. May be
   * called once, and again after an unknown outcome: the change takes effect once.
   *
   * @return the version committed; the base if nothing was changed
   * @throws io.zrecord.errors.CommitConflictException if another commit has changed or replaced one
   *     of the shards since the base; nothing was changed
   * @throws CommitOutcomeUnknownException if the version may or may not have been committed; call
   *     again, because a new change with the same indices may delete other records
   */
  public TableSnapshot commit() {
    return commit(RecordTable.at(storage));
  }

  TableSnapshot commit(RecordTable table) {
    if (isDone) {
      throw new IllegalStateException("The change was committed before, or has failed");
    }
    isDone = true;
    if (byShard.isEmpty()) {
      return base;
    }
    try {
      TableChange change = prepared;
      if (change == null) {
        change = prepare();
        prepared = change;
      }
      return table.commit(change);
    } catch (CommitOutcomeUnknownException e) {
      // A version may name what was written, whatever the next attempt says.
      written.clear();
      isDone = false;
      throw e;
    } catch (RuntimeException e) {
      discard(written);
      throw e;
    }
  }

  /** Writes the patches. */
  private TableChange prepare() {
    boolean updates = byShard.values().stream().anyMatch(rows -> !rows.values.isEmpty());
    List<FieldSpec> fields = byShard.values().stream()
        .flatMap(rows -> rows.values.keySet().stream())
        .distinct()
        .toList();
    List<TableChange.Replacement> replacements = new ArrayList<>();
    byShard.forEach((ordinal, rows) -> {
      ShardSummary shard = base.shards().get(ordinal);
      replacements.add(TableChange.Replacement.ofRows(shard, patched(shard, rows)));
    });
    return TableChange.rows(
        base,
        updates ? TableChange.Kind.UPDATE : TableChange.Kind.DELETE,
        new RecordSchema(fields),
        replacements,
        properties);
  }

  /** Returns what takes the place of a shard. */
  private List<ShardSummary> patched(ShardSummary shard, Rows rows) {
    if (rows.deleted.size() == shard.length()) {
      return List.of();
    }
    TablesFile.requireWritable(storage, shard);
    PatchFile before = OpenShards.unshared(storage, shard).patch();
    if (before != null && (hasCompressed(before) || hasPromoted(before, rows))) {
      // A patch has values of one type of each field, and raw values if this release writes it.
      UUID rewritten = UUID.randomUUID();
      written.add("shard/" + rewritten);
      return patched(
          ShardCopy.copy(storage, base.schema(), shard, rewritten, WriteOptions.defaults())
              .get(0),
          rows);
    }
    RankedBitmap dead = before == null ? null : before.deleted();
    long[] deleted = rows.deleted.keySet().stream()
        .mapToLong(index -> dead == null ? index : dead.missing(index))
        .toArray();
    Map<FieldSpec, SortedMap<Long, byte @Nullable []>> changes = new HashMap<>();
    rows.values.forEach((spec, values) -> {
      SortedMap<Long, byte @Nullable []> bySlot = new TreeMap<>();
      values.forEach(
          (index, value) -> bySlot.put(dead == null ? index : dead.missing(index), value));
      changes.put(spec, bySlot);
    });
    UUID fileId = UUID.randomUUID();
    UUID chunkId = UUID.randomUUID();
    List<String> files = List.of(
        shard.directory() + "/" + fileId + ".patch",
        shard.directory() + "/" + ChunkFile.of(chunkId, 0).fileName());
    written.addAll(files);
    ShardSummary patched = new PatchWriter(
            storage, shard, before, fileId, chunkId, Durability.COMMIT)
        .write(deleted, changes);
    if (isWithinLimits(shard, patched, before)) {
      return List.of(patched);
    }
    UUID rewritten = UUID.randomUUID();
    written.add("shard/" + rewritten);
    List<ShardSummary> copied =
        ShardCopy.copy(storage, base.schema(), patched, rewritten, WriteOptions.defaults());
    discard(files);
    return copied;
  }

  private static boolean hasCompressed(PatchFile before) {
    return before.json().fields().keySet().stream()
        .anyMatch(id -> before.json().field(id).compression().codec() != Codec.RAW);
  }

  private static boolean hasPromoted(PatchFile before, Rows rows) {
    return rows.values.keySet().stream()
        .anyMatch(spec -> before.json().hasField(spec.id())
            && !before.json().field(spec.id()).type().equals(spec.type()));
  }

  private static boolean isWithinLimits(
      ShardSummary shard, ShardSummary patched, @Nullable PatchFile before) {
    int tablesChunks =
        shard.chunkCount() - (before == null ? 0 : before.json().chunks().size());
    return patched.patch() != null
        && patched.patch().bytes() <= PatchRef.MOST_BYTES
        && patched.chunkCount() - tablesChunks <= PatchRef.MOST_CHUNKS;
  }

  /** Deletes what no version names. */
  private void discard(List<String> names) {
    for (String name : names) {
      try {
        storage.delete(name);
      } catch (ZRecordException e) {
        LoggerFactory.getLogger(RowChange.class)
            .warn(
                "Cannot delete {}, which no version names: {}",
                storage.pathOf(name),
                e.getMessage());
      }
    }
  }
}
