package io.zrecord.internal.store.write;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.WriterReplacedException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.store.Changes;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.RecordIndices;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects operations in a group and commits groups one after another. While one group is being
 * made safe, the next is collected. A thread that waits to commit the next group finds the group
 * committed by the thread whose turn came first. Thread-safe.
 *
 * <p>A full disk keeps a group from becoming safe, and the next commit tries again. After any other
 * failure of a commit no operation is possible: what reached the medium is unknown.
 */
final class GroupCommit {
  private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);

  /** Number of records at which a group is committed by itself. */
  private static final int MAX_GROUP_RECORDS = 1 << 17;

  /** Bytes of entries at which a group is committed by itself; reached with many fields. */
  private static final long MAX_GROUP_BYTES = 64L << 20;

  /** Divisor: wait at most this fraction of the last commit for others to join. */
  private static final int COMPANY_SHARE = 2;

  private static final long MAX_COMPANY_NANOS = 2_000_000;
  private static final long COMPANY_PAUSE_NANOS = 10_000;

  private final StoreFiles store;
  private final Checkpoint checkpoint;
  private final StoreLimits limits;
  private final int fieldCount;
  private final Binding[] bindings;
  private final int maxGroupRecords;
  private final CommitTurn turn = new CommitTurn();

  /** Threads that waited for the last published group; guarded by the turn. */
  private int lastCommitterCount;

  /** Time in nanoseconds that publishing the last group took; guarded by the turn. */
  private long lastPublishNanos;

  /** Guards the two groups and the order of operations. Never held during I/O. */
  private final Object order = new Object();

  private Changes collected;
  private @Nullable Changes inFlight;
  private volatile @Nullable Throwable failure;
  private volatile boolean isClosed;

  /** Begins with an empty group after the published records of a store. */
  GroupCommit(StoreFiles store, StoreLimits limits) {
    this.store = store;
    this.limits = limits;
    this.checkpoint = new Checkpoint(store, limits);
    this.fieldCount = store.fields().size();
    this.bindings = store.fields().stream()
        .map(field -> new Binding(store.storeId(), field.id()))
        .toArray(Binding[]::new);
    this.maxGroupRecords = (int) Math.max(
        1,
        Math.min(
            MAX_GROUP_RECORDS,
            MAX_GROUP_BYTES / ((long) Math.max(1, fieldCount) * EntryTable.STORED_BYTES)));
    this.collected = new Changes(fieldCount, store.live().length());
  }

  /** Returns the number of records, including uncommitted operations. */
  long pendingLength() {
    synchronized (order) {
      return collected.length();
    }
  }

  /** Adds a record at the end and returns its index. */
  long append(Changes.Entries record) {
    long index;
    boolean isLarge;
    synchronized (order) {
      requireUsable();
      for (int field = 0; field < fieldCount; field++) {
        record.bind(field, bindings[field], collected.length());
      }
      index = collected.append(record);
      isLarge = isLarge();
    }
    commitIf(isLarge);
    return index;
  }

  /**
   * Replaces some entries of a record.
   *
   * @param isSet the fields whose entries are taken from {@code added}
   */
  void update(long index, Changes.Entries added, boolean[] isSet) {
    boolean isLarge;
    synchronized (order) {
      requireUsable();
      RecordIndices.requireWithin(index, collected.length());
      Changes.Entries record = load(index);
      for (int field = 0; field < isSet.length; field++) {
        if (isSet[field]) {
          added.bind(field, bindings[field], index);
          record.copy(field, added);
        }
      }
      collected.put(index, record);
      isLarge = isLarge();
    }
    commitIf(isLarge);
  }

  /** Moves the last record to {@code index}, and returns the index that the record had. */
  long delete(long index) {
    long last;
    boolean isLarge;
    synchronized (order) {
      requireUsable();
      RecordIndices.requireWithin(index, collected.length());
      last = collected.length() - 1;
      if (index != last) {
        Changes.Entries moved = load(last);
        moved.rebind(last, index);
        collected.put(index, moved);
      }
      collected.shrink();
      isLarge = isLarge();
    }
    commitIf(isLarge);
    return last;
  }

  /** Returns the entries of a record as the last operation left them. */
  private Changes.Entries load(long index) {
    Changes.Entries record = new Changes.Entries(fieldCount);
    Changes before = inFlight;
    if (!collected.find(index, record) && (before == null || !before.find(index, record))) {
      store.load(index, record);
    }
    return record;
  }

  private boolean isLarge() {
    return collected.slotCount() >= maxGroupRecords;
  }

  private void commitIf(boolean isLarge) {
    if (isLarge) {
      commit();
    }
  }

  /** Makes all completed operations safe and visible, as the durability says. */
  void commit() {
    Changes mine;
    synchronized (order) {
      requireUsable();
      mine = collected.isEmpty() ? inFlight : collected;
      if (mine != null) {
        mine.waiters().join();
      }
    }
    if (mine == null) {
      return;
    }
    while (!mine.waiters().isPublished()) {
      if (turn.tryTake()) {
        inTurn(() -> commitUpTo(mine));
      } else {
        mine.waiters().await(turn::isFree);
      }
    }
  }

  private void commitUpTo(Changes mine) {
    awaitCompany(mine);
    publishUpTo(mine);
    if (checkpoint.isDue()) {
      writeCheckpoint();
    }
  }

  /** Commits, then forces the tables and empties the journal. */
  void checkpoint() {
    commit();
    takeTurn();
    inTurn(this::writeCheckpoint);
  }

  /** Commits, then counts bytes and absent values again. */
  void recount() {
    commit();
    takeTurn();
    try {
      store.counts().recount(store.live().length());
    } finally {
      giveBackTurn();
    }
  }

  private void writeCheckpoint() {
    checkpoint.write(store.live().length());
  }

  private void takeTurn() {
    boolean isMine = false;
    while (!isMine) {
      isMine = turn.take(limits.closeTimeout());
    }
  }

  /**
   * Works in the turn, then gives the turn back. Every failure except a full disk makes the writer
   * unusable.
   */
  private void inTurn(Runnable work) {
    try {
      requireUsable();
      try {
        work.run();
      } catch (DiskFullException e) {
        throw e;
      } catch (RuntimeException | Error e) {
        failure = e;
        throw e;
      }
    } finally {
      giveBackTurn();
    }
  }

  /**
   * Gives the turn back and wakes a thread of each group that waits: of the group that is collected
   * now, and of a group that could not be published.
   */
  private void giveBackTurn() {
    turn.giveBack();
    synchronized (order) {
      boolean isOver = failure != null || isClosed;
      for (Changes group : inFlight == null ? List.of(collected) : List.of(inFlight, collected)) {
        if (isOver) {
          group.waiters().wakeAll();
        } else {
          group.waiters().wakeOne();
        }
      }
    }
  }

  /**
   * Waits a little for the threads that shared the last force: each will be back in a moment with
   * one more record. The wait is a small part of the time of a force; one thread alone never waits.
   */
  private void awaitCompany(Changes group) {
    int expected = lastCommitterCount;
    long start = System.nanoTime();
    while (group.waiters().committerCount() < expected
        && System.nanoTime() - start
            < Math.min(lastPublishNanos / COMPANY_SHARE, MAX_COMPANY_NANOS)) {
      LockSupport.parkNanos(COMPANY_PAUSE_NANOS);
    }
  }

  private void publishUpTo(@Nullable Changes last) {
    while (last != null && takeOver(last)) {
      Changes group = Objects.requireNonNull(inFlight);
      long start = System.nanoTime();
      store.publish(group);
      lastPublishNanos = System.nanoTime() - start;
      lastCommitterCount = group.waiters().committerCount();
      synchronized (order) {
        inFlight = null;
      }
      group.waiters().setPublished();
    }
  }

  /** Puts the next group in flight. Returns false if {@code last} has been published. */
  private boolean takeOver(Changes last) {
    synchronized (order) {
      if (last != inFlight && last != collected) {
        return false;
      }
      if (inFlight == null) {
        inFlight = collected;
        collected = new Changes(fieldCount, inFlight.length());
      }
      return true;
    }
  }

  /** Requires that no commit has failed and that the store is open. */
  void requireUsable() {
    requireNoFailure();
    if (isClosed) {
      throw new IllegalStateException(
          "The store " + store.files().location() + " is closed; open it again");
    }
  }

  /** Requires that no commit has failed. */
  void requireNoFailure() {
    Throwable cause = failure;
    if (cause instanceof WriterReplacedException replaced) {
      throw new WriterReplacedException(replaced.resource(), String.valueOf(replaced.getMessage()));
    }
    if (cause != null) {
      throw new StorageException(
          store.files().location(),
          "Cannot write to " + store.files().location()
              + ": a commit failed before (" + cause.getMessage()
              + "). What was acknowledged is safe; close the store and open it again",
          cause);
    }
  }

  boolean isClosed() {
    return isClosed;
  }

  /**
   * Commits, writes a checkpoint and closes the files. After a failure the files are closed as they
   * are. So they are if there is no space for the checkpoint: everything is committed and forced by
   * then, and the next writer recovers it.
   *
   * @throws StorageException if a commit does not end in time; the files stay open
   * @throws DiskFullException if there is no space for what is not committed; the store stays open
   */
  void close() {
    if (closeFiles(true)) {
      LiveState.close(store.files(), store.storeId(), store.writer());
    }
  }

  /**
   * Closes the store after a checkpoint, but stays its writer.
   *
   * @return whether everything is in the tables and closed, so that nothing of this writer can
   *     follow
   * @throws DiskFullException if there is no space for that; the store stays open
   */
  boolean closeFiles() {
    return closeFiles(false);
  }

  private boolean closeFiles(boolean mayLeaveTheJournal) {
    if (isClosed) {
      return false;
    }
    if (!turn.take(limits.closeTimeout())) {
      throw new StorageException(
          store.files().location(),
          "Cannot close " + store.files().location()
              + ": a commit of another thread has not ended for "
              + limits.closeTimeout().toSeconds()
              + " s; the medium may hang. What was acknowledged is safe. The store is locked until this process ends");
    }
    boolean isCommitted = false;
    boolean isWhole = false;
    boolean staysOpen = false;
    try {
      if (failure == null && !isClosed) {
        Changes last;
        synchronized (order) {
          last = collected.isEmpty() ? inFlight : collected;
        }
        publishUpTo(last);
        isCommitted = true;
        writeCheckpoint();
        store.live().force(store.files());
        isWhole = true;
      }
      return isWhole;
    } catch (DiskFullException e) {
      if (isCommitted && mayLeaveTheJournal && store.tryForce()) {
        LOG.warn(
            "Closed {} without a checkpoint, for which there is no space: {}. Everything is committed, and the next opening for writing recovers it, which needs the space of the journal",
            store.files().location(),
            e.getMessage());
        return false;
      }
      staysOpen = true;
      throw new DiskFullException(
          e.resource(),
          "Cannot close " + store.files().location() + ": " + e.getMessage()
              + ". The store stays open, with what is not committed: free space, and close it again",
          e);
    } finally {
      endTurn(staysOpen);
    }
  }

  private void endTurn(boolean staysOpen) {
    try {
      if (!staysOpen) {
        isClosed = true;
        store.close();
      }
    } finally {
      giveBackTurn();
    }
  }

  /** Closes the files as they are, without a commit. Does nothing if the store is closed. */
  void abandon() {
    if (!isClosed && turn.take(limits.closeTimeout())) {
      endTurn(false);
    }
  }
}
