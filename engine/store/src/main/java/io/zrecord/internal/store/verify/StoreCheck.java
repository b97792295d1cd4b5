package io.zrecord.internal.store.verify;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.StoreLeftovers;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.internal.verify.ChunkFiles;
import io.zrecord.internal.verify.EntriesCheck;
import io.zrecord.internal.verify.EntryBlock;
import io.zrecord.internal.verify.FileProblem;
import io.zrecord.internal.verify.ValueCheck;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Checks a store (FORMAT.md section 9) that no writer has open. The caller holds the store's lock.
 * Reads the journal over the tables, as opening the store would, and changes nothing. Belongs to
 * one thread.
 */
public final class StoreCheck {
  private final CheckRun run;
  private final MutableFiles files;

  public StoreCheck(CheckRun run, MutableFiles files) {
    this.run = run;
    this.files = files;
  }

  /**
   * Checks the store and returns the checked state; empty if the meta file is damaged, without
   * which the rest cannot be checked.
   */
  public Optional<StoreState> check() {
    StoreState state;
    try {
      state = StoreState.read(files);
    } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
      run.found(Kind.META, files.pathOf(ShardMeta.FILE_NAME), FileProblem.of(e));
      return Optional.empty();
    }
    reportJournal(state.journal());
    if (WriterToken.isOfCopy(files)) {
      run.found(
          Kind.LIVE,
          files.location(),
          "its files were copied while a writer had the store open, and may be of different moments; repairing accepts that");
    }
    long bytes =
        state.meta().shard().fields().stream().mapToLong(FieldMeta::valueBytes).sum();
    run.expect(bytes);
    run.beginPart(state.journal().length(), bytes);
    try (ChunkFiles chunks = chunks(state)) {
      chunks.check(run);
      reportLeftovers(state);
      if (state.journal().overlay().isEmpty()) {
        checkFields(state, chunks, (field, first, count, block) -> {});
      } else {
        try (MutableFile journal = files.open(JournalRecord.FILE_NAME, false)) {
          checkFields(state, chunks, state.journal().overlay().of(journal));
        }
      }
    }
    run.endPart();
    new LiveCheck(run, files).check(state);
    return Optional.of(state);
  }

  private ChunkFiles chunks(StoreState state) {
    UUID storeId = state.meta().shard().id();
    List<ChunkFiles.Chunk> chunks = state.chunks().stream()
        .map(chunk -> new ChunkFiles.Chunk(
            chunk.id(),
            chunk.fileName(),
            chunk.endBytes(),
            header ->
                new ChunkHeader(chunk.id(), storeId).check(files.pathOf(chunk.fileName()), header)))
        .toList();
    return new ChunkFiles(
        files, chunks, new CarriedOverlay(files, state.journal().carried()));
  }

  private void checkFields(StoreState state, ChunkFiles chunks, JournalOverlay.OfFields overlay) {
    ShardMeta shard = state.meta().shard();
    for (int i = 0; i < shard.fields().size(); i++) {
      FieldMeta field = shard.fields().get(i);
      int ordinal = i;
      try (EntryFiles entries = new EntryFiles(files, "", field, true);
          ValueCheck values = new ValueCheck(shard.id(), field.spec(), true, chunks, run.scratch)) {
        entries.check(run, shard.length());
        EntriesCheck.Amount amount =
            new EntriesCheck.Amount(field.absentCount(), field.valueBytes());
        EntriesCheck check = new EntriesCheck(run, field.spec(), amount, 0);
        check.check(
            entries,
            state.journal().length(),
            new EntriesCheck.Overlay() {
              @Override
              public long next(long index) {
                return state.journal().overlay().next(index);
              }

              @Override
              public void apply(long first, int count, EntryBlock block) {
                overlay.apply(ordinal, first, count, block);
              }
            },
            values);
        if (state.isCheckpointed()) {
          check.compareSums(files.pathOf(ShardMeta.FILE_NAME));
        }
      }
    }
  }

  private void reportJournal(JournalScan journal) {
    String path = files.pathOf(JournalRecord.FILE_NAME);
    switch (journal.header()) {
      case SOUND -> {}
      case DAMAGED -> run.found(Kind.JOURNAL, path, "its header is damaged");
      case FOREIGN -> run.found(Kind.JOURNAL, path, "it is the journal of another store");
      case MISSING -> run.found(Kind.JOURNAL, path, "there is no such file");
    }
    JournalScan.Damage damage = journal.damage();
    if (damage != null) {
      run.found(
          Kind.JOURNAL,
          path,
          "record " + damage.firstSequence() + " at byte " + damage.atByte() + ": "
              + damage.problem() + ", but it was safe when later ones were written, up to record "
              + damage.lastSequence());
    } else if (journal.tornBytes() > 0) {
      run.found(
          Kind.NOTE,
          path,
          journal.tornBytes()
              + " bytes at the end are of a commit that was not finished; opening drops them");
    }
  }

  private void reportLeftovers(StoreState state) {
    for (String name : StoreLeftovers.of(files, state.meta().shard().fields(), state.chunks())) {
      run.found(
          Kind.ORPHAN,
          files.pathOf(name),
          "no commit names it; it is of a writer or a rebalance that was killed. Opening the store for writing deletes it, unless the rest of a damaged journal is kept beside it or an entry points into it");
    }
  }
}
