package io.zrecord.internal.store.write;

import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.Changes;
import io.zrecord.internal.store.write.ChunkLane.Need;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The chunks of a store: some are being written, each by a lane, and the others are closed. Any
 * thread may store values; everything else is guarded by the turn to commit.
 */
final class StoreChunks implements AutoCloseable {
  /**
   * Bytes of chunks that a journal record may carry. Writing this much twice takes less time than
   * forcing one more file.
   */
  private static final int MAX_CARRIED_BYTES = 1 << 16;

  private final MutableFiles files;
  private final UUID storeId;
  private final ChunkLane[] lanes;
  private final AtomicInteger nextChunkId = new AtomicInteger();

  /** Closed chunks that the journal or the meta file names. */
  private final Map<Integer, ChunkMeta> closed = new TreeMap<>(Integer::compareUnsigned);

  /** Closed chunks that nothing names yet. */
  private final List<ChunkMeta> newlyClosed = new ArrayList<>();

  /** The states of the lanes at the last flush. */
  private final List<ChunkLane.Flushed> flushed = new ArrayList<>();

  private boolean namesChanged;

  StoreChunks(MutableFiles files, UUID storeId, List<FieldSpec> fields, StoreLimits limits) {
    this.files = files;
    this.storeId = storeId;
    this.lanes = new ChunkLane[limits.laneCount()];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new ChunkLane(
          files,
          storeId,
          fields,
          limits.chunkRecords(),
          limits.chunkBytes(),
          nextChunkId::getAndIncrement);
    }
  }

  /**
   * Stores the values of a record in the first chunk that no other thread is writing to. One
   * thread, or many that write little, thus leave one chunk to be forced.
   *
   * @param values of the fields; see {@link ChunkLane#store}
   * @param target takes the entries
   */
  void store(byte[] @Nullable [] values, Changes.Entries target) {
    for (ChunkLane lane : lanes) {
      if (lane.tryStore(values, target)) {
        return;
      }
    }
    lanes[(int) (Thread.currentThread().getId() % lanes.length)].store(values, target);
  }

  /** Adds chunks that the meta file says are closed. */
  void addClosed(Collection<ChunkMeta> chunks) {
    chunks.forEach(chunk -> closed.put(chunk.id(), chunk));
  }

  boolean isClosed(int chunkId) {
    return closed.containsKey(chunkId);
  }

  /**
   * Continues the chunks that the last writer was writing, or closes them. The chunks that are too
   * many for the lanes are closed.
   *
   * @param unfull chunks by id, in the order of their ids
   * @param mayContinue whether values may be written after the published ends. The last writer may
   *     still write there
   * @param mayCut whether nothing after the published ends is of use. Where commits were lost,
   *     entries that reached the tables may point there
   */
  void resume(Map<Integer, ChunkMeta> unfull, boolean mayContinue, boolean mayCut) {
    int lane = 0;
    int lastId = -1;
    for (ChunkMeta chunk : closed.values()) {
      lastId = chunk.id();
    }
    for (ChunkMeta chunk : unfull.values()) {
      lastId =
          Integer.compareUnsigned(chunk.id(), lastId) > 0 || lastId == -1 ? chunk.id() : lastId;
      try (MutableFile file = files.open(chunk.fileName(), true)) {
        check(file, chunk);
        // Bytes after the published end may belong to a snapshot, though the store has lost them.
        boolean isShared = files.hasOtherNames(chunk.fileName());
        if (lane < lanes.length && !isShared && mayContinue) {
          lanes[lane++].resume(chunk);
        } else {
          if (!isShared && mayCut) {
            file.setLength(chunk.endBytes());
          }
          file.force();
          namesChanged = true;
          closed.put(chunk.id(), chunk);
        }
      }
    }
    // A writer that was killed may have left chunks that no journal record names.
    int next = lastId + 1;
    while (files.exists(ChunkMeta.fileName(next))) {
      next++;
    }
    nextChunkId.set(next);
  }

  private void check(MutableFile file, ChunkMeta chunk) {
    if (file.lengthBytes() < chunk.endBytes()) {
      throw new TruncatedFileException(
          file.path(),
          "Cannot read " + file.path() + ": it has " + file.lengthBytes() + " bytes, but "
              + chunk.endBytes()
              + " were published. It was cut; restore it from a copy");
    }
    byte[] header = new byte[ChunkHeader.BYTES];
    file.read(0, ByteBuffer.wrap(header));
    new ChunkHeader(chunk.id(), storeId).check(file.path(), header);
  }

  /**
   * Makes readable what was stored so far, and notes the chunks that were closed meanwhile. The
   * journal can carry the bytes of small commits, which saves forcing the chunks.
   *
   * @param need what else is done for the stored values
   * @return the chunks to be named: those that are being written, and those closed since the last
   *     time
   */
  List<JournalChunk> flush(Need need) {
    flushed.clear();
    int mayCarryBytes = MAX_CARRIED_BYTES;
    for (ChunkLane lane : lanes) {
      ChunkLane.Flushed state = lane.flush(need, mayCarryBytes);
      flushed.add(state);
      mayCarryBytes -= state.carriedBytes();
      namesChanged |= state.hasNewName();
      newlyClosed.addAll(state.closed());
      lane.force(state);
    }
    if (namesChanged && need != Need.NOTHING) {
      files.forceDirectory("chunk");
      namesChanged = false;
    }
    List<JournalChunk> named = new ArrayList<>();
    for (ChunkLane.Flushed state : flushed) {
      if (state.current() != null) {
        named.add(state.current());
      }
    }
    newlyClosed.forEach(chunk -> named.add(JournalChunk.forced(chunk)));
    return named;
  }

  /**
   * Notes that a safe journal record names the chunks that were last flushed, or that a meta file
   * is about to name them.
   */
  void setNamed() {
    for (int i = 0; i < flushed.size(); i++) {
      if (flushed.get(i).carriedBytes() > 0) {
        lanes[i].setCarried(flushed.get(i));
      }
    }
    flushed.clear();
    addClosed(newlyClosed);
    newlyClosed.clear();
  }

  /**
   * Forces what was stored so far, for a meta file that is about to name all chunks.
   *
   * @return the chunks that are being written
   */
  List<ChunkMeta> force() {
    flush(Need.FORCED);
    List<ChunkMeta> unfull = new ArrayList<>();
    for (ChunkLane.Flushed state : flushed) {
      if (state.current() != null) {
        unfull.add(state.current().meta());
      }
    }
    setNamed();
    return unfull;
  }

  /** Returns the closed chunks that are named, in the order of their ids. */
  List<ChunkMeta> closed() {
    return List.copyOf(closed.values());
  }

  @Override
  public void close() {
    for (ChunkLane lane : lanes) {
      lane.close();
    }
  }
}
