package io.zrecord.internal.store.rewrite;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreLeftovers;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * Writes the records of a store at rest to new chunks and tables next to the old ones. Replacing
 * the meta file, which names both, puts the new ones in place (FORMAT.md section 21). Before that
 * moment the store is the old one, and after it the new one. Files without a name are deleted, now
 * or when the store is next opened. The caller is the writer of the store. For one run.
 */
public final class StoreRewrite {
  private final MutableFiles files;
  private final StoreMeta old;
  private final List<FieldSpec> fields;
  private final Layout layout;
  private final LongConsumer onBytes;
  private final WriterToken writer;
  private final List<String> stems;
  private boolean isAtRest = true;

  /**
   * How chunks are written.
   *
   * @param chunkBytes bytes at which a chunk is closed
   * @param stripeBytes memory for the records that are read together
   */
  public record Layout(long chunkBytes, int stripeBytes) {}

  /**
   * Prepares a rewrite.
   *
   * @param writer of the store, which was closed
   * @param fields the store's fields, with their new compressions
   * @param onBytes takes the stored bytes of values rewritten so far
   */
  public StoreRewrite(
      MutableFiles files,
      WriterToken writer,
      List<FieldSpec> fields,
      Layout layout,
      LongConsumer onBytes) {
    this.files = files;
    this.old = StoreMetaFile.read(files);
    this.fields = List.copyOf(fields);
    this.layout = layout;
    this.onBytes = onBytes;
    this.writer = writer;
    this.stems = StoreLeftovers.nextStems(files, old);
  }

  /**
   * Rewrites the store, which was closed, so that all commits are in its tables.
   *
   * @return the new meta file
   * @throws StorageException if a journal cut off by a repair exists; the store is as it was
   * @throws io.zrecord.errors.DiskFullException if there is no space; the store is as it was
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged; the store is as it was
   * @throws ZRecordException after any other failure; the store is the old or the new one, with the
   *     same records
   */
  public StoreMeta run() {
    requireNoCutJournal();
    Set<String> before = Set.copyOf(StoreLeftovers.of(files, old));
    StoreMeta written;
    try {
      written = write();
      publish(written);
    } catch (RuntimeException | Error e) {
      removeUnlessPublished(before, e);
      throw e;
    }
    remove(written, before);
    return written;
  }

  /**
   * Refuses while a journal cut off by a repair exists. The journal may name values that exist only
   * in the chunks about to be deleted.
   */
  private void requireNoCutJournal() {
    List<String> cut = StoreLeftovers.cutJournals(files);
    if (!cut.isEmpty()) {
      throw new StorageException(
          files.location(),
          "Cannot rewrite " + files.location() + ": a repair kept " + String.join(", ", cut)
              + ", which may name values in the chunks that this would delete. Save what you want"
              + " of them, with the chunks, delete " + String.join(", ", cut)
              + " and try again");
    }
  }

  /**
   * Deletes files that a meta file does not name, except those that were not named before either.
   */
  private void remove(StoreMeta meta, Set<String> before) {
    List<String> found = StoreLeftovers.of(files, meta);
    files.delete(found.stream().filter(name -> !before.contains(name)).toList(), writer::require);
  }

  private StoreMeta write() {
    List<EntryTable> sources = new ArrayList<>();
    List<EntryTable> targets = new ArrayList<>();
    try {
      for (int i = 0; i < stems.size(); i++) {
        FieldMeta field = old.shard().fields().get(i);
        EntryTable source = EntryTable.open(files, field.stem(), false);
        sources.add(source);
        source.requireCapacity(old.shard().length());
        EntryTable target = EntryTable.create(files, stems.get(i));
        targets.add(target);
        target.ensureCapacity(old.shard().length());
      }
      List<ChunkMeta> chunks = copy(sources, targets);
      targets.forEach(EntryTable::force);
      files.forceDirectory("");
      return meta(chunks, targets);
    } finally {
      sources.forEach(EntryTable::close);
      targets.forEach(EntryTable::close);
    }
  }

  private List<ChunkMeta> copy(List<EntryTable> sources, List<EntryTable> targets) {
    try (RewriteTarget target = new RewriteTarget(
            files, old.shard().id(), nextChunkId(), old.chunkRecords(), layout.chunkBytes());
        RewriteSource source = new RewriteSource(files, old, layout.stripeBytes());
        RewriteCopy copy = new RewriteCopy(
            old.shard().id(),
            old.shard().fields().stream().map(FieldMeta::spec).toList(),
            fields,
            sources,
            targets,
            source,
            target)) {
      long bytes = 0;
      for (long index = 0; index < old.shard().length(); ) {
        int count = copy.begin(index, old.shard().length() - index, layout.stripeBytes() / 2);
        bytes += copy.write();
        index += count;
        onBytes.accept(bytes);
      }
      return target.finish();
    }
  }

  /**
   * Returns the id of the first new chunk. Ids never come again, because a reader may have mapped a
   * chunk under its id.
   */
  private int nextChunkId() {
    int next = 0;
    for (ChunkMeta chunk : old.shard().chunks()) {
      next = Math.max(next, chunk.id() + 1);
    }
    for (ChunkMeta chunk : old.unfull()) {
      next = Math.max(next, chunk.id() + 1);
    }
    while (files.exists(ChunkMeta.fileName(next))) {
      next++;
    }
    return next;
  }

  private StoreMeta meta(List<ChunkMeta> chunks, List<EntryTable> tables) {
    long length = old.shard().length();
    List<FieldMeta> metas = new ArrayList<>();
    for (int i = 0; i < fields.size(); i++) {
      metas.add(new FieldMeta(
          fields.get(i),
          stems.get(i),
          tables.get(i).absentCount(length),
          tables.get(i).valueBytes(length)));
    }
    ShardMeta shard =
        new ShardMeta(old.shard().id(), length, true, layout.chunkBytes(), chunks, metas);
    // The number tells a reader that is reading the state of the whole store that the store is
    // another one.
    return new StoreMeta(shard, List.of(), old.chunkRecords(), old.sequence() + 1);
  }

  /**
   * Publishes the new meta file. Readers look for other tables once the stamp of all records has
   * changed.
   */
  private void publish(StoreMeta written) {
    byte[] content = written.write();
    requireReadable(content);
    isAtRest = false;
    LiveState live = LiveState.beginRewrite(files, old.shard().id(), writer);
    // A lower number than the meta file's is right for whoever opens the store next.
    long sequence = old.sequence();
    try {
      // The meta file is about to be another than a mark of a closed store says.
      live.force(files);
      files.replace(ShardMeta.FILE_NAME, content, writer::require);
      sequence = written.sequence();
    } finally {
      live.endRecovery(old.shard().length(), sequence);
    }
    live.force(files);
    isAtRest = true;
  }

  /** Tells whether the store is at rest, as it was or rewritten, so that nothing can follow. */
  public boolean isAtRest() {
    return isAtRest;
  }

  /** Checks that the new meta file can be read, because the old files are deleted next. */
  private void requireReadable(byte[] content) {
    if (content.length > SealedJson.MAX_BYTES) {
      throw new IllegalArgumentException(
          "Cannot rewrite " + files.pathOf("") + ": its meta file would have "
              + content.length + " bytes, more than the " + SealedJson.MAX_BYTES
              + " that are allowed; raise the bytes of a chunk, which are " + layout.chunkBytes());
    }
    StoreMeta.read(files.pathOf(ShardMeta.FILE_NAME), content);
  }

  /** Tries to remove the new files. Files that stay are removed when the store is next opened. */
  private void removeUnlessPublished(Set<String> before, Throwable failure) {
    try {
      // The new meta file may be visible and not yet durable: both sets of files must stay then.
      if (StoreMetaFile.read(files).sequence() == old.sequence()) {
        remove(old, before);
      }
    } catch (ZRecordException e) {
      failure.addSuppressed(e);
    }
  }
}
