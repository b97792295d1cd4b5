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

/** Checks and summarizes stores. Stateless. */
public final class StoreCheckProvider implements CheckProvider {
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
      return ProcessLock.writer(path) == ProcessLock.Writer.NONE
          ? check(path, listener)
          : new CheckBesideWriter(path, listener).run();
    }
    try {
      return check(path, listener);
    } finally {
      lock.close();
    }
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
