package io.zrecord.internal.store.rewrite;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.store.ClosedStore;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.Journal;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.WriterToken;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * One committed state of a store, while a writer continues. Tables are changed in place, so they
 * are copied in whatever state they are. Then the copy receives all changes in the journal since
 * the checkpoint, up to a record that was committed when the copy was done. This overwrites every
 * later or partial change that the copy contains, because the journal has every change before the
 * tables do. Chunks need no copy: their bytes below a published end never change. Belongs to one
 * thread.
 */
public final class CommittedState implements AutoCloseable {
  private final Path path;
  private final LocalMutableFiles store;
  private final LocalMutableFiles target;
  private final StoreMeta meta;
  private final List<EntryTable> tables = new ArrayList<>();
  private final Map<Integer, ChunkMeta> chunks = new TreeMap<>(Integer::compareUnsigned);

  /** What the journal carries and chunks lack, by chunk. */
  private final Map<Integer, List<JournalChunk>> carried = new HashMap<>();

  private long length;
  private long sequence;
  private boolean isChanged;

  /** Whether there was a writer when the copy began. */
  private final boolean hadWriter;

  /** Whether there was a writer when the journal was read. */
  private boolean hasWriter;

  /**
   * Prepares a copy of the tables.
   *
   * @param target takes the tables, until this object is closed
   */
  public CommittedState(Path path, LocalMutableFiles target) {
    this.path = path;
    this.store = new LocalMutableFiles(path);
    this.target = target;
    this.hadWriter = hasWriter(path);
    WriterToken.requireOriginal(store);
    this.meta = StoreMetaFile.read(store);
    this.length = meta.shard().length();
    this.sequence = meta.sequence();
    meta.shard().chunks().forEach(chunk -> chunks.put(chunk.id(), chunk));
    meta.unfull().forEach(chunk -> chunks.put(chunk.id(), chunk));
  }

  /** Copies the tables and replays the journal. */
  public void copyTables() {
    long published = Math.max(length, publishedLength());
    for (FieldMeta field : meta.shard().fields()) {
      tables.add(EntryTable.copy(store, target, field.stem(), published));
    }
    isChanged = replay();
    tables.forEach(table -> table.requireCapacity(length));
  }

  /** Returns the meta file at the checkpoint from which the copy began. */
  public StoreMeta meta() {
    return meta;
  }

  List<EntryTable> tables() {
    return tables;
  }

  /** Returns all chunks, in the order of their ids, with their ends in this state. */
  public Collection<ChunkMeta> chunks() {
    return chunks.values();
  }

  /** Returns what the journal carries of a chunk and the chunk lacks; mostly nothing. */
  List<JournalChunk> carried(ChunkMeta chunk) {
    return carried.getOrDefault(chunk.id(), List.of());
  }

  public long length() {
    return length;
  }

  /** Returns the number of the last journal record that this state has. */
  public long sequence() {
    return sequence;
  }

  /** Returns the fields with the counts of this state. */
  public List<FieldMeta> fields() {
    List<FieldMeta> counted = new ArrayList<>();
    for (int i = 0; i < tables.size(); i++) {
      FieldMeta field = meta.shard().fields().get(i);
      counted.add(
          isChanged
              ? new FieldMeta(
                  field.spec(),
                  field.stem(),
                  tables.get(i).absentCount(length),
                  tables.get(i).valueBytes(length))
              : field);
    }
    return counted;
  }

  /**
   * Tells whether the store is still at the checkpoint from which the copy began. Otherwise the
   * copy may be of no state.
   */
  public boolean isOfOneCheckpoint() {
    return StoreMetaFile.read(store).sequence() == meta.sequence();
  }

  /** Tells whether a failure says something of the store, and not of a change meanwhile. */
  public boolean isUndisturbed() {
    StoreMeta now = StoreMetaFile.read(store);
    return now.sequence() == meta.sequence()
        && stems(now).equals(stems(meta))
        && hadWriter == hasWriter(path);
  }

  /**
   * Tells whether the store is at its checkpoint after a failure. If that cannot be found out, it
   * is, and the failure has that failure as well.
   */
  boolean isOfOneCheckpoint(ZRecordException failure) {
    return isTrueAfter(failure, this::isOfOneCheckpoint);
  }

  /**
   * Tells whether a failure says something of the store. If that cannot be found out, it does, and
   * has that failure as well.
   */
  boolean isUndisturbed(ZRecordException failure) {
    return isTrueAfter(failure, this::isUndisturbed);
  }

  private static boolean isTrueAfter(ZRecordException failure, BooleanSupplier question) {
    try {
      return question.getAsBoolean();
    } catch (ZRecordException e) {
      failure.addSuppressed(e);
      return true;
    }
  }

  private static List<String> stems(StoreMeta meta) {
    return meta.shard().fields().stream().map(FieldMeta::stem).toList();
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

  private boolean replay() {
    hasWriter = hasWriter(path);
    // After the copy: every change in the copy is committed by now, or is in no record up to this
    // one.
    Optional<LiveState> live = hasWriter || store.exists(LiveState.FILE_NAME)
        ? Optional.of(LiveState.open(store, meta.shard().id()))
        : Optional.empty();
    long needed = live.map(LiveState::sequence).orElse(meta.sequence());
    try (Journal journal = Journal.open(store, meta.shard().id(), meta.sequence(), false)) {
      requireOneMoment(live, journal);
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
      sequence = journal.sequence();
      return sequence > meta.sequence();
    }
  }

  /** Refuses files of different moments. A writer may come meanwhile, without a lock as well. */
  private void requireOneMoment(Optional<LiveState> live, Journal journal) {
    if (hasWriter || live.isEmpty()) {
      return;
    }
    Optional<CorruptDataException> contradiction =
        ClosedStore.contradiction(store, live.get(), meta, journal);
    // A writer takes the mark away before it changes anything.
    if (contradiction.isPresent() && live.get().saysClosed() && isUndisturbed()) {
      throw contradiction.get();
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

  @Override
  public void close() {
    List<AutoCloseable> parts = new ArrayList<>(tables);
    for (FieldMeta field : meta.shard().fields()) {
      EntryTable.fileNames(field.stem()).forEach(name -> parts.add(() -> target.delete(name)));
    }
    Closing.all(parts);
  }
}
