package io.zrecord.internal.shard;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.fetch.FirstUse;
import io.zrecord.internal.shard.file.OpenChunk;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.AbsentField;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.FieldStatistics;
import io.zrecord.internal.shard.layout.FixedRuns;
import io.zrecord.internal.shard.layout.OpenField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.PatchSlots;
import io.zrecord.internal.shard.layout.PromotedField;
import io.zrecord.internal.shard.layout.VariableField;
import io.zrecord.read.ReadMetrics;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A sealed shard open for reading (FORMAT.md section 3): everything that readers needed of its
 * files so far. Files are opened at first use, and a failure is not remembered. Holds the verified
 * bits, so one object serves all readers of the process. Thread-safe.
 */
public final class OpenShard {
  private final Storage storage;
  private final ShardSummary shard;
  private final LongConsumer onKept;
  private final Map<FieldKey, FirstUse<OpenField>> fields = new ConcurrentHashMap<>();
  private final List<FirstUse<TablesFile>> tables = new ArrayList<>();
  private final AtomicReferenceArray<OpenChunk> chunks;
  private final FirstUse<PatchFile> patch = new FirstUse<>();

  /**
   * What a dataset says of a field. Each is compared with the tables: versions may differ in the
   * type.
   */
  private record FieldKey(int id, ElementType type, Shape shape) {}

  OpenShard(Storage storage, ShardSummary shard, LongConsumer onKept) {
    this.storage = storage;
    this.shard = shard.withoutSizes();
    this.onKept = onKept;
    shard.tables().forEach(ref -> tables.add(new FirstUse<>()));
    this.chunks = new AtomicReferenceArray<>(shard.chunks().size());
  }

  public UUID id() {
    return shard.id();
  }

  /** Tells whether opening a file takes a request. */
  public boolean isRemote() {
    return storage.isRemote();
  }

  /** Returns the number of records. */
  public long length() {
    return shard.length();
  }

  /** Returns the number of records that the tables have, deleted ones included. */
  public long slots() {
    return shard.slots();
  }

  /** Returns what was deleted and changed since the tables were written; null if nothing. */
  public @Nullable PatchFile patch() {
    PatchRef ref = shard.patch();
    if (ref == null) {
      return null;
    }
    return patch.get(() -> forgottenIfDamaged(() -> PatchFile.open(storage, shard, ref)));
  }

  /**
   * Reads the slots that the patch deletes, and those that its commit changed; empty if there is no
   * patch.
   */
  public Optional<PatchSlots> patchSlots() {
    return Optional.ofNullable(shard.patch())
        .map(ref -> forgottenIfDamaged(() -> PatchSlots.read(storage, shard, ref)));
  }

  /** Forgets this open shard and what is kept of its files, so that the next user reads them. */
  public void forget() {
    shard.chunks().forEach(file -> storage.forget(shard.fileOf(file), file.bytes()));
    shard.tables().forEach(file -> storage.forget(shard.fileOf(file), file.bytes()));
    PatchRef ref = shard.patch();
    if (ref != null) {
      storage.forget(shard.fileOf(ref), ref.bytes());
    }
    OpenShards.shared().drop(ShardId.of(storage, shard));
  }

  /** Returns the field with the id of {@code spec}; an absent field if the shard lacks it. */
  public OpenField field(FieldSpec spec) {
    FieldKey key = new FieldKey(spec.id(), spec.type(), spec.shape());
    return fields.computeIfAbsent(key, id -> new FirstUse<>()).get(() -> open(spec));
  }

  private OpenField open(FieldSpec spec) {
    TablesFile file = fileOf(spec.id());
    if (file == null) {
      return new AbsentField();
    }
    FieldTables field = file.json().field(spec.id());
    if (!Promotions.allows(field.type(), spec.type()) || !field.shape().equals(spec.shape())) {
      throw new CorruptDataException(
          file.path(),
          "Cannot read " + file.path() + ": field " + spec.id() + " is " + field.type()
              + field.shape() + " here, but the dataset says " + spec.type() + spec.shape());
    }
    if (!field.type().widthBytes().equals(spec.type().widthBytes())) {
      return new PromotedField(field);
    }
    Binding binding = new Binding(shard.id(), spec.id());
    int width = spec.valueWidthBytes().orElse(-1);
    List<RunRecord> runs = file.runs(field, width, binding);
    try {
      return switch (runs.get(0).kind()) {
        case FIXED -> FixedRuns.open(file, field, width, binding, runs);
        case VARIABLE -> VariableField.open(file, field, binding, runs);
        case BLOCK -> BlockField.open(file, field, binding, runs);
        case ENTRY -> EntryField.open(file, field, binding);
      };
    } catch (ArithmeticException e) {
      throw new CorruptDataException(
          file.path(),
          "Cannot read " + file.path() + ": field " + spec.id() + " has " + shard.slots()
              + " values, more than a reader can keep account of",
          e);
    }
  }

  /** Returns what the tables say of a field; empty if the shard lacks the field. */
  public Optional<FieldTables> tablesOf(int fieldId) {
    TablesFile file = fileOf(fieldId);
    return file == null ? Optional.empty() : Optional.of(file.json().field(fieldId));
  }

  /**
   * Returns what the values of a field in blocks of slots are, without the patch; empty if the
   * shard does not say.
   */
  public List<StatisticsRecord> statistics(int fieldId) {
    TablesFile file = fileOf(fieldId);
    return file == null ? List.of() : FieldStatistics.read(file, file.json().field(fieldId));
  }

  /** Tells whether the values of a field have checksums. An absent field has no value without. */
  public boolean hasChecksums(int fieldId) {
    TablesFile file = fileOf(fieldId);
    return file == null || file.json().hasChecksums();
  }

  private @Nullable TablesFile fileOf(int fieldId) {
    for (int i = 0; i < tables.size(); i++) {
      if (shard.tables().get(i).hasField(fieldId)) {
        return tables(i);
      }
    }
    return null;
  }

  /**
   * Visits what tables files have of fields that readers do not find in them: fields that were
   * dropped, and fields that were written again into another file. A field that this release cannot
   * read is passed over.
   *
   * @param areFields tells of an id whether the dataset has the field
   */
  void visitUnused(IntPredicate areFields, BiConsumer<TablesFile, FieldTables> visitor) {
    for (int i = 0; i < shard.tables().size(); i++) {
      TablesRef ref = shard.tables().get(i);
      TablesFile file = tables(i);
      for (int id : file.json().fieldIds()) {
        if (!(ref.hasField(id) && areFields.test(id)) && file.json().isReadable(id)) {
          visitor.accept(file, file.json().field(id));
        }
      }
    }
  }

  private TablesFile tables(int ordinal) {
    return tables
        .get(ordinal)
        .get(() -> forgottenIfDamaged(
            () -> TablesFile.open(storage, shard, shard.tables().get(ordinal), onKept)));
  }

  /** Opens a file. After damage the next user asks for the file again, and no cache for it. */
  private <T> T forgottenIfDamaged(Supplier<T> opening) {
    try {
      return opening.get();
    } catch (CorruptDataException e) {
      forget();
      throw e;
    }
  }

  /** Returns the full path of the shard's directory. */
  public String path() {
    return storage.pathOf(shard.directory());
  }

  /** Returns the full path of a chunk file of the shard. */
  public String pathOf(ChunkFile chunk) {
    return storage.pathOf(shard.fileOf(chunk));
  }

  public List<ChunkFile> chunks() {
    return shard.chunks();
  }

  public OpenChunk chunk(int ordinal, ReadMetrics metrics) {
    OpenChunk chunk = chunks.getAcquire(ordinal);
    if (chunk == null) {
      metrics.chunksOpened.increment();
      OpenChunk opened = OpenChunk.open(storage, shard, shard.chunks().get(ordinal), onKept);
      chunk = chunks.compareAndSet(ordinal, null, opened) ? opened : chunks.getAcquire(ordinal);
    }
    return chunk;
  }

  /**
   * Looks for a file that was cut while it was mapped.
   *
   * @throws TruncatedFileException if there is such a file
   */
  public void requireWholeFiles(InternalError error) {
    for (ChunkFile chunk : shard.chunks()) {
      requireWhole(shard.fileOf(chunk), chunk.bytes(), error);
    }
    for (TablesRef file : shard.tables()) {
      requireWhole(shard.fileOf(file), file.bytes(), error);
    }
  }

  private void requireWhole(String name, long bytes, InternalError error) {
    if (storage.exists(name) && storage.lengthBytes(name) < bytes) {
      throw new TruncatedFileException(
          storage.pathOf(name),
          "Cannot read " + storage.pathOf(name) + ": it was cut while it was read, to fewer than "
              + bytes + " bytes. Restore it from a copy",
          error);
    }
  }
}
