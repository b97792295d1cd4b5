package io.zrecord.internal.store;

import static io.zrecord.internal.store.LiveFile.CLOSED;
import static io.zrecord.internal.store.LiveFile.FILE_BYTES;
import static io.zrecord.internal.store.LiveFile.INSIDE;
import static io.zrecord.internal.store.LiveFile.LEFT;
import static io.zrecord.internal.store.LiveFile.LENGTH_AT;
import static io.zrecord.internal.store.LiveFile.OUTSIDE;
import static io.zrecord.internal.store.LiveFile.RECOVERY_STAMP_AT;
import static io.zrecord.internal.store.LiveFile.SEQUENCE_AT;
import static io.zrecord.internal.store.LiveFile.STATE_AT;
import static io.zrecord.internal.store.LiveFile.STRIPES;
import static io.zrecord.internal.store.LiveFile.STRIPES_AT;
import static io.zrecord.internal.store.LiveFile.WITHDRAWN;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells readers of all processes what the writer does, in a small file that all of them map
 * (FORMAT.md section 9): see {@link LiveFile}.
 *
 * <p>A stamp is odd while what it covers changes, and grows with each change: the stamp of all
 * records covers a recovery, each other stamp covers its records. A file is withdrawn before
 * another replaces it, because readers continue to map it. The number at 136 is 2 only from the end
 * of a writer that closed the store to the beginning of the next. Thread-safe; one writer.
 */
public final class LiveState {
  /** Name of the file in the directory of the store. */
  public static final String FILE_NAME = LiveFile.NAME;

  private static final Logger LOG = LoggerFactory.getLogger(LiveState.class);
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer map;

  /** The stamp of all records during the own recovery. */
  private long recovering;

  /** Used by the writer only. */
  private final BitSet changing = new BitSet(STRIPES);

  private LiveState(ByteBuffer map) {
    this.map = map;
  }

  /** Returns the state of a store that is being created. */
  public static LiveState create(MutableFiles files, UUID storeId, WriterToken writer) {
    return begun(renew(files, storeId, LiveFile.empty(storeId, 0, OUTSIDE), writer), writer);
  }

  /**
   * Says what is known of the writer before. Nothing is known to be closed without a sound file
   * that says so.
   *
   * @param writer of the caller
   */
  public static WriterBefore writerBefore(MutableFiles files, UUID storeId, WriterToken writer) {
    LiveState live;
    try {
      live = files.exists(FILE_NAME) ? map(files, storeId, false) : null;
    } catch (CorruptDataException e) {
      live = null;
    }
    if (live == null) {
      return WriterBefore.LEFT_INSIDE;
    }
    long state = live.state();
    if (state == CLOSED && !writer.isTakenOver() && !live.isWithdrawn()) {
      return WriterBefore.CLOSED;
    }
    return state == CLOSED || isOutside(state) ? WriterBefore.LEFT : WriterBefore.LEFT_INSIDE;
  }

  /**
   * Returns the state for a new writer: nothing is readable until {@link #endRecovery}. The file
   * stays after a writer that closed the store, so that its readers see the new writer. Otherwise
   * it is withdrawn and replaced: the writer before may still be there. So is a damaged file. The
   * file says durably that the store is not closed when this returns.
   */
  public static LiveState beginRecovery(
      MutableFiles files, UUID storeId, WriterToken writer, WriterBefore before) {
    LiveState live;
    try {
      live = files.exists(FILE_NAME) ? map(files, storeId, true) : null;
    } catch (CorruptDataException e) {
      live = null;
    }
    if (live != null && before == WriterBefore.CLOSED && !live.isWithdrawn()) {
      // While the token is there, the name led to the file that the last writer closed.
      writer.require();
      live.claim(files, writer);
      return begun(live, writer);
    }
    // Keep the old sequence until the recovery is over: it says what was safe.
    long sequence = live == null ? 0 : live.sequence();
    return begun(
        renew(files, storeId, LiveFile.empty(storeId, sequence, stateAfter(before)), writer),
        writer);
  }

  /**
   * Takes the mark of a closed store away. Only one of several writers can, even if none finds the
   * token of another. A writer that fails then leaves the store as one that was not closed.
   */
  private void claim(MutableFiles files, WriterToken writer) {
    requireCurrent(LONG.compareAndSet(map, STATE_AT, CLOSED, INSIDE));
    writer.require();
    try {
      force(files);
    } catch (RuntimeException | Error e) {
      endFailed(writer);
      throw e;
    }
  }

  /**
   * Returns the state for a change of the store by the writer that has recovered the store. The
   * caller ends the recovery, whatever fails.
   */
  public static LiveState beginRewrite(MutableFiles files, UUID storeId, WriterToken writer) {
    return begun(map(files, storeId, true), writer);
  }

  private static LiveState begun(LiveState live, WriterToken writer) {
    // A later writer puts its own file there, but not before it is known.
    writer.require();
    live.beginRecovery(writer);
    return live;
  }

  /** Returns what a new file says until its own writer is inside: whether the one before may be. */
  private static long stateAfter(WriterBefore before) {
    return before == WriterBefore.LEFT_INSIDE ? INSIDE : OUTSIDE;
  }

  /**
   * Puts another file in the place of this one, which is withdrawn when there is space for that.
   */
  private static LiveState renew(
      MutableFiles files, UUID storeId, byte[] content, WriterToken writer) {
    files.replace(FILE_NAME, content, () -> {
      withdraw(files, writer);
      writer.require();
    });
    LiveState live = map(files, storeId, true);
    // While the token is there, the name led to the file that was put there.
    writer.require();
    return live;
  }

  /**
   * Returns the state for a repair, which changes the files of the store before it opens the store.
   * It is a file of its own, because the writer before may still say in the other that it is
   * outside. It says that the repair is inside, and that readers wait for the file that follows. It
   * keeps the sequence number, because what that says was safe.
   */
  public static LiveState beginRepair(
      MutableFiles files, UUID storeId, WriterToken writer, WriterBefore before) {
    long sequence;
    try {
      sequence = files.exists(FILE_NAME) ? map(files, storeId, false).sequence() : 0;
    } catch (CorruptDataException e) {
      sequence = 0;
    }
    byte[] content = LiveFile.withdrawn(storeId, sequence, stateAfter(before));
    LiveState live = renew(files, storeId, content, writer);
    live.enter(writer);
    return live;
  }

  /**
   * Tells readers for good that the file is not true any more, because another is about to replace
   * it, which readers look for. Damaged files are withdrawn as well. What the file says of a writer
   * inside stays. The file says so durably when this returns.
   */
  private static void withdraw(MutableFiles files, WriterToken writer) {
    if (!files.exists(FILE_NAME)) {
      return;
    }
    try (MutableFile file = files.open(FILE_NAME, true)) {
      // While the token is there, the name led to the file of a writer before.
      writer.require();
      long lengthBytes = file.lengthBytes();
      if (lengthBytes < FILE_BYTES) {
        file.write(lengthBytes, ByteBuffer.allocate((int) (FILE_BYTES - lengthBytes)));
      }
      ByteBuffer map = file.map(0, FILE_BYTES, true);
      forbidClosing(map);
      // Who did not take this file for one of a closed store by now makes another file.
      writer.require();
      LONG.setRelease(map, RECOVERY_STAMP_AT, WITHDRAWN);
      VarHandle.fullFence();
      file.force();
    }
  }

  /**
   * Keeps any later writer from taking the file for one of a closed store, and from going on with
   * it: the writer before cannot say any more that it closed the store.
   */
  private static void forbidClosing(ByteBuffer map) {
    long state = (long) LONG.getAcquire(map, STATE_AT);
    while (state == CLOSED || state == OUTSIDE) {
      LONG.compareAndSet(map, STATE_AT, state, LEFT);
      state = (long) LONG.getAcquire(map, STATE_AT);
    }
  }

  private static boolean isOutside(long state) {
    return state == OUTSIDE || state == LEFT;
  }

  /**
   * Returns whether the file is withdrawn. What a withdrawn file says is not true, and another file
   * is there or will be.
   */
  public boolean isWithdrawn() {
    return recoveryStamp() == WITHDRAWN;
  }

  /**
   * Returns whether this file is withdrawn, another file has replaced it, and the first recovery of
   * that file is over.
   */
  public boolean isSucceeded(MutableFiles files, UUID storeId) {
    try {
      return isWithdrawn() && (open(files, storeId).recoveryStamp() & 1) == 0;
    } catch (ZRecordException e) {
      return false; // It is just coming, or is damaged again.
    }
  }

  /** Returns the file of a store that was closed. */
  public static byte[] atRest(UUID storeId, long length, long sequence) {
    return LiveFile.atRest(storeId, length, sequence);
  }

  /**
   * Makes the stamp of all records odd and all other stamps even; a writer that was killed may have
   * left them odd.
   */
  private void beginRecovery(WriterToken writer) {
    enter(writer);
    long stamp = recoveryStamp();
    recovering = stamp + 2 | 1;
    requireCurrent(stamp != WITHDRAWN && turnStamp(stamp, recovering));
    VarHandle.fullFence();
    for (int at = STRIPES_AT; at < FILE_BYTES; at += Long.BYTES) {
      LONG.setRelease(map, at, (long) LONG.get(map, at) + 1 & ~1L);
    }
  }

  /** Publishes a length and a sequence number, and lets readers in. */
  public void endRecovery(long length, long sequence) {
    beginGroup(sequence);
    publish(length);
    VarHandle.fullFence();
    requireCurrent(turnStamp(recovering, recovering + 1));
    leave();
  }

  private boolean turnStamp(long from, long to) {
    return LONG.compareAndSet(map, RECOVERY_STAMP_AT, from, to);
  }

  private static void requireCurrent(boolean isCurrent) {
    if (!isCurrent) {
      throw new StorageException(
          FILE_NAME,
          "Cannot recover the store: another process opened it meanwhile. Open it again");
    }
  }

  /**
   * Says that the writer is about to change what it shares with a writer that may come, and
   * requires that none has come. A later writer sees that this one is inside.
   *
   * @throws io.zrecord.errors.WriterReplacedException if another writer has come
   */
  public void enter(WriterToken writer) {
    long found = (long) LONG.getAndSet(map, STATE_AT, INSIDE);
    VarHandle.fullFence();
    boolean isWriter = false;
    try {
      writer.require();
      isWriter = true;
    } finally {
      // What says that the writer before may be inside stays.
      if (!isWriter && isOutside(found)) {
        LONG.setRelease(map, STATE_AT, found);
      }
    }
  }

  /** Says that everything is changed. */
  public void leave() {
    LONG.setRelease(map, STATE_AT, OUTSIDE);
  }

  /**
   * Says after a failure that nobody is changing the tables, which the caller has closed, so that
   * the next writer needs no copies of them. Call this only if the writer before was not inside
   * either. Another writer that has come knows by itself.
   */
  public void endFailed(WriterToken writer) {
    if (writer.isPresent()) {
      leave();
    }
  }

  private long state() {
    return (long) LONG.getAcquire(map, STATE_AT);
  }

  /**
   * Tells whether the last writer closed the store, which no other has opened since: everything is
   * in the tables.
   */
  private boolean isClosed() {
    return saysClosed() && (recoveryStamp() & 1) == 0;
  }

  /** Tells whether the store was closed before anything but a writer began to change the files. */
  public boolean saysClosed() {
    return state() == CLOSED;
  }

  /**
   * Says that the store was closed, and that this writer will change nothing any more. Everything
   * must be durable in the tables. If another writer has come, says nothing of the store: what is
   * there is the state of that writer.
   */
  public static void close(MutableFiles files, UUID storeId, WriterToken writer) {
    if (writer.isPresent()) {
      LiveState live = map(files, storeId, true);
      // While the token is there, the name led to the file of this writer. Another that comes from
      // now on replaces the file, and finds a store to which nothing will be added.
      if (!writer.isPresent()) {
        LOG.debug("Closed {}, which another writer has opened since", files.location());
      } else if (!LONG.compareAndSet(live.map, STATE_AT, OUTSIDE, CLOSED)) {
        LOG.warn(
            "Closed {} without a mark of that, because {} has the state {}: the next writer opens"
                + " it as one that was left",
            files.location(),
            FILE_NAME,
            live.state());
      } else {
        try {
          live.force(files);
        } catch (DiskFullException e) {
          // The token stays, and says that the mark may not be there.
          LOG.warn(
              "Closed {} without a durable mark of that: {}", files.location(), e.getMessage());
          return;
        }
      }
    }
    writer.release();
  }

  /** Lets readers find after power loss what they would find now. */
  public void force(MutableFiles files) {
    try (MutableFile file = files.open(FILE_NAME, true)) {
      file.force();
    }
  }

  /**
   * Returns whether the store was closed with exactly this length and sequence, and nothing is
   * being changed.
   */
  public boolean isAtRest(long length, long sequence) {
    if (!isClosed() || length() != length || sequence() != sequence) {
      return false;
    }
    long changing = 0;
    for (int at = STRIPES_AT; at < FILE_BYTES; at += Long.BYTES) {
      changing |= (long) LONG.getAcquire(map, at);
    }
    return (changing & 1) == 0;
  }

  /** Opens the file to follow what another process writes. */
  public static LiveState open(MutableFiles files, UUID storeId) {
    return map(files, storeId, false);
  }

  private static LiveState map(MutableFiles files, UUID storeId, boolean writable) {
    return new LiveState(LiveFile.map(files, storeId, writable));
  }

  /** Returns the number of records published. All that the writer stored before is visible. */
  public long length() {
    return (long) LONG.getAcquire(map, LENGTH_AT);
  }

  /**
   * Returns the number of the journal record whose changes are in the tables, or on their way
   * there.
   */
  public long sequence() {
    return (long) LONG.getAcquire(map, SEQUENCE_AT);
  }

  /** Called before the changes of a journal record go to the tables. */
  public void beginGroup(long sequence) {
    LONG.setRelease(map, SEQUENCE_AT, sequence);
    VarHandle.fullFence();
  }

  /** Publishes records whose entries are stored. */
  public void publish(long length) {
    LONG.setRelease(map, LENGTH_AT, length);
  }

  /** Begins to say which records a group changes. */
  public void beginChange() {
    changing.clear();
  }

  /** Names a record whose entries are going to change. */
  public void change(long index) {
    changing.set((int) index & (STRIPES - 1));
  }

  /** Ends the naming of records; from now on readers wait for the records named. */
  public void beginStores() {
    incrementChanging();
    VarHandle.fullFence();
  }

  /** Ends the change: the entries and the length are final. */
  public void endChange() {
    VarHandle.fullFence();
    incrementChanging();
  }

  private void incrementChanging() {
    for (int stripe = changing.nextSetBit(0);
        stripe >= 0;
        stripe = changing.nextSetBit(stripe + 1)) {
      increment(STRIPES_AT + stripe * Long.BYTES);
    }
  }

  private void increment(int at) {
    LONG.setRelease(map, at, (long) LONG.get(map, at) + 1);
  }

  /** Returns the stamp of all records: odd during a recovery, or if the file is withdrawn. */
  public long recoveryStamp() {
    return (long) LONG.getAcquire(map, RECOVERY_STAMP_AT);
  }

  /** Returns the stamp that covers a record: odd while the record may change. */
  public long changeStamp(long index) {
    return (long) LONG.getAcquire(map, stripeAt(index));
  }

  /** Keeps the loads of what is validated before the loads of the stamps. */
  public static void validate() {
    VarHandle.acquireFence();
  }

  private static int stripeAt(long index) {
    return STRIPES_AT + (int) (index & (STRIPES - 1)) * Long.BYTES;
  }
}
