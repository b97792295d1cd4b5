package io.zrecord.internal.online;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.Stems;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

/**
 * Writes the records of a store at rest to new chunks and tables beside the old ones, and puts them in their place by replacing the meta
 * file, which names both (FORMAT.md section 9). Before that the store is the old one, afterwards the new one; what is not named is
 * deleted, now or when the store is opened next. The caller holds the lock of the store. For one run.
 */
public final class StoreRewrite {
  private final MutableFiles files;
  private final StoreMeta old;
  private final List<FieldSpec> fields;
  private final Layout layout;
  private final LongConsumer onBytes;
  private final int generation;

  /**
   * How chunks are written.
   *
   * @param chunkBytes bytes at which one is closed
   * @param stripeBytes memory for the records that are read together
   */
  public record Layout(long chunkBytes, int stripeBytes) {}

  /**
   * A rewrite.
   *
   * @param fields the store's, with the compressions that they are to have
   * @param onBytes told how many stored bytes of values were rewritten so far
   */
  public StoreRewrite(
      MutableFiles files, List<FieldSpec> fields, Layout layout, LongConsumer onBytes) {
    this.files = files;
    this.old = readMeta(files);
    this.fields = List.copyOf(fields);
    this.layout = layout;
    this.onBytes = onBytes;
    this.generation = 1 + lastGeneration();
  }

  /** That of the tables there are, leftovers of another rewrite included. */
  private int lastGeneration() {
    IntStream named =
        old.shard().fields().stream().mapToInt(field -> Stems.generation(field.stem()));
    IntStream present = StoreLeftovers.of(files, old).stream()
        .filter(name -> name.indexOf('/') < 0)
        .mapToInt(name -> Stems.generation(name.substring(0, name.lastIndexOf('.'))));
    return IntStream.concat(named, present).max().orElse(0);
  }

  /** Reads the meta file of a store. */
  public static StoreMeta readMeta(MutableFiles files) {
    return StoreMeta.read(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
  }

  /**
   * Rewrites the store, which was closed, with all that is committed in its tables.
   *
   * @return the new meta file
   * @throws StorageException if there is a journal that a repair cut off; the store is as it was
   * @throws io.zrecord.errors.DiskFullException if there is no space; the store is as it was
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged; the store is as it was
   * @throws ZRecordException after any other failure it is the old or the new one, with the same records
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

  /** It may name values that are nowhere but in the chunks which would be deleted. */
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

  /** Deletes what a meta file does not name, but for what was not named before either. */
  private void remove(StoreMeta meta, Set<String> before) {
    for (String name : StoreLeftovers.of(files, meta)) {
      if (!before.contains(name)) {
        files.delete(name);
      }
    }
  }

  private StoreMeta write() {
    List<EntryTable> sources = new ArrayList<>();
    List<EntryTable> targets = new ArrayList<>();
    try {
      for (FieldMeta field : old.shard().fields()) {
        EntryTable source = EntryTable.open(files, field.stem(), false);
        sources.add(source);
        source.requireCapacity(old.shard().length());
        EntryTable target = EntryTable.create(files, stem(field.spec()));
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

  private String stem(FieldSpec field) {
    return Stems.rewritten(field.id(), generation);
  }

  private List<ChunkMeta> copy(List<EntryTable> sources, List<EntryTable> targets) {
    try (RewriteTarget target = new RewriteTarget(
            files,
            old.shard().id(),
            nextChunkId(),
            old.shard().chunkRecords(),
            layout.chunkBytes());
        RewriteSource source = new RewriteSource(files, old, layout.stripeBytes());
        RewriteCopy copy = new RewriteCopy(
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

  /** Ids never come again: a reader may have mapped a chunk under its id. */
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
          stem(fields.get(i)),
          FieldMeta.Layout.ENTRIES,
          tables.get(i).absentCount(length),
          tables.get(i).valueBytes(length)));
    }
    ShardMeta shard = new ShardMeta(
        old.shard().id(),
        length,
        true,
        false,
        old.shard().chunkRecords(),
        layout.chunkBytes(),
        chunks,
        metas);
    // Whoever is just reading the state of the whole store sees by the number that it is another
    // one.
    return new StoreMeta(shard, List.of(), old.sequence() + 1);
  }

  /** Readers look for other tables as soon as the stamp of all records has changed. */
  private void publish(StoreMeta written) {
    byte[] content = written.write();
    requireReadable(content);
    LiveState live = LiveState.beginRecovery(files, old.shard().id());
    // A lower number than that of the meta file is right for who opens the store next.
    long sequence = old.sequence();
    try {
      files.replace(ShardMeta.FILE_NAME, content);
      sequence = written.sequence();
    } finally {
      live.endRecovery(old.shard().length(), sequence);
    }
    live.force(files);
  }

  /** The old files are deleted, so the new meta file must be one that can be read. */
  private void requireReadable(byte[] content) {
    if (content.length > SealedJson.MAX_BYTES) {
      throw new IllegalArgumentException(
          "Cannot rewrite " + files.pathOf("") + ": its meta file would have "
              + content.length + " bytes, more than the " + SealedJson.MAX_BYTES
              + " that are allowed; raise the bytes of a chunk, which are " + layout.chunkBytes());
    }
    StoreMeta.read(files.pathOf(ShardMeta.FILE_NAME), content);
  }

  /** Tries to; what stays is removed when the store is opened next. */
  private void removeUnlessPublished(Set<String> before, Throwable failure) {
    try {
      // The new name may be visible and not durable yet: then both have to stay.
      if (readMeta(files).sequence() == old.sequence()) {
        remove(old, before);
      }
    } catch (ZRecordException e) {
      failure.addSuppressed(e);
    }
  }
}
