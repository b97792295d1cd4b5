package io.zrecord.internal.store.verify;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.CheckListener;
import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.store.Journal;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.rewrite.CommittedState;
import io.zrecord.internal.store.rewrite.StagedFiles;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.internal.verify.FileProblem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Checks one commit of a store that another process writes, or may begin to write. Copies of the
 * tables are checked, 20 bytes for each value, in the temporary directory of Java. For one run.
 */
final class CheckBesideWriter {
  /** Time for attempts, which end when a state was copied that no checkpoint disturbed. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Path path;
  private final LocalMutableFiles store;
  private final CheckListener listener;

  CheckBesideWriter(Path path, CheckListener listener) {
    this.path = path;
    this.store = new LocalMutableFiles(path);
    this.listener = listener;
  }

  /**
   * Checks the store.
   *
   * @throws StorageException if the writer disturbed each attempt
   */
  CheckSummary run() {
    try (StagedFiles stage = StagedFiles.of("check", path)) {
      long start = System.nanoTime();
      do {
        Attempt attempt = new Attempt();
        if (attempt.isDone(stage.files())) {
          attempt.findings.forEach(listener::finding);
          return attempt.run.summary();
        }
      } while (System.nanoTime() - start < PATIENCE_NANOS);
      throw new StorageException(
          path.toString(),
          "Cannot check " + path + ": its writer made a checkpoint, or rewrote the store, during"
              + " each attempt. Check a copy that 'zrecord backup' made, or close the store");
    }
  }

  /**
   * One attempt, whose findings are told when they are of the store, and of no change meanwhile.
   */
  private final class Attempt implements CheckListener {
    private final List<Finding> findings = new ArrayList<>();
    private final CheckRun run = new CheckRun(this);

    @Override
    public void finding(Finding finding) {
      findings.add(finding);
    }

    @Override
    public void progress(long doneBytes, long totalBytes) {
      listener.progress(doneBytes, totalBytes);
    }

    boolean isDone(LocalMutableFiles staged) {
      try (CommittedState state = new CommittedState(path, staged)) {
        try {
          state.copyTables();
          if (!state.isOfOneCheckpoint()) {
            return false;
          }
        } catch (ZRecordException e) {
          // If the journal was emptied or a writer came meanwhile, anything may have been read.
          return state.isUndisturbed() && isFound(e);
        }
        new StoreCheck(run, new CommittedFiles(store, staged, state)).check();
        // Chunks stay as long as the store is not rewritten.
        return findings.isEmpty() || areChunksThere(state);
      } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
        // A meta file is replaced as a whole, so that no writer disturbs who reads it.
        return isFound(e);
      }
    }

    /** Reports the failure of a file without which the others cannot be checked. */
    private boolean isFound(ZRecordException e) {
      run.found(kindOf(e.resource()), e.resource(), FileProblem.of(e));
      run.found(
          Finding.Kind.NOTE,
          path.toString(),
          "the rest can be checked when the writer has closed the store");
      return true;
    }

    private static Finding.Kind kindOf(String file) {
      String name = file.substring(file.lastIndexOf('/') + 1);
      return switch (name) {
        case Journal.FILE_NAME -> Finding.Kind.JOURNAL;
        case LiveState.FILE_NAME -> Finding.Kind.LIVE;
        case ShardMeta.FILE_NAME -> Finding.Kind.META;
        default -> name.endsWith(".zr") ? Finding.Kind.CHUNK : Finding.Kind.ENTRY_FILE;
      };
    }

    private boolean areChunksThere(CommittedState state) {
      return StoreMetaFile.read(store).shard().fields().stream()
          .map(field -> field.stem())
          .toList()
          .equals(
              state.meta().shard().fields().stream().map(field -> field.stem()).toList());
    }
  }
}
