package io.zrecord.internal.store.rewrite;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.shard.file.FileIds;
import io.zrecord.internal.shard.write.TablesWriter;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.Journal;
import io.zrecord.internal.store.LiveState;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Makes a sealed shard of one committed state of a store while a writer continues. Chunks only
 * grow, so they get a second name in the shard. Tables are changed in place, so they are copied in
 * whatever state they are. Then the copy receives all changes in the journal since the checkpoint,
 * up to a record that was committed when the copy was done. This overwrites every later or partial
 * change that the copy contains, because the journal has every change before the tables do.
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
  private final StoreMeta meta;
  private final Map<Integer, ChunkMeta> chunks = new TreeMap<>(Integer::compareUnsigned);
  /** What the journal carries and chunks lack, by chunk. */
  private final Map<Integer, List<JournalChunk>> carried = new HashMap<>();

  private long length;

  /** Whether there was a writer when the journal was read. */
  private boolean hasWriter;

  /**
   * The shard made.
   *
   * @param schema the fields of the store
   * @param shard the shard's summary for a manifest; empty if there are no records
   */
  public record Result(RecordSchema schema, Optional<ShardSummary> shard) {}

  private SealedCopy(
      LocalMutableFiles store, LocalMutableFiles target, Storage table, StoreMeta meta) {
    this.store = store;
    this.target = target;
    this.table = table;
    this.meta = meta;
    this.length = meta.shard().length();
    meta.shard().chunks().forEach(chunk -> chunks.put(chunk.id(), chunk));
    meta.unfull().forEach(chunk -> chunks.put(chunk.id(), chunk));
  }

  /**
   * Makes the shard.
   *
   * @param store root of the store
   * @param table root of the shard's table, in which the shard's directory is made
   * @param durable whether the shard's files must survive power loss
   * @throws io.zrecord.errors.DatasetExistsException if another process is making such a shard
   *     there, or one was left over
   */
  public static Result write(Path store, Path table, boolean durable) {
    LocalMutableFiles files = new LocalMutableFiles(store);
    long start = System.nanoTime();
    for (int attempts = 1; ; attempts++) {
      StoreMeta meta = readMeta(files);
      String directory = "shard/" + meta.shard().id();
      LocalMutableFiles root = new LocalMutableFiles(table);
      root.createDirectory(directory);
      boolean isDone = false;
      SealedCopy copy = new SealedCopy(files, root.below(directory), LocalStorage.at(table), meta);
      try {
        Optional<ShardSummary> summary = copy.write(store, durable);
        if (durable) {
          root.forceDirectory("shard");
          root.forceDirectory("");
        }
        if (copy.isOfOneCheckpoint()) {
          isDone = summary.isPresent();
          return new Result(copy.schema(), summary);
        }
      } catch (ZRecordException e) {
        // If the journal was emptied or a writer came meanwhile, anything may have been read.
        if (copy.isOfOneCheckpoint() && copy.hasWriter == hasWriter(store)) {
          throw e;
        }
      } finally {
        if (!isDone) {
          root.delete(directory);
        }
      }
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new StorageException(
            store.toString(),
            "Cannot take a snapshot of " + store + ": it was checkpointed during each of "
                + attempts + " attempts. Write less, or with a larger checkpointBytes");
      }
    }
  }

  private RecordSchema schema() {
    return new RecordSchema(meta.shard().fields().stream().map(FieldMeta::spec).toList());
  }

  private static StoreMeta readMeta(LocalMutableFiles files) {
    return StoreMeta.read(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
  }

  private boolean isOfOneCheckpoint() {
    return readMeta(store).sequence() == meta.sequence();
  }

  /** Writes the shard, unless there are no records. */
  private Optional<ShardSummary> write(Path storePath, boolean durable) {
    List<EntryTable> tables = new ArrayList<>();
    try {
      long published = Math.max(length, publishedLength());
      for (FieldMeta field : meta.shard().fields()) {
        tables.add(EntryTable.copy(store, target, field.stem(), published));
      }
      boolean isChanged = replay(storePath, tables);
      tables.forEach(table -> table.requireCapacity(length));
      return length == 0 ? Optional.empty() : Optional.of(seal(tables, isChanged, durable));
    } finally {
      tables.forEach(EntryTable::close);
      meta.shard().fields().forEach(field -> EntryTable.delete(target, field.stem()));
    }
  }

  /** Returns an estimate of the length, which saves replaying. The journal decides. */
  private long publishedLength() {
    long capacity = Long.MAX_VALUE;
    for (FieldMeta field : meta.shard().fields()) {
      try (EntryTable table = EntryTable.open(store, field.stem(), false)) {
        capacity = Math.min(capacity, table.capacity());
      }
    }
    return meta.shard().fields().isEmpty() || !store.exists(LiveState.FILE_NAME)
        ? 0
        : Math.min(capacity, LiveState.open(store, meta.shard().id()).length());
  }

  private static boolean hasWriter(Path storePath) {
    return ProcessLock.writer(storePath) == ProcessLock.Writer.READY;
  }

  private boolean replay(Path storePath, List<EntryTable> tables) {
    hasWriter = hasWriter(storePath);
    // After the copy: every change in the copy is committed by now, or is in no record up to this
    // one.
    long needed = hasWriter || store.exists(LiveState.FILE_NAME)
        ? LiveState.open(store, meta.shard().id()).sequence()
        : meta.sequence();
    try (Journal journal = Journal.open(store, meta.shard().id(), meta.sequence(), false)) {
      Journal.Visitor visitor = new Journal.Visitor() {
        @Override
        public void chunk(JournalChunk chunk) {
          chunks.put(chunk.meta().id(), chunk.meta());
          if (!isWritten(chunk)) {
            carried.computeIfAbsent(chunk.meta().id(), id -> new ArrayList<>()).add(chunk);
          }
        }

        @Override
        public void entry(long index, int field, long word0, long word1, int checksum) {
          tables.get(field).ensureCapacity(index + 1);
          tables.get(field).put(index, word0, word1, checksum);
        }

        @Override
        public void endRecord(long newLength) {
          length = newLength;
        }
      };
      if (hasWriter) {
        journal.replayUpTo(needed, journal.fileBytes(), tables.size(), length, visitor);
      } else {
        journal.replay(tables.size(), length, visitor);
      }
      if (journal.sequence() < needed) {
        throw damaged(journal.sequence() + 1, needed);
      }
      return journal.sequence() > meta.sequence();
    }
  }

  private CorruptDataException damaged(long sequence, long needed) {
    String path = store.pathOf(Journal.FILE_NAME);
    return new CorruptDataException(
        path,
        "Cannot read " + path + ": record " + sequence + " of " + needed + " is damaged. "
            + (hasWriter
                ? "Close the store, or checkpoint it, which does without the journal"
                : "Restore the store from a copy, or repair it"));
  }

  /**
   * Tells whether a chunk has the bytes that the journal carries. A writer writes them to the chunk
   * before the journal, and when it recovers the store. So they are missing only if power was lost
   * since.
   */
  private boolean isWritten(JournalChunk chunk) {
    ByteBuffer expected = chunk.carried();
    if (hasWriter || !expected.hasRemaining()) {
      return true;
    }
    ByteBuffer found = ByteBuffer.allocate(expected.remaining());
    try (MutableFile file = store.open(chunk.meta().fileName(), false)) {
      file.read(chunk.carriedFrom(), found);
    }
    return found.flip().equals(expected);
  }

  private ShardSummary seal(List<EntryTable> tables, boolean isChanged, boolean durable) {
    List<ChunkFile> files = link(durable);
    SortedMap<Integer, Long> valueBytes = new TreeMap<>();
    TablesRef ref;
    try (TablesWriter writer = new TablesWriter(
        table,
        "shard/" + meta.shard().id(),
        meta.shard().id(),
        FileIds.tables(meta.shard().id()),
        length,
        true)) {
      for (int i = 0; i < tables.size(); i++) {
        EntryTable entries = tables.get(i);
        FieldMeta field = meta.shard().fields().get(i);
        TablesWriter.Amount amount = isChanged
            ? new TablesWriter.Amount(entries.absentCount(length), entries.valueBytes(length))
            : new TablesWriter.Amount(field.absentCount(), field.valueBytes());
        StoreEntries source = new StoreEntries(entries, chunks.keySet());
        writer.entries(field.spec(), amount, source.entries(), source.checksums());
        valueBytes.put(field.spec().id(), amount.valueBytes());
      }
      ref = writer.seal(files, durable ? Durability.COMMIT : Durability.NONE);
    }
    if (durable) {
      target.forceDirectory("");
    }
    return new ShardSummary(meta.shard().id(), length, files, List.of(ref), valueBytes);
  }

  /** Gives each chunk a second name in the shard, or copies the chunk if it lacks bytes. */
  private List<ChunkFile> link(boolean durable) {
    List<ChunkFile> linked = new ArrayList<>();
    for (ChunkMeta chunk : chunks.values()) {
      ChunkFile file = new ChunkFile(
          FileIds.chunk(meta.shard().id(), linked.size()),
          chunk.endBytes(),
          Integer.toUnsignedLong(chunk.id()),
          chunk.recordCount());
      List<JournalChunk> missing = carried.get(chunk.id());
      if (missing == null) {
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
