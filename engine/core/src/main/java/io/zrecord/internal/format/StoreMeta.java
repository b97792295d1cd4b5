package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The meta file of a store: its state at the last checkpoint (FORMAT.md section 9).
 *
 * @param shard length, closed chunks and fields
 * @param unfull chunks that are still being written, with their published ends
 * @param chunkRecords records at which a chunk is closed
 * @param sequence number of the last journal record that the tables contain
 */
public record StoreMeta(ShardMeta shard, List<ChunkMeta> unfull, long chunkRecords, long sequence) {
  public StoreMeta {
    unfull = List.copyOf(unfull);
  }

  /** Returns the sealed file. */
  public byte[] write() {
    ObjectNode node = shard.toJson(unfull);
    ((ObjectNode) node.get("chunks")).put("size", chunkRecords);
    node.put(ShardMeta.STORE_SEQUENCE, sequence);
    return SealedJson.seal(node);
  }

  /**
   * Returns the sealed file after reading it back, so that it can replace a readable one.
   *
   * @param resource the file, for messages
   * @throws StorageException if readers would refuse the file
   */
  public byte[] writeReadable(String resource) {
    byte[] file = write();
    try {
      read(resource, file);
    } catch (ZRecordException e) {
      throw new StorageException(
          resource,
          "Cannot write " + resource + " of " + file.length
              + " bytes, for readers would refuse it: " + e.getMessage()
              + ". What is committed stays in the journal",
          e);
    }
    return file;
  }

  /** Tells whether a file is the meta file of a store. A damaged file is none. */
  public static boolean isStore(String resource, byte[] file) {
    try {
      return SealedJson.open(resource, file).has(ShardMeta.STORE_SEQUENCE);
    } catch (CorruptDataException e) {
      return false;
    }
  }

  /**
   * Reads a meta file.
   *
   * @param resource the file, for messages
   * @throws io.zrecord.errors.CorruptDataException if the file is damaged
   * @throws io.zrecord.errors.UnsupportedFormatException if a newer release wrote the file
   */
  public static StoreMeta read(String resource, byte[] file) {
    JsonObject json = SealedJson.open(resource, file).requireFormat();
    ShardMeta shard = ShardMeta.read(json);
    Set<Integer> ids = new HashSet<>();
    for (ChunkMeta chunk : shard.chunks()) {
      ids.add(chunk.id());
    }
    JsonObject chunksJson = json.object("chunks");
    List<ChunkMeta> unfull = new ArrayList<>();
    for (long[] tuple : chunksJson.tuples("unfull", 3)) {
      if (tuple[0] > ShardMeta.MAX_CHUNK_ID
          || tuple[1] < ChunkHeader.BYTES
          || !ids.add((int) tuple[0])) {
        throw json.corrupt("unfull chunk " + tuple[0] + " of " + tuple[1]
            + " bytes appears twice, has an id beyond " + ShardMeta.MAX_CHUNK_ID
            + " or is shorter than its header");
      }
      unfull.add(new ChunkMeta((int) tuple[0], tuple[2], tuple[1]));
    }
    return new StoreMeta(
        shard,
        unfull,
        chunksJson.integer("size", 1, Long.MAX_VALUE),
        json.integer(ShardMeta.STORE_SEQUENCE, 0, Long.MAX_VALUE));
  }
}
