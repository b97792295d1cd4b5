package io.zrecord.verify;

import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.verify.SealedShardCheck.Depth;
import java.io.Serializable;
import java.nio.file.Path;

/** The check of one shard of a table, as a part of {@link DatasetCheck#withoutShards} that may be done anywhere. Immutable. */
public final class ShardVerification implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String table;
  private final ShardSummary shard;
  private final RecordSchema schema;
  private final long firstIndex;
  private final Depth depth;

  ShardVerification(
      String table, ShardSummary shard, RecordSchema schema, long firstIndex, Depth depth) {
    this.table = table;
    this.shard = shard;
    this.schema = schema;
    this.firstIndex = firstIndex;
    this.depth = depth;
  }

  /** The shard as a manifest names it. */
  public ShardSummary shard() {
    return shard;
  }

  /**
   * Checks the shard. What is wrong with it goes to the listener, also that files are missing.
   *
   * @throws io.zrecord.errors.StorageException if a file cannot be read for another reason than its content
   */
  public CheckSummary run(CheckListener listener) {
    CheckRun run = new CheckRun(listener);
    run(run, new LocalMutableFiles(Path.of(table)));
    return run.summary();
  }

  void run(CheckRun run, MutableFiles files) {
    if (depth == Depth.VALUES) {
      run.beginPart(shard.length(), valueBytes(shard));
    }
    new SealedShardCheck(run, files, depth).check(shard, schema, firstIndex);
    if (depth == Depth.VALUES) {
      run.endPart();
    }
  }

  static long valueBytes(ShardSummary shard) {
    return shard.valueBytes().values().stream().mapToLong(Long::longValue).sum();
  }
}
