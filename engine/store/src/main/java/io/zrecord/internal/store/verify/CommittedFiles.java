package io.zrecord.internal.store.verify;

import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.rewrite.CommittedState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The files of a store as of one commit, while a writer goes on: chunks are those of the store, and
 * what a writer changes in place is in copies. Only read. Belongs to one thread.
 */
final class CommittedFiles implements MutableFiles {
  private final LocalMutableFiles store;
  private final LocalMutableFiles staged;
  private final Set<String> copied = new HashSet<>();
  private final Set<String> chunks = new HashSet<>();

  /**
   * Writes the copies that the state lacks.
   *
   * @param state its tables are copied
   * @param staged has the tables of the state
   */
  CommittedFiles(LocalMutableFiles store, LocalMutableFiles staged, CommittedState state) {
    this.store = store;
    this.staged = staged;
    List<ChunkMeta> unfull = List.copyOf(state.chunks());
    unfull.forEach(chunk -> chunks.add(chunk.fileName()));
    List<FieldMeta> fields = state.fields();
    fields.forEach(field -> copied.addAll(EntryTable.fileNames(field.stem())));
    ShardMeta shard = state.meta().shard();
    put(JournalRecord.FILE_NAME, new JournalHeader(shard.id()).encode());
    put(LiveState.FILE_NAME, LiveState.atRest(shard.id(), state.length(), state.sequence()));
    put(
        ShardMeta.FILE_NAME,
        new StoreMeta(
                new ShardMeta(
                    shard.id(), state.length(), true, shard.chunkBytes(), List.of(), fields),
                unfull,
                state.meta().chunkRecords(),
                state.sequence())
            .write());
  }

  private void put(String name, byte[] content) {
    staged.replace(name, content);
    copied.add(name);
  }

  private LocalMutableFiles of(String name) {
    return copied.contains(name) ? staged : store;
  }

  @Override
  public String location() {
    return store.location();
  }

  @Override
  public boolean exists(String name) {
    return of(name).exists(name);
  }

  @Override
  public Optional<String> identityOf(String name) {
    return store.identityOf(name);
  }

  /** Returns no file that a writer has not committed yet: it is nothing that was left over. */
  @Override
  public List<String> list(String directory) {
    if (directory.equals("chunk")) {
      return chunks.stream().map(name -> name.substring(name.indexOf('/') + 1)).toList();
    }
    List<String> names = new ArrayList<>();
    for (String name : store.list(directory)) {
      if (copied.contains(name) || !(name.endsWith(".offset") || name.endsWith(".crc32c"))) {
        names.add(name);
      }
    }
    return names;
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return of(name).read(name, maxBytes);
  }

  @Override
  public MutableFile open(String name, boolean writable) {
    if (writable) {
      throw readOnly();
    }
    return of(name).open(name, false);
  }

  @Override
  public MutableFile create(String name) {
    throw readOnly();
  }

  @Override
  public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
    throw readOnly();
  }

  @Override
  public void dropReplacements() {
    throw readOnly();
  }

  @Override
  public void forceDirectory(String directory) {
    throw readOnly();
  }

  @Override
  public void delete(String name) {
    throw readOnly();
  }

  @Override
  public void delete(List<String> names, Runnable lastCheck) {
    throw readOnly();
  }

  private static UnsupportedOperationException readOnly() {
    return new UnsupportedOperationException("These files are only read");
  }
}
