package io.zrecord.shard;

import java.io.Serializable;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Names a chunk file of a shard in a table (FORMAT.md section 3). Immutable.
 *
 * @param id identity of the file; its name in the owner's directory is {@code <id>.zr}
 * @param bytes published end of the file, header included
 * @param storeChunk number of the chunk in the store that wrote the file, an unsigned 32-bit
 *     number; {@link #NOT_OF_A_STORE} for a chunk that was written for the table
 * @param storeRecords records that the store wrote to the chunk; 0 for a chunk that was written for
 *     the table
 * @param owner the shard for which the file was written, whose directory has it; null if that is
 *     the shard that names the file. Changes that were written for a shard keep their files when
 *     another shard has taken its place
 */
public record ChunkFile(
    UUID id,
    long bytes,
    long storeChunk,
    long storeRecords,
    @Nullable UUID owner) implements Serializable {
  /** Stands for the number of a chunk that no store wrote. */
  public static final long NOT_OF_A_STORE = -1;

  /** Names a chunk in the directory of the shard that names the file. */
  public ChunkFile(UUID id, long bytes, long storeChunk, long storeRecords) {
    this(id, bytes, storeChunk, storeRecords, null);
  }

  /** Returns a chunk that was written for a table. */
  public static ChunkFile of(UUID id, long bytes) {
    return new ChunkFile(id, bytes, NOT_OF_A_STORE, 0);
  }

  /** Returns the shard for which the file was written. */
  public UUID ownerIn(ShardSummary shard) {
    return owner == null ? shard.id() : owner;
  }

  /**
   * Returns this chunk of a shard as another shard names it.
   *
   * @throws IllegalArgumentException if a store wrote the chunk, which no other shard can name
   */
  public ChunkFile movedTo(ShardSummary to, ShardSummary from) {
    if (isOfStore() && !to.id().equals(from.id())) {
      throw new IllegalArgumentException("chunk " + id + " of shard " + from.id()
          + " was written by a store, so that no other shard can name it");
    }
    UUID now = ownerIn(from);
    return withOwner(now.equals(to.id()) ? null : now);
  }

  private ChunkFile withOwner(@Nullable UUID newOwner) {
    return Objects.equals(newOwner, owner)
        ? this
        : new ChunkFile(id, bytes, storeChunk, storeRecords, newOwner);
  }

  /**
   * Tells whether a store wrote the file. Such a file has the header of a chunk of a store, and may
   * have dead bytes.
   */
  public boolean isOfStore() {
    return storeChunk != NOT_OF_A_STORE;
  }

  /**
   * Returns how many records were written to the chunks of a shard: those that stores wrote, where
   * a changed record counts again with each change, or else the slots of the shard.
   *
   * @param slots slots of the shard
   */
  public static long writtenRecords(Iterable<ChunkFile> chunks, long slots) {
    boolean isOfStore = false;
    long written = 0;
    for (ChunkFile chunk : chunks) {
      isOfStore |= chunk.isOfStore();
      written += chunk.storeRecords;
    }
    return isOfStore ? written : slots;
  }

  /** Returns the name of the file within the owner's directory. */
  public String fileName() {
    return id + ".zr";
  }
}
