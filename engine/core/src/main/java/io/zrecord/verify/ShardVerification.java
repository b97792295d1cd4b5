package io.zrecord.verify;

import io.zrecord.errors.MissingFileException;
import io.zrecord.findings.CheckListener;
import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.io.StorageFiles;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.internal.verify.FileProblem;
import io.zrecord.internal.verify.SealedShardCheck;
import io.zrecord.internal.verify.SealedShardCheck.Depth;
import io.zrecord.internal.verify.ShardNeed;
import io.zrecord.internal.verify.ShardRole;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;

/**
 * The check of one shard of a table: a part of {@link DatasetCheck#withoutShards} that may run
 * anywhere. The fields are not part of this object, because many shards share the same fields.
 * Immutable.
 */
public final class ShardVerification implements Serializable {
  private static final long serialVersionUID = 3L;

  private final String table;
  private final ShardNeed.Source source;
  private final ShardSummary shard;
  private final long firstIndex;
  private final Depth depth;
  private final ShardRole role;
  private final List<Integer> partitions;

  /**
   * Creates the check of a shard.
   *
   * @param source a version that names the shard
   * @param firstIndex index of the shard's first record in that version
   * @param partitions ids of the partition fields of that version
   */
  ShardVerification(
      String table,
      ShardNeed.Source source,
      ShardSummary shard,
      long firstIndex,
      Depth depth,
      ShardRole role,
      List<Integer> partitions) {
    this.table = table;
    this.source = source;
    this.shard = shard;
    this.firstIndex = firstIndex;
    this.depth = depth;
    this.role = role;
    this.partitions = List.copyOf(partitions);
  }

  /** Returns the shard as a manifest names it. */
  public ShardSummary shard() {
    return shard;
  }

  /** Checks the shard of a table on a local file system, as the other method does. */
  public CheckSummary run(RecordSchema schema, CheckListener listener) {
    return run(LocalStorage.at(Path.of(table)), schema, listener);
  }

  /**
   * Checks the shard. Findings, missing files included, go to the listener. There are no findings
   * of damage if no version names the shard any more.
   *
   * @param storage the table
   * @param schema the fields that came with this check
   * @throws io.zrecord.errors.FileUnavailableException if a file cannot be read for a reason other
   *     than its content
   * @throws io.zrecord.errors.UnsupportedFormatException if a file is of a later format
   * @throws io.zrecord.errors.StorageException if the table is not visible here
   */
  public CheckSummary run(Storage storage, RecordSchema schema, CheckListener listener) {
    CheckRun run = new CheckRun(listener);
    run(storage, schema, run);
    return run.summary();
  }

  void run(Storage storage, RecordSchema schema, CheckRun run) {
    run.beginShard(new ShardNeed(storage, shard, source), role);
    if (depth == Depth.VALUES) {
      run.beginPart(role == ShardRole.RECORDS ? shard.length() : 0, valueBytes());
    }
    try {
      new SealedShardCheck(run, files(storage), depth).check(shard, schema, firstIndex);
    } catch (MissingFileException e) {
      // The file existed a moment ago.
      run.found(Kind.META, e.resource(), FileProblem.of(e));
    }
    if (depth == Depth.VALUES) {
      new PartitionValuesCheck(run, storage).check(shard, schema, partitions, firstIndex);
      new StatisticsCheck(run, storage).check(shard, schema);
      run.endPart();
    }
    if (depth == Depth.VALUES && role == ShardRole.INDEX_MAP) {
      new IndexMapCheck(run, storage).check(source.version());
    }
    run.endShard();
  }

  /** A local file that cannot be read says more by itself than by a storage. */
  private static MutableFiles files(Storage storage) {
    return storage instanceof LocalStorage
        ? new LocalMutableFiles(Path.of(storage.location()))
        : new StorageFiles(storage);
  }

  /** Returns the stored bytes of the shard's values that this check reads. */
  long valueBytes() {
    return depth == Depth.FILES
        ? 0
        : shard.valueBytes().values().stream().mapToLong(Long::longValue).sum();
  }
}
