package io.zrecord.changes;

import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.storage.Storage;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Says what a version changed. Immutable.
 *
 * @param version number of the version
 * @param timestamp time of its commit
 * @param operation what its commit did, as {@link io.zrecord.table.TableSnapshot#operation} says
 * @param shards the shards of which records were inserted, deleted or changed; empty if the version
 *     has the records of the version before
 */
public record VersionChanges(
    long version, Instant timestamp, String operation, List<ShardChanges> shards) {
  public VersionChanges {
    shards = List.copyOf(shards);
  }

  /**
   * Reads which records of each shard were inserted, deleted or changed, as
   * {@link ShardChanges#read} does, by requests side by side.
   *
   * @return in the order of {@link #shards}
   * @throws io.zrecord.errors.MissingFileException if a file is missing, as when the version before
   *     was expired and swept
   * @throws io.zrecord.errors.CorruptDataException if a file is damaged
   */
  public List<RecordChanges> read(Storage storage) {
    RecordChanges[] ofShards = new RecordChanges[shards.size()];
    Requests.forEach(
        storage,
        IntStream.range(0, ofShards.length).boxed().toList(),
        i -> ofShards[i] = shards.get(i).read(storage));
    return List.of(ofShards);
  }

  /**
   * Reads which inserted records are records that the version deleted elsewhere: those that a
   * change has moved to another partition. Reads the metadata of inserted shards, and patches of
   * shards from which records came. Takes some 200 bytes of memory for each record.
   *
   * @throws io.zrecord.errors.MissingFileException if a file is missing, as when the version before
   *     was expired and swept
   * @throws io.zrecord.errors.CorruptDataException if a file is damaged
   */
  public RecordMoves moves(Storage storage) {
    return operation.equals("merge") ? MovedPairs.of(storage, shards) : RecordMoves.NONE;
  }
}
