package io.zrecord.internal.store.verify;

import io.zrecord.DatasetKind;
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
    CheckRun run = new CheckRun(listener);
    ProcessLock lock = ProcessLock.acquire(path);
    try {
      new StoreCheck(run, new LocalMutableFiles(path)).check();
    } finally {
      lock.close();
    }
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
