package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.shard.Zeros;
import io.zrecord.internal.shard.file.FileIds;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes the chunk files of a shard one after another. Belongs to one thread. */
final class ChunkWriter implements AutoCloseable {
  private final Storage storage;
  private final String directory;
  private final UUID shardId;
  private final UUID seed;
  private final long chunkBytes;
  private final Durability durability;
  private final List<ChunkFile> closed = new ArrayList<>();
  private @Nullable WritableFile file;
  private long closedBytes;

  /**
   * Begins no file yet.
   *
   * @param seed where the identities of the files come from ({@link FileIds})
   */
  ChunkWriter(Storage storage, String directory, UUID shardId, UUID seed, WriteOptions options) {
    this.storage = storage;
    this.directory = directory;
    this.shardId = shardId;
    this.seed = seed;
    this.chunkBytes = options.chunkBytes();
    this.durability = options.durability();
  }

  /** Returns the ordinal of the chunk that is written next. */
  int ordinal() {
    return closed.size();
  }

  /** Returns the bytes of the current chunk, or of its header if the chunk was not begun. */
  long positionBytes() {
    return file == null ? FileHeader.BYTES : file.positionBytes();
  }

  /**
   * Returns the current chunk, ready for {@code lengthBytes} aligned bytes that are read together.
   * Begins the chunk if need be.
   */
  WritableFile aligned(Alignment alignment, long lengthBytes) {
    WritableFile current = file;
    if (current == null) {
      UUID id = FileIds.chunk(seed, ordinal());
      current = storage.create(directory + "/" + ChunkFile.of(id, 0).fileName());
      file = current;
      current.write(ByteBuffer.wrap(new FileHeader(FileHeader.Kind.CHUNK, shardId, id).encode()));
    }
    Zeros.write(current, alignment.gapBytes(current.positionBytes(), lengthBytes));
    return current;
  }

  /** Closes the current chunk if the chunk is full. The next bytes begin another chunk then. */
  void rollIfFull() {
    if (positionBytes() >= chunkBytes) {
      roll();
    }
  }

  /** Closes the current chunk, if any, and forces it to disk if the durability says so. */
  void roll() {
    WritableFile current = file;
    if (current == null) {
      return;
    }
    Zeros.write(current, Alignment.LEAST.gapBytes(current.positionBytes(), 0));
    if (durability == Durability.COMMIT) {
      current.force();
    }
    long endBytes = current.positionBytes();
    current.finish();
    closed.add(ChunkFile.of(FileIds.chunk(seed, ordinal()), endBytes));
    closedBytes += endBytes;
    file = null;
  }

  /** Returns the bytes of all chunks so far. */
  long writtenBytes() {
    return closedBytes + (file == null ? 0 : file.positionBytes());
  }

  /** Returns the chunks closed so far. */
  List<ChunkFile> chunks() {
    return closed;
  }

  @Override
  public void close() {
    WritableFile current = file;
    if (current != null) {
      file = null;
      current.close();
    }
  }
}
