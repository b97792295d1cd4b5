package io.zrecord.internal.shard.file;

import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.table.DroppedTable;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import java.nio.ByteBuffer;

/**
 * Opens files of shards for reading. If one is missing because its table was dropped, the exception
 * says so. Stateless.
 */
public final class ShardFiles {
  private ShardFiles() {}

  /**
   * Opens a file of a known length.
   *
   * @throws MissingFileException if there is no file, here or when its bytes are read
   */
  public static ReadableFile open(Storage storage, String name, long lengthBytes) {
    try {
      ReadableFile file = storage.open(name, lengthBytes);
      return file.isMapped() ? file : new Requested(storage, file);
    } catch (MissingFileException e) {
      throw DroppedTable.explained(storage, e);
    }
  }

  /** A file of which nothing is asked before its bytes are read. */
  private record Requested(Storage storage, ReadableFile file) implements ReadableFile {
    @Override
    public String path() {
      return file.path();
    }

    @Override
    public long lengthBytes() {
      return file.lengthBytes();
    }

    @Override
    public ByteBuffer region(long position, int lengthBytes) {
      try {
        return file.region(position, lengthBytes);
      } catch (MissingFileException e) {
        throw DroppedTable.explained(storage, e);
      }
    }

    @Override
    public int preferredRegionBytes() {
      return file.preferredRegionBytes();
    }

    @Override
    public boolean isMapped() {
      return false;
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
