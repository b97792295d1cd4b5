package io.zrecord.internal.store.verify;

import io.zrecord.DatasetKind;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.StoreLockedException;
import io.zrecord.findings.CheckListener;
import io.zrecord.findings.CheckSummary;
import io.zrecord.internal.dataset.StoreDirectory;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.storage.Storage;
import io.zrecord.verify.CheckProvider;
import io.zrecord.verify.DatasetSummary;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Checks and summarizes stores. Stateless. */
public final class StoreCheckProvider implements CheckProvider {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  @Override
  public CheckSummary check(Storage store, CheckListener listener) {
    Path path = StoreDirectory.of(store, "check");
    ProcessLock lock;
    try {
      lock = ProcessLock.acquire(path);
    } catch (StoreLockedException e) {
      if (ProcessLock.writer(path) != ProcessLock.Writer.READY) {
        throw e;
      }
      return new CheckBesideWriter(path, listener).run();
    } catch (FileUnavailableException e) {
      // The medium or the directory is read-only, so nothing can be locked.
      return switch (writer(path)) {
        case NONE -> check(path, listener);
        case READY -> new CheckBesideWriter(path, listener).run();
        default ->
          throw new StoreLockedException(
              path.toString(),
              "Cannot check " + path + ": another process is opening the store for writing; check"
                  + " it again later");
      };
    }
    try {
      return check(path, listener);
    } finally {
      lock.close();
    }
  }

  /** Looks for a writer, again for a while if one is recovering or another thread looks as well. */
  private static ProcessLock.Writer writer(Path path) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    ProcessLock.Writer writer = ProcessLock.writer(path);
    while (writer != ProcessLock.Writer.NONE
        && writer != ProcessLock.Writer.READY
        && System.nanoTime() < end) {
      LockSupport.parkNanos(PAUSE_NANOS);
      writer = ProcessLock.writer(path);
    }
    return writer;
  }

  private static CheckSummary check(Path path, CheckListener listener) {
    CheckRun run = new CheckRun(listener);
    new StoreCheck(run, new LocalMutableFiles(path)).check();
    return run.summary();
  }

  @Override
  public DatasetSummary summary(Storage store) {
    StoreState state =
        StoreState.read(new LocalMutableFiles(StoreDirectory.of(store, "summarize")));
    ShardMeta meta = state.meta().shard();
    List<ChunkMeta> chunks = state.chunks();
    return new DatasetSummary(
        DatasetKind.STORE,
        meta.schema(),
        stems(meta),
        state.journal().length(),
        1,
        chunks.size(),
        chunks.stream().mapToLong(ChunkMeta::recordCount).sum(),
        chunks.stream().mapToLong(ChunkMeta::endBytes).sum(),
        OptionalLong.of(meta.fields().stream().mapToLong(FieldMeta::valueBytes).sum()),
        state.journal().endBytes() - JournalHeader.BYTES,
        List.of(),
        Optional.empty());
  }

  private static Map<Integer, String> stems(ShardMeta meta) {
    Map<Integer, String> stems = new TreeMap<>();
    meta.fields().forEach(field -> stems.put(field.spec().id(), field.stem()));
    return stems;
  }
}
