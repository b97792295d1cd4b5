package io.zrecord.internal.shard.write;

import io.zrecord.shard.Durability;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A file of small fixed-size items, written through a buffer. Belongs to one thread. */
final class TableFile implements AutoCloseable {
  private final WritableFile file;
  private final ByteBuffer buffer;
  private boolean isClosed;

  /**
   * Creates the file.
   *
   * @param bufferBytes size of the buffer, a multiple of 16
   */
  TableFile(Storage storage, String name, int bufferBytes) {
    file = storage.create(name);
    buffer = ByteBuffer.allocateDirect(bufferBytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  void putInt(int value) {
    if (!buffer.hasRemaining()) {
      drain();
    }
    buffer.putInt(value);
  }

  void putEntry(long word0, long word1) {
    if (!buffer.hasRemaining()) {
      drain();
    }
    buffer.putLong(word0).putLong(word1);
  }

  void finish(Durability durability) {
    drain();
    if (durability == Durability.COMMIT) {
      file.force();
    }
    close();
  }

  @Override
  public void close() {
    if (!isClosed) {
      isClosed = true;
      file.close();
    }
  }

  private void drain() {
    file.write(buffer.flip());
    buffer.clear();
  }
}
