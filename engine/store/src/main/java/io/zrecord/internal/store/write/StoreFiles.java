package io.zrecord.internal.store.write;

import io.zrecord.errors.DiskFullException;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MapFaults;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.Changes;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.Journal;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.WriterBefore;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.schema.FieldSpec;
import java.util.List;
import java.util.UUID;

/**
 * The files of a store, open for writing. A group of changes reaches the files in the order that
 * makes the group safe: chunks, then the journal, which carries what is small of the chunks, then
 * the tables, then the length that readers see. Guarded by the turn to commit, except
 * {@link #load}, for which the order of operations is enough.
 */
final class StoreFiles implements AutoCloseable {
  private final MutableFiles files;
  private final boolean isDurable;
  private final UUID storeId;
  private final List<FieldSpec> fields;
  private final EntryTable[] tables;
  private final Journal journal;
  private final LiveState live;
  private final WriterToken writer;
  private final WriterBefore before;
  private final FieldCounts counts;
  private final StoreChunks chunks;

  /** The greatest number of records published since the store was opened. */
  private long longest;

  /** Takes over open files. Readers wait until {@link #endRecovery}. */
  StoreFiles(
      MutableFiles files,
      StoreLimits limits,
      StoreMeta meta,
      EntryTable[] tables,
      Journal journal,
      LiveState live,
      WriterToken writer,
      WriterBefore before) {
    this.files = files;
    this.writer = writer;
    this.before = before;
    this.isDurable = limits.durable();
    this.storeId = meta.shard().id();
    this.fields = meta.shard().fields().stream().map(FieldMeta::spec).toList();
    this.tables = tables;
    this.journal = journal;
    this.counts = new FieldCounts(meta.shard().fields(), tables);
    this.live = live;
    this.chunks = new StoreChunks(files, storeId, fields, limits);
  }

  MutableFiles files() {
    return files;
  }

  UUID storeId() {
    return storeId;
  }

  List<FieldSpec> fields() {
    return fields;
  }

  /** Returns the tables of the fields, in their order. */
  List<EntryTable> tables() {
    return List.of(tables);
  }

  Journal journal() {
    return journal;
  }

  LiveState live() {
    return live;
  }

  WriterToken writer() {
    return writer;
  }

  WriterBefore before() {
    return before;
  }

  FieldCounts counts() {
    return counts;
  }

  StoreChunks chunks() {
    return chunks;
  }

  /** Lets readers in: the tables hold the records up to {@code length}. */
  void endRecovery(long length) {
    longest = length;
    live.endRecovery(length, journal.sequence());
  }

  /**
   * Copies the published entries of a record.
   *
   * @throws io.zrecord.errors.TruncatedFileException if a table was cut
   */
  void load(long index, Changes.Entries target) {
    MapFaults.guard(files.location(), () -> {
      for (int field = 0; field < tables.length; field++) {
        EntryTable table = tables[field];
        target.set(field, table.word0(index), table.word1(index), table.checksum(index));
      }
    });
  }

  /** Makes a group safe, as the durability says, and then visible to readers. */
  void publish(Changes group) {
    ensureCapacity(group.length());
    List<JournalChunk> named =
        chunks.flush(isDurable ? ChunkLane.Need.SAFE : ChunkLane.Need.NOTHING);
    journal.append(group, fields.size(), named);
    if (isDurable) {
      journal.force();
    }
    chunks.setNamed();
    // After the force: a writer that comes later reads what was forced.
    live.enter(writer);
    live.beginGroup(journal.sequence());
    MapFaults.guard(files.location(), () -> apply(group));
    live.leave();
  }

  private void ensureCapacity(long count) {
    boolean fits = true;
    for (EntryTable table : tables) {
      fits &= count <= table.capacity();
    }
    if (fits) {
      return;
    }
    live.enter(writer);
    try {
      for (EntryTable table : tables) {
        table.ensureCapacity(count);
      }
    } finally {
      live.leave();
    }
  }

  /**
   * Applies the whole group at once. Readers of changing records wait until all changes are stored.
   */
  private void apply(Changes group) {
    counts.add(group, live.length());
    live.beginChange();
    for (int slot = 0; slot < group.slotCount(); slot++) {
      // No reader can have looked at a record that was never within the length.
      if (group.index(slot) < longest) {
        live.change(group.index(slot));
      }
    }
    live.beginStores();
    for (int slot = 0; slot < group.slotCount(); slot++) {
      put(group, slot);
    }
    live.publish(group.length());
    live.endChange();
    longest = Math.max(longest, group.length());
  }

  private void put(Changes group, int slot) {
    long index = group.index(slot);
    if (index < group.length()) {
      for (int field = 0; field < tables.length; field++) {
        tables[field].put(
            index, group.word0(slot, field), group.word1(slot, field), group.checksum(slot, field));
      }
    }
  }

  /**
   * Makes what is published survive power loss, without a checkpoint. A store that forces each
   * commit has done so.
   *
   * @return whether there was space for that
   */
  boolean tryForce() {
    if (isDurable) {
      return true;
    }
    try {
      // In this order: the journal names the chunks.
      chunks.force();
      journal.force();
      return true;
    } catch (DiskFullException e) {
      return false;
    }
  }

  @Override
  public void close() {
    chunks.close();
    for (EntryTable table : tables) {
      table.close();
    }
    journal.close();
  }
}
