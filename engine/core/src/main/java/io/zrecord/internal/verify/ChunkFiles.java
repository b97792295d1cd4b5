package io.zrecord.internal.verify;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.shard.file.OpenChunk;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The chunk files of a shard or store (FORMAT.md section 6). A few files are open at a time.
 * Belongs to one thread.
 */
public final class ChunkFiles implements AutoCloseable {
  private static final int MAX_OPEN = 16;

  private final MutableFiles files;
  private final Map<Integer, Chunk> chunks = new LinkedHashMap<>();
  /**
   * Published bytes present in each chunk file. A chunk without an entry is missing or cannot be
   * opened.
   */
  private final Map<Integer, Long> presentBytes = new HashMap<>();

  private final Overlay overlay;
  private final Map<Integer, FileWindow> open = new LinkedHashMap<>(MAX_OPEN, 0.75f, true);

  /**
   * A chunk.
   *
   * @param number number in entries and runs
   * @param fileName name of its file
   * @param endBytes published end
   * @param header checks the header; throws if it is not that of the chunk
   */
  public record Chunk(int number, String fileName, long endBytes, Consumer<byte[]> header) {}

  /** Bytes of chunks that are elsewhere. {@link ChunkFiles#close} closes the overlay. */
  public interface Overlay extends AutoCloseable {
    /** No chunk has such bytes. */
    Overlay NONE = new Overlay() {
      @Override
      public long lengthAfter(int chunk, long fileBytes) {
        return fileBytes;
      }

      @Override
      public int apply(int chunk, long position, byte[] target, int offset, int length, int found) {
        return found;
      }

      @Override
      public void close() {}
    };

    /** Returns the length of a chunk whose file has the given length. */
    long lengthAfter(int chunk, long fileBytes);

    /**
     * Replaces bytes that were read from the file of a chunk.
     *
     * @param found number of bytes that were read
     * @return number of bytes that are valid now
     */
    int apply(int chunk, long position, byte[] target, int offset, int length, int found);

    @Override
    void close();
  }

  /** Prepares to read chunks; opens no file. */
  public ChunkFiles(MutableFiles files, List<Chunk> chunks, Overlay overlay) {
    this.overlay = overlay;
    this.files = files;
    chunks.forEach(chunk -> this.chunks.put(chunk.number, chunk));
  }

  /** Prepares to read the chunks of a shard, which have ordinals; opens no file. */
  static ChunkFiles ofShard(MutableFiles files, ShardSummary shard) {
    List<Chunk> chunks = new ArrayList<>();
    for (ChunkFile chunk : shard.chunks()) {
      String name = shard.fileOf(chunk);
      chunks.add(new Chunk(
          chunks.size(),
          name,
          chunk.bytes(),
          header ->
              OpenChunk.checkHeader(files.pathOf(name), chunk.ownerIn(shard), chunk, header)));
    }
    return new ChunkFiles(files, chunks, Overlay.NONE);
  }

  /**
   * Returns these chunks with other numbers, after they were checked. Each of both is closed.
   *
   * @param present the present number of each chunk, by its new number
   */
  ChunkFiles renumbered(int[] present) {
    List<Chunk> renumbered = new ArrayList<>();
    for (int i = 0; i < present.length; i++) {
      if (present[i] == TablesFile.NO_CHUNK) {
        continue;
      }
      Chunk chunk = Objects.requireNonNull(chunks.get(present[i]));
      renumbered.add(new Chunk(i, chunk.fileName, chunk.endBytes, chunk.header));
    }
    ChunkFiles result = new ChunkFiles(files, renumbered, Overlay.NONE);
    for (int i = 0; i < present.length; i++) {
      if (present[i] != TablesFile.NO_CHUNK) {
        result.presentBytes.put(i, presentBytes(present[i]));
      }
    }
    return result;
  }

  /**
   * Checks that each file exists, is long enough and has the right header, and reports what is
   * wrong. Bytes after a chunk's end have no meaning.
   */
  public void check(CheckRun run) {
    for (Chunk chunk : chunks.values()) {
      String path = path(chunk.number);
      try (MutableFile file = files.open(chunk.fileName, false)) {
        long length = overlay.lengthAfter(chunk.number, file.lengthBytes());
        presentBytes.put(chunk.number, Math.min(length, chunk.endBytes));
        if (length < chunk.endBytes) {
          run.found(
              Kind.CHUNK,
              path,
              "it has " + length + " bytes, but " + chunk.endBytes + " were published");
        }
        checkHeader(run, chunk, file);
      } catch (ZRecordException e) {
        run.found(Kind.CHUNK, path, FileProblem.of(e));
      }
    }
  }

  private void checkHeader(CheckRun run, Chunk chunk, MutableFile file) {
    byte[] header = new byte[FileHeader.BYTES];
    if (file.read(0, ByteBuffer.wrap(header)) < header.length) {
      return; // The missing bytes were reported before.
    }
    try {
      chunk.header.accept(header);
    } catch (ZRecordException e) {
      run.found(Kind.CHUNK, path(chunk.number), "its header: " + FileProblem.of(e));
    }
  }

  @Nullable
  Chunk find(int number) {
    return chunks.get(number);
  }

  String path(int number) {
    Chunk chunk = chunks.get(number);
    return chunk == null ? files.location() : files.pathOf(chunk.fileName);
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
      return overlay.apply(chunkId, position, target, offset, there, found);
    } catch (StorageException e) {
      FileProblem.requireOfContent(e);
      return 0; // Perhaps a bad sector: other bytes can be read.
    }
  }

  private FileWindow window(int chunkId) {
    FileWindow window = open.get(chunkId);
    if (window == null) {
      if (open.size() == MAX_OPEN) {
        Integer eldest = open.keySet().iterator().next();
        closeOne(open.remove(eldest));
      }
      window =
          new FileWindow(files.open(Objects.requireNonNull(chunks.get(chunkId)).fileName, false));
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
    overlay.close();
  }
}
