package io.zrecord.internal.store.write;

import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.StoreLeftovers;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.WriterToken;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.LoggerFactory;

/**
 * Copies of the tables, with which a recovery goes on. The writer before may be changing the old
 * tables, if it is still there. The journal has every change that a copy may have caught in part.
 *
 * <p>The files of all copies are created before anything is deleted. Creation fails if the name is
 * taken, so no two writers have copies of one name, even if both chose it. Used by one thread,
 * once.
 */
final class TableCopies {
  private final MutableFiles files;
  private final WriterToken writer;
  private final List<String> created = new ArrayList<>();

  TableCopies(MutableFiles files, WriterToken writer) {
    this.files = files;
    this.writer = writer;
  }

  /**
   * Copies the tables of a store, and deletes copies that killed recoveries left.
   *
   * @param tables closed, and replaced by the copies
   * @param opened takes the copies, for a caller that has to close them
   * @return the state of the store with the names of the copies
   */
  StoreMeta replace(StoreMeta meta, EntryTable[] tables, List<AutoCloseable> opened) {
    List<String> stems = create(meta);
    StoreLeftovers.removeTables(files, meta, stems, writer);
    ShardMeta shard = meta.shard();
    List<FieldMeta> copied = new ArrayList<>();
    for (int i = 0; i < tables.length; i++) {
      FieldMeta field = shard.fields().get(i);
      EntryTable old = tables[i];
      tables[i] = EntryTable.copyTo(
          files, field.stem(), files, stems.get(i), shard.length(), writer::require);
      opened.add(tables[i]);
      old.close();
      copied.add(
          new FieldMeta(field.spec(), stems.get(i), field.absentCount(), field.valueBytes()));
    }
    files.forceDirectory("");
    return new StoreMeta(
        new ShardMeta(shard.id(), shard.length(), true, shard.chunkBytes(), shard.chunks(), copied),
        meta.unfull(),
        meta.chunkRecords(),
        meta.sequence());
  }

  /** Creates the files of the copies, and returns their stems in the order of the fields. */
  private List<String> create(StoreMeta meta) {
    List<String> stems = StoreLeftovers.nextStems(files, meta);
    while (!areCreated(stems)) {
      // A writer that was replaced by this one has just taken a name. One that comes later ends
      // this one here.
      deleteCreated();
      stems = StoreLeftovers.nextStems(files, meta);
    }
    return stems;
  }

  /** Creates all files, or as many as there are until one is there already. */
  private boolean areCreated(List<String> stems) {
    for (String stem : stems) {
      for (String name : EntryTable.fileNames(stem)) {
        try {
          files.create(name).close();
        } catch (StorageException e) {
          if (!files.exists(name)) {
            throw e;
          }
          return false;
        }
        created.add(name);
      }
    }
    return true;
  }

  private void deleteCreated() {
    writer.require();
    files.delete(created, writer::require);
    created.clear();
  }

  /** Tells whether the meta file names the copies; false if it cannot be read. */
  boolean areNamed() {
    try {
      return isAnyNamed();
    } catch (RuntimeException e) {
      return false;
    }
  }

  private boolean isAnyNamed() {
    return StoreMetaFile.read(files).shard().fields().stream()
        .anyMatch(field -> created.containsAll(EntryTable.fileNames(field.stem())));
  }

  /** Deletes the copies, unless the meta file names them, cannot be read, or is another's. */
  void removeUnnamed() {
    if (created.isEmpty()) {
      return;
    }
    try {
      if (!isAnyNamed()) {
        files.delete(created, writer::require);
      }
    } catch (RuntimeException e) {
      LoggerFactory.getLogger(TableCopies.class)
          .debug("Copies of tables of {} stay until it is opened again", files.location(), e);
    }
  }
}
