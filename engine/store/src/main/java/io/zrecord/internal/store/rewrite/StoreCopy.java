package io.zrecord.internal.store.rewrite;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.store.Journal;
import io.zrecord.internal.store.LiveState;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Copies one committed state of a store to another place while a writer continues. The copy is a
 * store that was closed. Its meta file comes last, so that a copy that was cut short is none.
 */
public final class StoreCopy {
  /** A checkpoint during the copy of the tables, or a rebalance, makes it begin again. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final int PIECE_BYTES = 1 << 20;

  /** A file that only one copy can publish. It goes before the copy becomes a store. */
  private static final String CLAIM = "copying";

  private static final String CHUNKS = "chunk";

  private final LocalMutableFiles store;
  private final Storage target;

  /** The names of the files of the copy that are there. */
  private final Set<String> made = new LinkedHashSet<>();

  private final ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);

  /** Whether the claim that is there is that of this copy. */
  private boolean isClaimed;

  private StoreCopy(Path store, Storage target) {
    this.store = new LocalMutableFiles(store);
    this.target = target;
  }

  /**
   * Copies a store.
   *
   * @param target an empty or new directory of any storage
   * @return the number of records of the copy
   * @throws DatasetExistsException if the target has other content
   */
  public static long write(Path store, Storage target) {
    try (StagedFiles stage = StagedFiles.of("copy", store)) {
      StoreCopy copy = new StoreCopy(store, target);
      try {
        copy.claim(store);
        return copy.write(store, stage.files());
      } catch (RuntimeException | Error e) {
        Closing.after(e, () -> copy.clear(true));
        throw e;
      }
    }
  }

  /**
   * Takes the target. A store's files have fixed names, so another copy would delete them. The
   * directory is listed when it is taken: another copy may have ended just before.
   */
  private void claim(Path path) {
    isClaimed = target.publish(CLAIM, path.toString().getBytes(StandardCharsets.UTF_8));
    if (isClaimed && target.list("").stream().allMatch(file -> file.name().equals(CLAIM))) {
      return;
    }
    throw new DatasetExistsException(
        target.location(),
        "Cannot copy " + path + " to " + target.location()
            + ": the directory has other content, or another copy is being made there; choose an"
            + " empty directory");
  }

  private long write(Path path, LocalMutableFiles staged) {
    long start = System.nanoTime();
    while (true) {
      try (CommittedState state = new CommittedState(path, staged)) {
        if (isCopied(state)) {
          try {
            write(state, staged);
            return state.length();
          } catch (MissingFileException e) {
            // A rebalance deletes the chunks that it replaced.
            if (state.isOfOneCheckpoint(e)) {
              throw e;
            }
            clear(false);
          }
        }
      }
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new StorageException(
            path.toString(),
            "Cannot copy " + path + ": it was checkpointed or rebalanced during each attempt. Write"
                + " less, or with a larger checkpointBytes");
      }
    }
  }

  /** Copies the tables, and tells whether the copy is of one state. */
  private static boolean isCopied(CommittedState state) {
    try {
      state.copyTables();
      return state.isOfOneCheckpoint();
    } catch (ZRecordException e) {
      // If the journal was emptied or a writer came meanwhile, anything may have been read.
      if (state.isUndisturbed(e)) {
        throw e;
      }
      return false;
    }
  }

  /**
   * Removes what was copied, and nothing that another program has put there meanwhile. The claim
   * goes last: as soon as the files and the claim are gone, another copy may take the target.
   */
  private void clear(boolean withClaim) {
    List<AutoCloseable> deletions = new ArrayList<>();
    List<String> names = new ArrayList<>(made);
    // The meta file, which names the others, comes last when they are made.
    Collections.reverse(names);
    for (String name : names) {
      deletions.add(() -> {
        target.delete(name);
        made.remove(name);
      });
    }
    if (!names.isEmpty()) {
      deletions.add(() -> {
        if (target.list(CHUNKS).isEmpty()) {
          target.delete(CHUNKS);
        }
      });
    }
    if (withClaim && isClaimed) {
      deletions.add(() -> target.delete(CLAIM));
    }
    Closing.all(deletions);
  }

  private WritableFile create(String name) {
    WritableFile file = target.create(name);
    made.add(name);
    return file;
  }

  private void write(CommittedState state, LocalMutableFiles staged) {
    List<ChunkMeta> chunks = new ArrayList<>();
    for (ChunkMeta chunk : state.chunks()) {
      copyChunk(chunk, state.carried(chunk));
      chunks.add(chunk);
    }
    for (FieldMeta field : state.meta().shard().fields()) {
      copy(staged, field.stem() + ".offset", state.length() * Entry.BYTES);
      copy(staged, field.stem() + ".crc32c", state.length() * Integer.BYTES);
    }
    ShardMeta old = state.meta().shard();
    put(Journal.FILE_NAME, new JournalHeader(old.id()).encode());
    put(LiveState.FILE_NAME, LiveState.atRest(old.id(), state.length(), state.sequence()));
    target.forceDirectory(CHUNKS);
    target.forceDirectory("");
    byte[] meta = new StoreMeta(
            new ShardMeta(old.id(), state.length(), true, old.chunkBytes(), chunks, state.fields()),
            List.of(),
            state.meta().chunkRecords(),
            state.sequence())
        .writeReadable(target.pathOf(ShardMeta.FILE_NAME));
    target.delete(CLAIM);
    isClaimed = false;
    // If the outcome is unknown, a meta file that is there is that of this copy.
    made.add(ShardMeta.FILE_NAME);
    if (!target.publish(ShardMeta.FILE_NAME, meta)) {
      made.remove(ShardMeta.FILE_NAME);
      throw new DatasetExistsException(
          target.location(),
          "Cannot copy to " + target.location()
              + ": another copy was made there at the same time; choose an empty directory");
    }
  }

  private void copyChunk(ChunkMeta chunk, List<JournalChunk> missing) {
    try (MutableFile from = store.open(chunk.fileName(), false);
        WritableFile to = create(chunk.fileName())) {
      for (long at = 0; at < chunk.endBytes(); ) {
        int wanted = (int) Math.min(PIECE_BYTES, chunk.endBytes() - at);
        piece.clear().limit(wanted);
        int read = from.read(at, piece);
        for (JournalChunk carrying : missing) {
          if (carrying.carriedFrom() > at + read && carrying.carriedFrom() < at + wanted) {
            String path = store.pathOf(Journal.FILE_NAME);
            throw new CorruptDataException(
                path, "Cannot read " + path + ": " + carrying.gapAfter(at + read));
          }
          read = Math.max(read, putCarried(carrying, at, wanted));
        }
        if (read < wanted) {
          throw tooShort(from, at + read, chunk.endBytes());
        }
        to.write(piece.position(0).limit(wanted));
        at += wanted;
      }
      end(to);
    }
  }

  /** Puts what the journal carries into the piece, and returns the end of it in the piece. */
  private int putCarried(JournalChunk carrying, long at, int wanted) {
    ByteBuffer bytes = carrying.carried();
    long first = Math.max(at, carrying.carriedFrom());
    long end = Math.min(at + wanted, carrying.carriedFrom() + bytes.remaining());
    if (first >= end) {
      return 0;
    }
    piece.put(
        (int) (first - at), bytes, bytes.position() + (int) (first - carrying.carriedFrom()), (int)
            (end - first));
    return (int) (end - at);
  }

  private void copy(LocalMutableFiles staged, String name, long bytes) {
    try (MutableFile from = staged.open(name, false);
        WritableFile to = create(name)) {
      for (long at = 0; at < bytes; ) {
        int wanted = (int) Math.min(PIECE_BYTES, bytes - at);
        piece.clear().limit(wanted);
        int read = from.read(at, piece);
        if (read < wanted) {
          throw tooShort(from, at + read, bytes);
        }
        to.write(piece.flip());
        at += wanted;
      }
      end(to);
    }
  }

  private void put(String name, byte[] content) {
    try (WritableFile to = create(name)) {
      to.write(ByteBuffer.wrap(content));
      end(to);
    }
  }

  private static void end(WritableFile file) {
    file.force();
    file.finish();
  }

  private static TruncatedFileException tooShort(MutableFile file, long found, long expected) {
    return new TruncatedFileException(
        file.path(),
        "Cannot copy " + file.path() + ": it has " + found + " bytes, but " + expected
            + " were published. It was cut; restore it from a copy");
  }
}
