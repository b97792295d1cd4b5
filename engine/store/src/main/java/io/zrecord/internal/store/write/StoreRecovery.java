package io.zrecord.internal.store.write;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.FileErrors;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.ClosedStore;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.Journal;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreLeftovers;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.WriterBefore;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.schema.FileStems;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.slf4j.LoggerFactory;

/**
 * Creates stores and opens stores for writing. Opening adds the journal's changes that the tables
 * may lack, and starts a new journal. Opening can be cut short and repeated at any moment. Used by
 * one thread, once.
 */
public final class StoreRecovery {
  /** Open files of a writer besides two for each field: chunks, journal, lock and what is read. */
  private static final int OTHER_OPEN_FILES = 64;

  private final StoreFiles store;
  private final boolean acceptsLoss;
  private final Map<Integer, ChunkMeta> unfull = new TreeMap<>(Integer::compareUnsigned);
  private long length;

  private StoreRecovery(StoreFiles store, StoreMeta meta, boolean acceptsLoss) {
    this.store = store;
    this.acceptsLoss = acceptsLoss;
    this.length = meta.shard().length();
    store.chunks().addClosed(meta.shard().chunks());
    meta.unfull().forEach(chunk -> unfull.put(chunk.id(), chunk));
  }

  /** Creates an empty store. The meta file comes last: without a meta file there is no store. */
  public static StoreWriter create(
      MutableFiles files, UUID storeId, RecordSchema schema, StoreLimits limits) {
    WriterToken writer = WriterToken.take(files);
    List<String> stems = FileStems.of(schema.fields());
    List<AutoCloseable> opened = new ArrayList<>();
    boolean isCreated = false;
    try {
      EntryTable[] tables = new EntryTable[stems.size()];
      List<FieldMeta> fields = new ArrayList<>();
      for (int i = 0; i < tables.length; i++) {
        tables[i] = EntryTable.create(files, stems.get(i));
        opened.add(tables[i]);
        fields.add(new FieldMeta(schema.fields().get(i), stems.get(i), 0, 0));
      }
      Journal journal = Journal.create(files, storeId);
      opened.add(journal);
      StoreMeta meta = new StoreMeta(
          new ShardMeta(storeId, 0, true, limits.chunkBytes(), List.of(), fields),
          List.of(),
          limits.chunkRecords(),
          0);
      files.forceDirectory("");
      LiveState live = LiveState.create(files, storeId, writer);
      StoreFiles store =
          new StoreFiles(files, limits, meta, tables, journal, live, writer, WriterBefore.CLOSED);
      opened.add(store.chunks());
      files.replace(ShardMeta.FILE_NAME, meta.write(), writer::require);
      store.endRecovery(0);
      isCreated = true;
      return new StoreWriter(store, limits, new StoreWriter.Recovery(0, 0));
    } catch (FileUnavailableException e) {
      throw withNeed(files, stems.size(), e);
    } finally {
      if (!isCreated) {
        Closing.all(opened);
        removeCreated(files, stems, writer);
      }
    }
  }

  /**
   * Removes what a failed creation made, so that the directory can be used again. What a writer
   * made that has come since stays.
   */
  private static void removeCreated(MutableFiles files, List<String> stems, WriterToken writer) {
    try {
      // If the meta file is there, so is the store: the failure came after it.
      if (!files.exists(ShardMeta.FILE_NAME)) {
        List<String> names = new ArrayList<>(List.of(Journal.FILE_NAME, LiveState.FILE_NAME));
        stems.forEach(stem -> names.addAll(EntryTable.fileNames(stem)));
        files.delete(names, writer::require);
        writer.release();
      }
    } catch (RuntimeException e) {
      LoggerFactory.getLogger(StoreRecovery.class)
          .warn(
              "Files of a store that could not be created stay in {}: {}",
              files.location(),
              e.getMessage());
    }
  }

  /** Returns the failure, with the number of open files that the store needs if that is why. */
  private static FileUnavailableException withNeed(
      MutableFiles files, int fieldCount, FileUnavailableException e) {
    if (!String.valueOf(e.getMessage()).contains(FileErrors.TOO_MANY_OPEN)) {
      return e;
    }
    return new FileUnavailableException(
        files.location(),
        "Cannot open " + files.location() + ": " + e.getMessage() + ". A store has two files open"
            + " for each field, and some more: these " + fieldCount + " fields need about "
            + (2L * fieldCount + OTHER_OPEN_FILES),
        e);
  }

  /**
   * Opens a store and recovers the commits of its last writer.
   *
   * @throws CorruptDataException if a file is damaged
   */
  public static StoreWriter open(MutableFiles files, StoreLimits limits) {
    StoreMetaFile.requireStore(files);
    WriterToken writer = WriterToken.take(files);
    StoreMetaFile.requireStillStore(files, writer);
    StoreMeta meta = StoreMetaFile.read(files);
    WriterBefore before = LiveState.writerBefore(files, meta.shard().id(), writer);
    return open(files, limits, false, writer, before);
  }

  /**
   * Opens a repaired store, in which commits that were safe may be lost.
   *
   * @param writer of the repair; closing the store releases it
   * @param before what was known before the repair began
   */
  public static StoreWriter openRepaired(
      MutableFiles files, StoreLimits limits, WriterToken writer, WriterBefore before) {
    return open(files, limits, true, writer, before);
  }

  private static StoreWriter open(
      MutableFiles files,
      StoreLimits limits,
      boolean acceptsLoss,
      WriterToken writer,
      WriterBefore before) {
    StoreMeta meta = StoreMetaFile.read(files);
    List<AutoCloseable> opened = new ArrayList<>();
    TableCopies copies = new TableCopies(files, writer);
    LiveState live = null;
    boolean isOpen = false;
    try {
      List<FieldMeta> fields = meta.shard().fields();
      EntryTable[] tables = new EntryTable[fields.size()];
      for (int i = 0; i < tables.length; i++) {
        tables[i] = EntryTable.open(files, fields.get(i).stem(), true);
        opened.add(tables[i]);
        tables[i].requireCapacity(meta.shard().length());
      }
      if (before.mayWrite()) {
        Journal.detach(files, writer);
      }
      Journal journal = Journal.open(files, meta.shard().id(), meta.sequence(), true);
      opened.add(journal);
      if (!acceptsLoss) {
        requireOneMoment(files, meta, journal, writer);
      }
      live = LiveState.beginRecovery(files, meta.shard().id(), writer, before);
      if (before == WriterBefore.LEFT_INSIDE) {
        meta = copies.replace(meta, tables, opened);
      }
      StoreFiles store = new StoreFiles(files, limits, meta, tables, journal, live, writer, before);
      opened.add(store.chunks());
      StoreWriter.Recovery recovery =
          new StoreRecovery(store, meta, acceptsLoss).run(new Checkpoint(store, limits));
      isOpen = true;
      return new StoreWriter(store, limits, recovery);
    } catch (FileUnavailableException e) {
      throw withNeed(files, meta.shard().fields().size(), e);
    } finally {
      if (!isOpen) {
        Closing.all(opened);
        copies.removeUnnamed();
        if (live != null && (before != WriterBefore.LEFT_INSIDE || copies.areNamed())) {
          live.endFailed(writer);
        }
      }
    }
  }

  /** Refuses files of different moments, before anything of them is changed. */
  private static void requireOneMoment(
      MutableFiles files, StoreMeta meta, Journal journal, WriterToken writer) {
    if (!files.exists(LiveState.FILE_NAME)) {
      return;
    }
    Optional<CorruptDataException> contradiction;
    try {
      LiveState live = LiveState.open(files, meta.shard().id());
      contradiction = ClosedStore.contradiction(files, live, meta, journal);
    } catch (CorruptDataException e) {
      return; // It says nothing, and is made anew.
    }
    // What a writer writes that has come since is no contradiction.
    writer.require();
    if (contradiction.isPresent()) {
      throw contradiction.get();
    }
  }

  private StoreWriter.Recovery run(Checkpoint checkpoint) {
    Journal journal = store.journal();
    long before = journal.sequence();
    long dropped;
    try (Replay replay = new Replay(store.tables())) {
      dropped = journal.replay(store.fields().size(), length, replay);
    }
    requireNoLoss(store.live());
    long replayed = journal.sequence() - before;
    for (EntryTable table : store.tables()) {
      table.requireCapacity(length);
    }
    boolean mayContinue = !store.before().mayWrite() && !acceptsLoss;
    store.chunks().resume(unfull, mayContinue, !acceptsLoss);
    if (replayed > 0) {
      store.counts().recount(length);
    }
    checkpoint.write(length);
    store.endRecovery(length);
    // Chunks that the checkpoint does not name come from a killed writer or rewrite. The meta file
    // that names the others is durable now.
    StoreLeftovers.remove(store.files(), store.tables(), length, store.writer());
    return new StoreWriter.Recovery(replayed, dropped);
  }

  /**
   * Writes what the journal carries to the chunks, and applies its entries to the tables. The
   * checkpoint after the replay forces both.
   */
  private final class Replay implements Journal.Visitor, AutoCloseable {
    private final List<EntryTable> tables;
    private final Map<Integer, MutableFile> written = new HashMap<>();

    private Replay(List<EntryTable> tables) {
      this.tables = tables;
    }

    @Override
    public void chunk(JournalChunk named) {
      ChunkMeta chunk = named.meta();
      if (store.chunks().isClosed(chunk.id())) {
        throw damaged("it goes on with " + chunk.fileName()
            + ", which was closed before. Restore the store from a copy");
      }
      unfull.put(chunk.id(), chunk);
      if (named.carried().hasRemaining()) {
        MutableFile file =
            written.computeIfAbsent(chunk.id(), id -> store.files().open(chunk.fileName(), true));
        if (named.carriedFrom() > file.lengthBytes()) {
          throw damaged(named.gapAfter(file.lengthBytes()));
        }
        file.write(named.carriedFrom(), named.carried());
      }
    }

    @Override
    public void entry(long index, int field, long word0, long word1, int checksum) {
      EntryTable table = tables.get(field);
      table.ensureCapacity(index + 1);
      table.put(index, word0, word1, checksum);
    }

    @Override
    public void endRecord(long newLength) {
      length = newLength;
    }

    @Override
    public void close() {
      Closing.all(List.copyOf(written.values()));
    }
  }

  private void requireNoLoss(LiveState live) {
    long sequence = store.journal().sequence();
    if (live.sequence() > sequence && !acceptsLoss) {
      throw damaged("it ends with record "
          + sequence + ", but records up to " + live.sequence()
          + " were safe and had begun to change the store. Restore the store from a copy, or repair it: it may"
          + " have some of what the missing records changed");
    }
  }

  private CorruptDataException damaged(String problem) {
    String path = store.files().pathOf(Journal.FILE_NAME);
    return new CorruptDataException(path, "Cannot read " + path + ": " + problem);
  }
}
