package io.zrecord.table;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.internal.format.PatchField;
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
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes deletions and new values of records of one shard, for {@link MergeChange} to commit, here
 * or in another process. New values go to a file by 64 KiB. A deletion takes some 2 bytes of
 * memory, and a value 24, and several times as much while the change is finished.
 *
 * <pre>{@code
 * try (ShardChangeWriter writer =
 *     ShardChangeWriter.open(storage, ChangeBase.of(version), shard, Set.of("label"))) {
 *   writer.update(3, "label", 7);
 *   writer.delete(4);
 *   send(writer.finish());
 * }
 * }</pre>
 *
 * <p>Closing a writer that has not finished deletes what was written. A writer that has finished,
 * was closed, or could not write a value throws {@link IllegalStateException}. Belongs to one
 * thread.
 */
public final class ShardChangeWriter implements AutoCloseable {
  private final Storage storage;
  private final ChangeBase version;
  private final ShardSummary shard;
  private final Set<String> fields;
  private final SortedSet<Integer> fieldIds = new TreeSet<>();
  private final List<String> files = new ArrayList<>();
  private final @Nullable PatchFile found;
  private final @Nullable RankedBitmap dead;
  private final PatchWriter patch;
  private final Map<String, Values> byName = new HashMap<>();

  private boolean isFinished;

  private ShardChangeWriter(
      Storage storage, ChangeBase version, ShardSummary shard, Set<String> fields) {
    this.storage = storage;
    this.version = version;
    this.shard = shard;
    this.fields = Set.copyOf(fields);
    TablesFile.requireWritable(storage, shard);
    this.found = OpenShards.unshared(storage, shard).patch();
    this.dead = found == null ? null : found.deleted();
    UUID fileId = UUID.randomUUID();
    UUID chunkId = UUID.randomUUID();
    files.add(shard.directory() + "/" + fileId + ".patch");
    files.add(shard.directory() + "/" + ChunkFile.of(chunkId, 0).fileName());
    this.patch = new PatchWriter(storage, shard, found, fileId, chunkId, Durability.COMMIT);
  }

  /**
   * Begins a change of a shard.
   *
   * @param version the version that has the shard
   * @param shard a shard of that version
   * @param fields the fields that may get values
   * @throws io.zrecord.errors.UnsupportedFormatException if the shard uses an unknown feature
   */
  public static ShardChangeWriter open(
      Storage storage, ChangeBase version, ShardSummary shard, Set<String> fields) {
    return new ShardChangeWriter(storage, version, shard, fields);
  }

  /**
   * Deletes a record. Values given for the record before are dropped.
   *
   * @param index of the record in the shard, within {@code [0, length)}, whatever was deleted
   *     before by this writer
   * @throws IndexOutOfBoundsException if there is no such record
   */
  public void delete(long index) {
    requireOpen();
    patch.delete(slotOf(index));
  }

  /**
   * Gives a value of a record. A value given before is replaced.
   *
   * @param index as for {@link #delete}
   * @param value as {@link io.zrecord.RecordDatasetWriter} takes it, or the bytes; null if the
   *     value is absent from now on
   * @throws IndexOutOfBoundsException if there is no such record
   * @throws IllegalArgumentException if the writer was not opened for the field, the value does not
   *     fit the field, or the record is deleted by this writer
   * @throws SchemaMismatchException if the table is partitioned by the field
   * @throws io.zrecord.errors.ValueTooLargeException if the length of the value does not fit
   */
  public void update(long index, String field, @Nullable Object value) {
    Values values = values(field);
    byte[] bytes = bytes(values.spec, value, index);
    if (bytes == null) {
      values.putAbsent(index);
    } else {
      values.put(index, bytes, 0, bytes.length);
    }
  }

  /**
   * Returns what takes values of a field, for many values. Belongs to the thread of this writer,
   * and ends with it.
   *
   * @throws IllegalArgumentException if the writer was not opened for the field
   * @throws SchemaMismatchException if the table is partitioned by the field
   */
  public Values values(String field) {
    return byName.computeIfAbsent(
        field, name -> new Values(field(storage.location(), version, name)));
  }

  /** Takes values of a field as bytes. */
  public final class Values {
    private final FieldSpec spec;
    private final PatchWriter.FieldValues patched;
    private boolean isUsed;

    private Values(FieldSpec spec) {
      if (!fields.contains(spec.name())) {
        throw new IllegalArgumentException("Cannot update field '" + spec.name() + "': the change"
            + " was begun for " + fields + "; name every field that may get values");
      }
      this.spec = spec;
      this.patched = patch.values(spec);
    }

    /**
     * Gives a value of a record. A value given before is replaced.
     *
     * @param index as for {@link ShardChangeWriter#delete}
     * @param source has the bytes as they are stored, little-endian, which are copied
     * @throws IndexOutOfBoundsException if there is no such record
     * @throws IllegalArgumentException if the bytes are no value of the field, or the record is
     *     deleted by this writer
     * @throws io.zrecord.errors.ValueTooLargeException if the length of the value does not fit
     */
    public void put(long index, byte[] source, int offset, int lengthBytes) {
      ValueBytes.require(spec, source, offset, lengthBytes);
      patched.put(use(index), source, offset, lengthBytes);
    }

    /**
     * Lets the value of a record be absent.
     *
     * @param index as for {@link ShardChangeWriter#delete}
     * @throws IndexOutOfBoundsException if there is no such record
     * @throws IllegalArgumentException if values of the field are never absent, or the record is
     *     deleted by this writer
     */
    public void putAbsent(long index) {
      requireMayBeAbsent(spec, index);
      patched.putAbsent(use(index));
    }

    /** Returns the slot of a record that gets a value. */
    private long use(long index) {
      requireOpen();
      long slot = slotOf(index);
      if (patch.deletes(slot)) {
        throw new IllegalArgumentException(
            "Cannot update record " + index + " of the shard: the same change deletes it");
      }
      if (!isUsed) {
        isUsed = true;
        fieldIds.add(spec.id());
      }
      return slot;
    }
  }

  /** Returns a field whose values may be changed. */
  static FieldSpec field(String location, ChangeBase version, String field) {
    RecordSchema schema = version.schema();
    schema.requireReadable(location, field);
    FieldSpec spec = schema.fields().get(schema.ordinal(field));
    if (version.partitions().contains(spec.id())) {
      throw new SchemaMismatchException(
          location,
          "Cannot update field '" + field + "' of " + location
              + ": the table is partitioned by it; delete the record, and append it to its"
              + " partition");
    }
    return spec;
  }

  /** Returns the bytes of a new value of a record; null if it is absent. */
  static byte @Nullable [] bytes(FieldSpec spec, @Nullable Object value, long index) {
    if (value == null) {
      requireMayBeAbsent(spec, index);
      return null;
    }
    return ValueBytes.of(spec, value);
  }

  private static void requireMayBeAbsent(FieldSpec spec, long index) {
    if (!spec.rules().isNullable()) {
      throw new IllegalArgumentException(
          "Field '" + spec.name() + "' is never absent; give record " + index + " a value");
    }
  }

  private void requireOpen() {
    if (isFinished) {
      throw new IllegalStateException(
          "The change of shard " + shard.id() + " was finished or given up; open another writer");
    }
  }

  /**
   * Returns the number that a record has in the shard for as long as the shard is there, whatever
   * is deleted: its slot.
   *
   * @param index as for {@link #delete}
   * @throws IndexOutOfBoundsException if there is no such record
   */
  public long slotOf(long index) {
    Objects.checkIndex(index, shard.length());
    return dead == null ? index : dead.missing(index);
  }

  /**
   * Ends the change. If the patch would exceed {@link PatchRef#MOST_BYTES} or
   * {@link PatchRef#MOST_CHUNKS}, fields leave the patch, and all their values go to a tables file,
   * one batch at a time. So do fields with changed values to which the new ones cannot be added.
   * After a failure nothing of the change is left.
   *
   * @throws io.zrecord.errors.StorageException if a file cannot be read or written
   * @throws io.zrecord.errors.CorruptDataException if a file of the shard is damaged
   */
  public ShardChange finish() {
    requireOpen();
    ShardSummary base = shard;
    ShardSummary patched;
    ShardSummary rewritten;
    try {
      PatchFile before = found;
      Set<Integer> other = found == null ? Set.of() : fieldsThatTakeNoMore(found);
      if (!other.isEmpty()) {
        base = new PatchToTables(storage, version.schema(), files).moveEarlier(shard, other);
        before = OpenShards.unshared(storage, base).patch();
        patch.on(base, before);
      }
      patched = patch.finish();
      rewritten = patched.length() > 0 && !isWithinLimits(base, before, patched)
          ? new ShardRewrite(storage, version.schema(), files).of(patched)
          : null;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
    isFinished = true;
    return new ShardChange(
        version.commitId(), shard, base, patched, rewritten, patch.deletedCount(), fieldIds, files);
  }

  /** Gives the change up, unless it has ended. */
  @Override
  public void close() {
    if (!isFinished) {
      isFinished = true;
      patch.close();
      UnnamedFiles.discard(storage, files);
    }
  }

  /**
   * Returns the fields with new values that cannot be added to those of the patch: a patch has
   * values of one type and one codec of each field, and this writer gives raw values of the type
   * that the field has now.
   */
  private Set<Integer> fieldsThatTakeNoMore(PatchFile of) {
    Set<Integer> other = new HashSet<>();
    for (FieldSpec spec : version.schema().fields()) {
      if (fieldIds.contains(spec.id()) && of.json().hasField(spec.id())) {
        PatchField stored = of.json().field(spec.id());
        if (stored.compression().codec() != Codec.RAW || !stored.type().equals(spec.type())) {
          other.add(spec.id());
        }
      }
    }
    return other;
  }

  /**
   * Tells whether a patch is as small as patches must be.
   *
   * @param shard the shard before
   * @param before its patch; null if it had none
   */
  static boolean isWithinLimits(
      ShardSummary shard, @Nullable PatchFile before, ShardSummary patched) {
    int tablesChunks =
        shard.chunkCount() - (before == null ? 0 : before.json().chunks().size());
    PatchRef patch = Objects.requireNonNull(patched.patch());
    return patch.bytes() <= PatchRef.MOST_BYTES
        && patched.chunkCount() - tablesChunks <= PatchRef.MOST_CHUNKS;
  }
}
