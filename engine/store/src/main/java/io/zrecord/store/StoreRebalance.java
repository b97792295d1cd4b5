package io.zrecord.store;

import io.zrecord.DatasetKind;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.internal.dataset.RewriteSpace;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.StoreUsage;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.rewrite.StoreRewrite;
import io.zrecord.internal.store.write.StoreLimits;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.StoreRebalancePlan.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * Rebalances a store that no writer has open. The records are written to full chunks in the order
 * of their indices, next to the old files, and one atomic step replaces the old files by the new
 * ones. The record that an index names never changes. Readers in other processes continue, and
 * follow with their next batch; snapshots keep the old chunks. If the rebalance is cut short at any
 * moment, the store is either the old or the new one.
 *
 * <pre>{@code
 * StoreRebalanceResult result = StoreRebalance.of(path, StoreRebalanceOptions.defaults()).run();
 * }</pre>
 */
public final class StoreRebalance {
  private static final int MAX_LANES = 4;
  private static final long CHECKPOINT_BYTES = 64L << 20;
  private static final Duration CLOSE_TIMEOUT = Duration.ofMinutes(1);

  private final Path path;
  private final MutableFiles files;
  private final StoreRebalanceOptions options;
  private LongConsumer onBytes = bytes -> {};

  private StoreRebalance(Path path, StoreRebalanceOptions options) {
    this.path = path;
    this.files = new LocalMutableFiles(path);
    this.options = options;
  }

  /**
   * Returns a rebalance of a store.
   *
   * @throws NotADatasetException if there is no store
   */
  public static StoreRebalance of(Path store, StoreRebalanceOptions options) {
    if (DatasetKind.of(LocalStorage.at(store)) != DatasetKind.STORE) {
      throw new NotADatasetException(
          store.toString(),
          "Cannot rebalance " + store
              + ": it has neither meta.json nor journal, so it is not a store. For a table use"
              + " TableRebalance");
    }
    return new StoreRebalance(store, options);
  }

  /** Sets a listener that takes the stored bytes of values rewritten so far. */
  public StoreRebalance onBytes(LongConsumer listener) {
    onBytes = listener;
    return this;
  }

  /**
   * Returns what a run would do. Changes nothing, and works while a writer has the store open.
   *
   * @throws IllegalArgumentException if a compression is asked for a field that does not exist
   */
  public StoreRebalancePlan plan() {
    return plan(StoreMetaFile.read(files));
  }

  private StoreRebalancePlan plan(StoreMeta meta) {
    StoreUsage usage = StoreUsage.of(files, meta);
    Set<Reason> reasons = EnumSet.noneOf(Reason.class);
    if (usage.utilization() < options.minUtilization()) {
      reasons.add(Reason.SPARSE);
    }
    long neededChunks = 1
        + Math.max(
            usage.paddedBytes() / options.chunkBytes(), usage.records() / meta.chunkRecords());
    if (usage.chunkCount() > 2 * neededChunks + MAX_LANES) {
      reasons.add(Reason.SMALL_CHUNKS);
    }
    List<FieldSpec> wanted = wantedFields(meta);
    for (int i = 0; i < wanted.size(); i++) {
      Compression stored = meta.shard().fields().get(i).spec().compression();
      if (wanted.get(i).compression().codec() != stored.codec()) {
        reasons.add(Reason.COMPRESSION);
      }
    }
    return new StoreRebalancePlan(
        reasons,
        usage.records(),
        usage.valueBytes(),
        usage.utilization(),
        usage.chunkBytes(),
        usage.chunkCount(),
        usage.scatteredValues(),
        usage.rewrittenBytes(wanted.size(), options.chunkBytes()));
  }

  private List<FieldSpec> wantedFields(StoreMeta meta) {
    List<FieldSpec> fields = meta.shard().fields().stream().map(FieldMeta::spec).toList();
    RecordSchema schema = new RecordSchema(fields);
    options.compression().keySet().forEach(schema::ordinal);
    return fields.stream()
        .map(field -> field.withCompression(
            options.compression().getOrDefault(field.name(), field.compression())))
        .toList();
  }

  /**
   * Rewrites the store if that is worthwhile. Commits of a killed writer are recovered first.
   *
   * @throws io.zrecord.errors.StoreLockedException if a writer has the store open; the message
   *     names the writer
   * @throws io.zrecord.errors.DiskFullException if there is not enough space; the store is as it
   *     was
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged; the store is as it was
   * @throws IllegalArgumentException if a compression is asked for a field that does not exist
   * @throws io.zrecord.errors.StorageException if a journal cut off by a repair is present, which
   *     may name old chunks and must be deleted first; or after any other failure, which leaves the
   *     old or the new store, with the same records
   */
  public StoreRebalanceResult run() {
    try (ProcessLock lock = ProcessLock.acquire(path)) {
      WriterToken writer = recover();
      StoreMeta meta = StoreMetaFile.read(files);
      Optional<StoreRewrite> rewrite = Optional.empty();
      try {
        lock.setReady();
        StoreRebalancePlan plan = plan(meta);
        if (!plan.isWorthwhile()) {
          return new StoreRebalanceResult(plan, plan.chunkBytes(), plan.chunks());
        }
        RewriteSpace.STORE.require(files.location(), plan.neededBytes(), files.usableBytes());
        rewrite = Optional.of(new StoreRewrite(
            files,
            writer,
            wantedFields(meta),
            new StoreRewrite.Layout(options.chunkBytes(), (int) options.stripeBytes()),
            onBytes));
        ShardMeta written = rewrite.get().run().shard();
        return new StoreRebalanceResult(
            plan,
            written.chunks().stream().mapToLong(ChunkMeta::endBytes).sum(),
            written.chunks().size());
      } finally {
        if (rewrite.isEmpty() || rewrite.get().isAtRest()) {
          LiveState.close(files, meta.shard().id(), writer);
        }
      }
    }
  }

  private WriterToken recover() {
    StoreMeta meta = StoreMetaFile.read(files);
    StoreLimits limits = new StoreLimits(
        true,
        meta.chunkRecords(),
        meta.shard().chunkBytes(),
        MAX_LANES,
        CHECKPOINT_BYTES,
        CLOSE_TIMEOUT);
    return StoreRecovery.open(files, limits).closeForChange();
  }
}
