package io.zrecord.verify;

import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.LocalStorage;
import io.zrecord.verify.Finding.Kind;
import io.zrecord.verify.SealedShardCheck.Depth;
import java.io.Serializable;
import java.nio.file.Path;

/**
 * The check of one shard of a table, as a part of {@link DatasetCheck#withoutShards} that may be done anywhere. It takes the fields from
 * whoever runs it: many shards have the same ones. Immutable.
 */
public final class ShardVerification implements Serializable {
  private static final long serialVersionUID = 3L;

  private final String table;
  private final ShardNeed.Source source;
  private final ShardSummary shard;
  private final long firstIndex;
  private final Depth depth;
  private final Role role;

  /** What the shard is for. */
  enum Role {
    /** It holds records of the table. */
    RECORDS,
    /** It is the index map of its version. */
    INDEX_MAP
  }

  /**
   * The check of a shard.
   *
   * @param source a version that names it
   * @param firstIndex index of its first record in that version
   */
  ShardVerification(
      String table,
      ShardNeed.Source source,
      ShardSummary shard,
      long firstIndex,
      Depth depth,
      Role role) {
    this.table = table;
    this.source = source;
    this.shard = shard;
    this.firstIndex = firstIndex;
    this.depth = depth;
    this.role = role;
  }

  /** The shard as a manifest names it. */
  public ShardSummary shard() {
    return shard;
  }

  /**
   * Checks the shard. What is wrong with it goes to the listener, also that files are missing. If no version names the shard any more by
   * then, nothing of it is wrong.
   *
   * @param schema the fields that came with it
   * @throws io.zrecord.errors.FileUnavailableException if a file cannot be read for another reason than its content
   * @throws io.zrecord.errors.UnsupportedFormatException if a file is of a later format
   * @throws io.zrecord.errors.StorageException if the table cannot be seen here
   */
  public CheckSummary run(RecordSchema schema, CheckListener listener) {
    CheckRun run = new CheckRun(listener);
    run(schema, run, new LocalMutableFiles(Path.of(table)));
    return run.summary();
  }

  void run(RecordSchema schema, CheckRun run, MutableFiles files) {
    run.beginShard(new ShardNeed(LocalStorage.at(Path.of(table)), shard, source), role);
    if (depth == Depth.VALUES) {
      run.beginPart(role == Role.RECORDS ? shard.length() : 0, valueBytes());
    }
    try {
      new SealedShardCheck(run, files, depth).check(shard, schema, firstIndex);
    } catch (MissingFileException e) {
      // It was there a moment ago.
      run.found(Kind.META, e.resource(), FileProblem.of(e));
    }
    if (depth == Depth.VALUES) {
      run.endPart();
    }
    if (depth == Depth.VALUES && role == Role.INDEX_MAP) {
      new IndexMapCheck(run, LocalStorage.at(Path.of(table))).check(source.version());
    }
    run.endShard();
  }

  /** Stored bytes of its values that are looked at. */
  long valueBytes() {
    return depth == Depth.FILES
        ? 0
        : shard.valueBytes().values().stream().mapToLong(Long::longValue).sum();
  }
}
