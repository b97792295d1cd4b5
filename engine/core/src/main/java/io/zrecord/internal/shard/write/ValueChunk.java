package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.FileHeader;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * The chunk of a patch, which gets values as they come, each at a multiple of eight bytes. Belongs
 * to one thread.
 */
final class ValueChunk implements AutoCloseable {
  private static final int BUFFER_BYTES = 64 << 10;

  private final WritableFile file;

  /** Bytes that are not in the file yet. The bytes behind them are zeros or old ones. */
  private final byte[] buffer = new byte[BUFFER_BYTES];

  private int buffered;

  /** Whether a write has failed: nobody knows how much of it is in the file. */
  private boolean isBroken;

  /** Creates the file. */
  ValueChunk(Storage storage, ShardSummary shard, UUID id) {
    file = storage.create(shard.directory() + "/" + ChunkFile.of(id, 0).fileName());
    byte[] header = new FileHeader(FileHeader.Kind.CHUNK, shard.id(), id).encode();
    System.arraycopy(header, 0, buffer, 0, header.length);
    buffered = header.length;
  }

  /**
   * Adds a value.
   *
   * @return its position in the file
   * @throws IllegalStateException if a write has failed before
   */
  long add(byte[] source, int offset, int length) {
    int padding = -length & 7;
    if ((long) length + padding > BUFFER_BYTES - buffered) {
      flush();
    }
    long position = file.positionBytes() + buffered;
    if ((long) length + padding > BUFFER_BYTES) {
      write(ByteBuffer.wrap(source, offset, length));
    } else {
      System.arraycopy(source, offset, buffer, buffered, length);
      buffered += length;
    }
    for (int i = 0; i < padding; i++) {
      buffer[buffered++] = 0;
    }
    return position;
  }

  private void flush() {
    write(ByteBuffer.wrap(buffer, 0, buffered));
    buffered = 0;
  }

  private void write(ByteBuffer bytes) {
    if (isBroken) {
      throw new IllegalStateException("A write to " + file.path()
          + " has failed before, so that values may be in part there; begin another change");
    }
    isBroken = true;
    file.write(bytes);
    isBroken = false;
  }

  /** Ends the file, and returns its length. */
  long finish(Durability durability) {
    flush();
    if (durability == Durability.COMMIT) {
      file.force();
    }
    long bytes = file.positionBytes();
    file.finish();
    return bytes;
  }

  @Override
  public void close() {
    file.close();
  }
}
