package io.zrecord.internal.shard.file;

import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.function.LongConsumer;

/**
 * A chunk file (FORMAT.md section 6), whose header is checked with the first window, so that a
 * value far from the header takes one request. Thread-safe.
 */
public final class OpenChunk {
  private final Windows windows;

  private OpenChunk(Windows windows) {
    this.windows = windows;
  }

  /**
   * Opens a chunk file, of which nothing is read yet.
   *
   * @throws io.zrecord.errors.MissingFileException if there is no file
   * @throws io.zrecord.errors.TruncatedFileException if the file is shorter than its published end
   */
  public static OpenChunk open(
      Storage storage, ShardSummary shard, ChunkFile chunk, LongConsumer onKept) {
    ReadableFile file = ShardFiles.open(storage, shard.fileOf(chunk), chunk.bytes());
    return new OpenChunk(new Windows(
        file,
        chunk.bytes(),
        false,
        first -> checkFirst(file.path(), chunk.ownerIn(shard), chunk, first),
        onKept));
  }

  private static void checkFirst(String path, UUID owner, ChunkFile chunk, ByteBuffer first) {
    byte[] header = new byte[FileHeader.BYTES];
    first.get(0, header);
    checkHeader(path, owner, chunk, header);
  }

  /**
   * Checks the header of a chunk file.
   *
   * @param owner the shard for which the file was written
   * @throws io.zrecord.errors.CorruptDataException if the header does not fit
   */
  public static void checkHeader(String path, UUID owner, ChunkFile chunk, byte[] header) {
    if (chunk.isOfStore()) {
      new ChunkHeader((int) chunk.storeChunk(), owner).check(path, header);
    } else {
      new FileHeader(FileHeader.Kind.CHUNK, owner, chunk.id()).check(path, header);
    }
  }

  public Windows windows() {
    return windows;
  }
}
