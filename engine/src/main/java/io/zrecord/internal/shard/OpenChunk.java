package io.zrecord.internal.shard;

import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.shard.ChunkFile;
import io.zrecord.storage.Storage;
import java.util.UUID;

/** A chunk file with a checked header (FORMAT.md section 6). Thread-safe. */
public final class OpenChunk {
  private final Windows windows;

  private OpenChunk(Windows windows) {
    this.windows = windows;
  }

  /**
   * Opens a chunk file.
   *
   * @throws io.zrecord.errors.MissingFileException if there is no file
   * @throws io.zrecord.errors.TruncatedFileException if the file is shorter than its published end
   * @throws io.zrecord.errors.CorruptDataException if the header does not fit
   */
  static OpenChunk open(
      Storage storage, String directory, UUID shardId, ChunkFile chunk, Runnable onMapped) {
    Windows windows =
        new Windows(storage.open(directory + "/" + chunk.fileName()), chunk.bytes(), onMapped);
    byte[] header = new byte[FileHeader.BYTES];
    windows.copy(0, header, 0, header.length);
    checkHeader(windows.path(), shardId, chunk, header);
    return new OpenChunk(windows);
  }

  /**
   * Checks the header of a chunk file of a shard.
   *
   * @throws io.zrecord.errors.CorruptDataException if the header does not fit
   */
  public static void checkHeader(String path, UUID shardId, ChunkFile chunk, byte[] header) {
    if (chunk.isOfStore()) {
      new ChunkHeader((int) chunk.storeChunk(), shardId).check(path, header);
    } else {
      new FileHeader(FileHeader.Kind.CHUNK, shardId, chunk.id()).check(path, header);
    }
  }

  public Windows windows() {
    return windows;
  }
}
