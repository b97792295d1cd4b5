package io.zrecord.internal.store.write;

import io.zrecord.errors.StorageException;
import io.zrecord.internal.store.Changes;
import io.zrecord.internal.store.RecordIndices;
import io.zrecord.internal.store.StoreParts;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.schema.FieldSpec;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The writer of a store. Operations store their values in chunks, side by side, and then join the
 * group that {@link GroupCommit} collects. A commit makes the group safe and visible.
 * {@link StoreRecovery} creates and opens writers. Thread-safe.
 *
 * <p>A full disk keeps a group from becoming safe, and the next commit tries again. After any other
 * failure of a commit the writer is unusable: what reached the medium is unknown, and opening the
 * store again finds out.
 */
public final class StoreWriter implements AutoCloseable {
  private final StoreFiles store;
  private final GroupCommit group;
  private final Recovery recovery;

  /**
   * The outcome of opening a store.
   *
   * @param replayedRecords journal records that were applied to the tables again
   * @param droppedBytes bytes of an unfinished last record, which was never acknowledged
   */
  public record Recovery(long replayedRecords, long droppedBytes) {}

  StoreWriter(StoreFiles store, StoreLimits limits, Recovery recovery) {
    this.store = store;
    this.group = new GroupCommit(store, limits);
    this.recovery = recovery;
  }

  public UUID storeId() {
    return store.storeId();
  }

  public List<FieldSpec> fields() {
    return store.fields();
  }

  public Recovery recovery() {
    return recovery;
  }

  /** Returns the parts that readers of this process use. */
  public StoreParts parts() {
    return new StoreParts(
        store.files(),
        store.storeId(),
        store.fields(),
        store.tables(),
        store.live(),
        stamp -> true,
        waited -> requireWriter());
  }

  /**
   * Requires that commits are possible.
   *
   * @throws io.zrecord.errors.WriterReplacedException if another writer opened the store
   */
  public void requireWriter() {
    group.requireNoFailure();
    store.writer().require();
  }

  /** Returns the number of records, including uncommitted operations. */
  public long pendingLength() {
    return group.pendingLength();
  }

  /** Returns the number of records that readers see. */
  public long length() {
    return store.live().length();
  }

  /**
   * Adds a record at the end and returns its index.
   *
   * @param values values of the fields, null where absent
   */
  public long append(byte[] @Nullable [] values) {
    group.requireUsable();
    return group.append(stored(values));
  }

  /**
   * Replaces values of a record.
   *
   * @param values values of the fields, null where the value becomes absent
   * @param isSet the fields that change; other fields keep their values
   * @throws IndexOutOfBoundsException if there is no such record, taking uncommitted operations
   *     into account
   */
  public void update(long index, byte[] @Nullable [] values, boolean[] isSet) {
    group.requireUsable();
    RecordIndices.requireWithin(index, group.pendingLength());
    byte[][] changed = values.clone();
    for (int field = 0; field < changed.length; field++) {
      if (!isSet[field]) {
        changed[field] = ChunkLane.KEEP;
      }
    }
    group.update(index, stored(changed), isSet);
  }

  /**
   * Deletes a record: the last record takes its place.
   *
   * @return the former index of the record now at {@code index}; {@code index} itself if the
   *     deleted record was the last
   * @throws IndexOutOfBoundsException if there is no such record, taking uncommitted operations
   *     into account
   */
  public long delete(long index) {
    return group.delete(index);
  }

  private Changes.Entries stored(byte[] @Nullable [] values) {
    Changes.Entries entries = new Changes.Entries(store.fields().size());
    store.chunks().store(values, entries);
    return entries;
  }

  /** Makes all completed operations safe and visible, as the durability says. */
  public void commit() {
    group.commit();
  }

  /** Commits, forces the tables and empties the journal. */
  public void checkpoint() {
    group.checkpoint();
  }

  /** Commits, and counts bytes and absent values again after a repair changed the tables. */
  public void recount() {
    group.recount();
  }

  /**
   * Commits, writes a checkpoint and closes the files. The files of a failed store are closed as
   * they are; opening the store again recovers it.
   *
   * @throws StorageException if a commit does not end in time; the files stay open
   * @throws io.zrecord.errors.DiskFullException if there is no space for what is not committed; the
   *     store stays open
   */
  @Override
  public void close() {
    group.close();
  }

  /** Closes the store, and returns what the caller needs to change its files at rest. */
  public WriterToken closeForChange() {
    try {
      if (!group.closeFiles()) {
        requireWriter();
      }
      return store.writer();
    } finally {
      abandon();
    }
  }

  /**
   * Closes the files as they are, without a commit; opening the store again recovers it. Does
   * nothing if the store is closed.
   */
  public void abandon() {
    group.abandon();
  }

  public boolean isClosed() {
    return group.isClosed();
  }
}
