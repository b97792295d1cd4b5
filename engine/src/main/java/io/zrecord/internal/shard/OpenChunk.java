package io.zrecord.internal.shard;

import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
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
      Storage storage, String directory, UUID shardId, ChunkMeta chunk, Runnable onMapped) {
    Windows windows =
        new Windows(storage.open(directory + chunk.fileName()), chunk.endBytes(), onMapped);
    byte[] header = new byte[ChunkHeader.BYTES];
    windows.copy(0, header, 0, header.length);
    new ChunkHeader(chunk.id(), shardId).check(windows.path(), header);
    return new OpenChunk(windows);
  }

  public Windows windows() {
    return windows;
  }
}
