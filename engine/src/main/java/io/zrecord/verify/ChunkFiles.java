package io.zrecord.verify;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.verify.Finding.Kind;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The chunk files of a shard or store (FORMAT.md section 6). A few files are open at a time.
 * Belongs to one thread.
 */
final class ChunkFiles implements AutoCloseable {
  private static final int MAX_OPEN = 16;

  private final MutableFiles files;
  private final String prefix;
  private final UUID shardId;
  private final Map<Integer, ChunkMeta> chunks = new HashMap<>();
  /**
   * Published bytes present in each chunk file. A chunk without an entry is missing or cannot be
   * opened.
   */
  private final Map<Integer, Long> presentBytes = new HashMap<>();

  private final CarriedBytes carried;
  private @Nullable FileWindow journal;

  private final Map<Integer, FileWindow> open = new LinkedHashMap<>(MAX_OPEN, 0.75f, true);

  /**
   * Prepares to read chunks; opens no file.
   *
   * @param prefix directory of the shard with a slash, or empty
   * @param carried bytes of chunks that the journal of a store has in their place
   */
  ChunkFiles(
      MutableFiles files,
      String prefix,
      UUID shardId,
      List<ChunkMeta> chunks,
      CarriedBytes carried) {
    this.carried = carried;
    this.files = files;
    this.prefix = prefix;
    this.shardId = shardId;
    chunks.forEach(chunk -> this.chunks.put(chunk.id(), chunk));
  }

  /**
   * Checks that each file exists, is long enough and has the right header, and reports what is
   * wrong. Bytes after a chunk's end have no meaning.
   */
  void check(CheckRun run) {
    for (ChunkMeta chunk : chunks.values()) {
      String path = path(chunk.id());
      try (MutableFile file = files.open(prefix + chunk.fileName(), false)) {
        long length = carried.lengthAfter(chunk.id(), file.lengthBytes());
        presentBytes.put(chunk.id(), Math.min(length, chunk.endBytes()));
        if (length < chunk.endBytes()) {
          run.found(
              Kind.CHUNK,
              path,
              "it has " + length + " bytes, but " + chunk.endBytes() + " were published");
        }
        checkHeader(run, chunk, file);
      } catch (ZRecordException e) {
        run.found(Kind.CHUNK, path, FileProblem.of(e));
      }
    }
  }

  private void checkHeader(CheckRun run, ChunkMeta chunk, MutableFile file) {
    byte[] header = new byte[ChunkHeader.BYTES];
    if (file.read(0, ByteBuffer.wrap(header)) < header.length) {
      return; // The missing bytes were reported before.
    }
    try {
      new ChunkHeader(chunk.id(), shardId).check(path(chunk.id()), header);
    } catch (ZRecordException e) {
      run.found(Kind.CHUNK, path(chunk.id()), "its header: " + FileProblem.of(e));
    }
  }

  @Nullable
  ChunkMeta find(int chunkId) {
    return chunks.get(chunkId);
  }

  String path(int chunkId) {
    return files.pathOf(prefix + ChunkMeta.fileName(chunkId));
  }

  /** Returns the number of a chunk's published bytes that are in its file. */
  long presentBytes(int chunkId) {
    return presentBytes.getOrDefault(chunkId, 0L);
  }

  /** Reads published bytes of a chunk and returns how many of them could be read. */
  int read(int chunkId, long position, byte[] target, int offset, int length) {
    int there = (int) Math.max(0, Math.min(length, presentBytes(chunkId) - position));
    try {
      int found = there == 0 ? 0 : window(chunkId).read(position, target, offset, there);
      return carried.isEmpty() ? found : overlay(chunkId, position, target, offset, there);
    } catch (StorageException e) {
      FileProblem.requireOfContent(e);
      return 0; // Perhaps a bad sector: other bytes can be read.
    }
  }

  /** Replaces bytes of a chunk by what the journal carries. */
  private int overlay(int chunkId, long position, byte[] target, int offset, int length) {
    long end = position + length;
    for (CarriedBytes.Piece piece : carried.within(chunkId, position, end)) {
      long from = Math.max(position, piece.position());
      int bytes = (int) (Math.min(end, piece.end()) - from);
      if (bytes > 0) {
        journal()
            .read(
                piece.journalAt() + from - piece.position(),
                target,
                offset + (int) (from - position),
                bytes);
      }
    }
    return length;
  }

  private FileWindow journal() {
    FileWindow window = journal;
    if (window == null) {
      window = new FileWindow(files.open(JournalRecord.FILE_NAME, false));
      journal = window;
    }
    return window;
  }

  private FileWindow window(int chunkId) {
    FileWindow window = open.get(chunkId);
    if (window == null) {
      if (open.size() == MAX_OPEN) {
        Integer eldest = open.keySet().iterator().next();
        closeOne(open.remove(eldest));
      }
      window = new FileWindow(files.open(prefix + ChunkMeta.fileName(chunkId), false));
      open.put(chunkId, window);
    }
    return window;
  }

  private static void closeOne(@Nullable FileWindow window) {
    if (window != null) {
      window.close();
    }
  }

  @Override
  public void close() {
    open.values().forEach(FileWindow::close);
    open.clear();
    closeOne(journal);
    journal = null;
  }
}
