package io.zrecord.internal.store.rewrite;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.shard.file.FileIds;
import io.zrecord.internal.shard.write.TablesWriter;
import io.zrecord.internal.store.Journal;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Makes a sealed shard of one committed state of a store while a writer continues. Chunks only
 * grow, so they get a second name in the shard.
 */
public final class SealedCopy {
  /**
   * Time for attempts. A checkpoint during the copy empties the journal; the next checkpoint is
   * {@code checkpointBytes} of journal away, 64 MiB unless the store says otherwise.
   */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final int COPY_BYTES = 1 << 20;

  private final LocalMutableFiles store;
  private final LocalMutableFiles target;
  private final Storage table;
  private final CommittedState state;

  /**
   * The shard made.
   *
   * @param schema the fields of the store
   * @param shard the shard's summary for a manifest; empty if there are no records
   */
  public record Result(RecordSchema schema, Optional<ShardSummary> shard) {}

  private SealedCopy(
      LocalMutableFiles store, LocalMutableFiles target, Storage table, CommittedState state) {
    this.store = store;
    this.target = target;
    this.table = table;
    this.state = state;
  }

  /**
   * Makes the shard.
   *
   * @param store root of the store
   * @param table root of the shard's table, in which the shard's directory is made
   * @param durable whether the shard's files must survive power loss
   * @param lastCheck throws if a shard that could not be finished may be another's by now
   * @throws io.zrecord.errors.DatasetExistsException if another process is making such a shard
   *     there, or one was left over
   */
  public static Result write(Path store, Path table, boolean durable, Runnable lastCheck) {
    long start = System.nanoTime();
    for (int attempts = 1; ; attempts++) {
      Optional<Result> result = tryWrite(store, table, durable, lastCheck);
      if (result.isPresent()) {
        return result.get();
      }
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new StorageException(
            store.toString(),
            "Cannot take a snapshot of " + store + ": it was checkpointed during each of "
                + attempts + " attempts. Write less, or with a larger checkpointBytes");
      }
    }
  }

  /**
   * Makes the shard, or nothing if the store was disturbed. Leaves no directory without a shard.
   */
  private static Optional<Result> tryWrite(
      Path store, Path table, boolean durable, Runnable lastCheck) {
    LocalMutableFiles root = new LocalMutableFiles(table);
    UUID storeId = StoreMetaFile.read(new LocalMutableFiles(store)).shard().id();
    String directory = "shard/" + storeId;
    root.createDirectory(directory);
    Optional<Result> result;
    try {
      result = tryWrite(store, table, root.below(directory), durable);
      if (durable) {
        root.forceDirectory("shard");
        root.forceDirectory("");
      }
    } catch (RuntimeException | Error e) {
      Closing.after(e, () -> root.delete(List.of(directory), lastCheck));
      throw e;
    }
    if (result.flatMap(Result::shard).isEmpty()) {
      root.delete(List.of(directory), lastCheck);
    }
    return result;
  }

  private static Optional<Result> tryWrite(
      Path store, Path table, LocalMutableFiles target, boolean durable) {
    CommittedState state = new CommittedState(store, target);
    try {
      Optional<ShardSummary> summary = new SealedCopy(
              new LocalMutableFiles(store), target, LocalStorage.at(table), state)
          .write(durable);
      return state.isOfOneCheckpoint()
          ? Optional.of(new Result(schema(state), summary))
          : Optional.empty();
    } catch (ZRecordException e) {
      // If the journal was emptied or a writer came meanwhile, anything may have been read.
      if (state.isUndisturbed(e)) {
        throw e;
      }
      return Optional.empty();
    }
  }

  private static RecordSchema schema(CommittedState state) {
    return new RecordSchema(
        state.meta().shard().fields().stream().map(FieldMeta::spec).toList());
  }

  /** Writes the shard, unless there are no records. */
  private Optional<ShardSummary> write(boolean durable) {
    try (state) {
      state.copyTables();
      return state.length() == 0 ? Optional.empty() : Optional.of(seal(durable));
    }
  }

  private ShardSummary seal(boolean durable) {
    UUID storeId = state.meta().shard().id();
    List<ChunkFile> files = link(durable);
    Set<Integer> chunkIds = new TreeSet<>(Integer::compareUnsigned);
    state.chunks().forEach(chunk -> chunkIds.add(chunk.id()));
    List<FieldMeta> fields = state.fields();
    SortedMap<Integer, Long> valueBytes = new TreeMap<>();
    TablesRef ref;
    try (TablesWriter writer = new TablesWriter(
        table, "shard/" + storeId, storeId, FileIds.tables(storeId), state.length(), true)) {
      for (int i = 0; i < fields.size(); i++) {
        FieldMeta field = fields.get(i);
        TablesWriter.Amount amount =
            new TablesWriter.Amount(field.absentCount(), field.valueBytes());
        StoreEntries source = new StoreEntries(state.tables().get(i), chunkIds);
        writer.entries(field.spec(), amount, source.entries(), source.checksums());
        valueBytes.put(field.spec().id(), amount.valueBytes());
      }
      ref = writer.seal(files, durable ? Durability.COMMIT : Durability.NONE);
    }
    if (durable) {
      target.forceDirectory("");
    }
    return new ShardSummary(storeId, state.length(), files, List.of(ref), valueBytes);
  }

  /** Gives each chunk a second name in the shard, or copies the chunk if it lacks bytes. */
  private List<ChunkFile> link(boolean durable) {
    List<ChunkFile> linked = new ArrayList<>();
    for (ChunkMeta chunk : state.chunks()) {
      ChunkFile file = new ChunkFile(
          FileIds.chunk(state.meta().shard().id(), linked.size()),
          chunk.endBytes(),
          Integer.toUnsignedLong(chunk.id()),
          chunk.recordCount());
      List<JournalChunk> missing = state.carried(chunk);
      if (missing.isEmpty()) {
        store.link(chunk.fileName(), target, file.fileName());
      } else {
        copy(chunk, missing, file.fileName());
      }
      if (durable) {
        // The store itself may not have forced the file.
        try (MutableFile opened = target.open(file.fileName(), true)) {
          opened.force();
        }
      }
      linked.add(file);
    }
    return linked;
  }

  /** Copies a chunk, with the bytes that only the journal has. The store's file is not changed. */
  private void copy(ChunkMeta chunk, List<JournalChunk> missing, String name) {
    ByteBuffer piece = ByteBuffer.allocate(COPY_BYTES);
    try (MutableFile from = store.open(chunk.fileName(), false);
        MutableFile to = target.create(name)) {
      long at = 0;
      while (at < chunk.endBytes()) {
        int wanted = (int) Math.min(COPY_BYTES, chunk.endBytes() - at);
        int read = from.read(at, piece.clear().limit(wanted));
        if (read == 0) {
          break; // What follows is carried, or the reader of the table finds the file too short.
        }
        to.write(at, piece.flip());
        at += read;
      }
      for (JournalChunk carrying : missing) {
        if (carrying.carriedFrom() > at) {
          String path = store.pathOf(Journal.FILE_NAME);
          throw new CorruptDataException(
              path, "Cannot read " + path + ": " + carrying.gapAfter(at));
        }
        to.write(carrying.carriedFrom(), carrying.carried());
        at = Math.max(at, carrying.meta().endBytes());
      }
    }
  }
}
