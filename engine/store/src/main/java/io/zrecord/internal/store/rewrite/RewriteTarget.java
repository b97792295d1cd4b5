package io.zrecord.internal.store.rewrite;

import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.EntryTable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes the new chunks of a rewrite one after another, through one buffer. Values are begun,
 * filled and ended; each takes a multiple of 8 bytes. There is always at least one chunk, so that
 * ids known to readers never come again. Belongs to one thread.
 */
final class RewriteTarget implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 20;

  private final MutableFiles files;
  private final UUID storeId;
  private final long chunkRecords;
  private final long chunkBytes;
  private final List<ChunkMeta> closed = new ArrayList<>();
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final BackgroundForce background = new BackgroundForce();
  private int chunkId;
  private @Nullable MutableFile file;
  private long flushedBytes;
  private long recordCount;
  private long valueAt;
  private int valueBytes;

  RewriteTarget(
      MutableFiles files, UUID storeId, int firstChunkId, long chunkRecords, long chunkBytes) {
    this.files = files;
    this.storeId = storeId;
    this.chunkRecords = chunkRecords;
    this.chunkBytes = chunkBytes;
    this.chunkId = firstChunkId;
    beginChunk();
  }

  private void beginChunk() {
    file = files.create(ChunkMeta.fileName(chunkId));
    flushedBytes = 0;
    recordCount = 0;
    buffer.clear();
    write(new ChunkHeader(chunkId, storeId).encode(), 0, ChunkHeader.BYTES);
  }

  /** Returns the bytes until the chunk is full, at least 1. Begins a chunk if need be. */
  long remainingBytes() {
    if (recordCount >= chunkRecords || endBytes() >= chunkBytes) {
      closeChunk();
      chunkId++;
      beginChunk();
    }
    return Math.max(1, chunkBytes - endBytes());
  }

  /** Returns the number of records until the chunk is full, at least 1. */
  long remainingRecords() {
    return Math.max(1, chunkRecords - recordCount);
  }

  /** Counts records whose values are stored. */
  void addRecords(long count) {
    recordCount += count;
  }

  /** Begins a value of {@code storedBytes} bytes. */
  void begin(long storedBytes, String field) {
    if (storedBytes > Integer.MAX_VALUE) {
      throw new ValueTooLargeException(
          field,
          "Cannot write a value of " + storedBytes + " stored bytes to field '" + field
              + "': the limit is " + Integer.MAX_VALUE + "; leave its compression as it is");
    }
    valueAt = endBytes();
    valueBytes = (int) storedBytes;
    crc.reset();
  }

  /** Adds bytes to the value. */
  void put(byte[] source, int at, int length) {
    crc.update(source, at, length);
    write(source, at, length);
  }

  /** Ends the value and stores its entry, with a checksum that is bound to the index. */
  void end(EntryTable table, Binding binding, long index) {
    int checksum = binding.bind(Binding.Kind.VALUE, index, (int) crc.getValue());
    table.put(index, valueAt, Entry.word1(chunkId, valueBytes), checksum);
    for (int padding = (int) (-endBytes() & 7); padding > 0; padding--) {
      if (!buffer.hasRemaining()) {
        flush();
      }
      buffer.put((byte) 0);
    }
  }

  private long endBytes() {
    return flushedBytes + buffer.position();
  }

  private void write(byte[] source, int at, int length) {
    for (int done = 0; done < length; ) {
      if (!buffer.hasRemaining()) {
        flush();
      }
      int step = Math.min(length - done, buffer.remaining());
      buffer.put(source, at + done, step);
      done += step;
    }
  }

  private void flush() {
    MutableFile current = file;
    if (current != null && buffer.position() > 0) {
      int pending = buffer.position();
      current.write(flushedBytes, buffer.flip());
      flushedBytes += pending;
      buffer.clear();
      background.written(current, pending);
    }
  }

  private void closeChunk() {
    flush();
    MutableFile done = file;
    if (done != null) {
      background.await();
      done.force();
      done.close();
      file = null;
      closed.add(new ChunkMeta(chunkId, recordCount, flushedBytes));
    }
  }

  /** Ends the last chunk and returns all chunks, forced to disk. */
  List<ChunkMeta> finish() {
    closeChunk();
    files.forceDirectory("chunk");
    return List.copyOf(closed);
  }

  /** Closes the open file, if any. */
  @Override
  public void close() {
    background.close();
    if (file != null) {
      file.close();
      file = null;
    }
  }
}
