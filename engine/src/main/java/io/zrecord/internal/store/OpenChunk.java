package io.zrecord.internal.store;

import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.storage.Storage;
import java.util.UUID;

/** A chunk file whose header was checked (FORMAT.md section 6). Thread-safe. */
final class OpenChunk {
  private final Windows windows;

  private OpenChunk(Windows windows) {
    this.windows = windows;
  }

  /**
   * Opens a chunk file.
   *
   * @throws io.zrecord.errors.MissingFileException if there is none
   * @throws io.zrecord.errors.TruncatedFileException if it is shorter than its published end
   * @throws io.zrecord.errors.CorruptDataException if its header does not fit
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

  Windows windows() {
    return windows;
  }
}
