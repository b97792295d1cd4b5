package io.zrecord.internal.online;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.HeaderVersion;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.UUID;

/**
 * What the writer tells readers, in a small file that all of them map: the published length, and stamps by which a reader knows
 * that what it saw was whole (FORMAT.md section 9). A stamp is odd while what it stands for changes, and grows with each change:
 * one stands for the recovery of the store, one for each stripe of records. A file in whose place another comes is withdrawn first, for
 * readers go on to map it. Thread-safe; one writer.
 */
public final class LiveState {
  static final String FILE_NAME = "live";

  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final byte[] MAGIC = "ZRECLIVE".getBytes(StandardCharsets.US_ASCII);
  private static final int STRIPES = 1024;
  private static final int CRC_AT = 40;
  private static final int LENGTH_AT = 64;
  private static final int SEQUENCE_AT = 72;
  private static final int RECOVERY_STAMP_AT = 128;
  private static final int STRIPES_AT = 192;
  private static final int FILE_BYTES = STRIPES_AT + STRIPES * Long.BYTES;

  /** The stamp of all records in a file that nobody keeps up to date any more; odd. */
  private static final long WITHDRAWN = -1;

  private final ByteBuffer map;

  /** The writer's. */
  private final BitSet changing = new BitSet(STRIPES);

  private LiveState(ByteBuffer map) {
    this.map = map;
  }

  /**
   * The state for a writer that has just begun: nothing is readable until {@link #endRecovery}. A file that is there stays, so that
   * readers who follow it see the new writer; one that is damaged or withdrawn is made anew.
   */
  static LiveState beginRecovery(MutableFiles files, UUID storeId) {
    if (!files.exists(FILE_NAME)) {
      files.replace(FILE_NAME, emptyFile(storeId, 0));
    }
    LiveState live;
    try {
      live = map(files, storeId, true);
    } catch (CorruptDataException e) {
      withdraw(files);
      live = renew(files, storeId, 0);
    }
    if (live.isWithdrawn()) {
      // What was safe before is not forgotten until the recovery is over.
      live = renew(files, storeId, live.sequence());
    }
    live.beginRecovery();
    return live;
  }

  private static LiveState renew(MutableFiles files, UUID storeId, long sequence) {
    files.replace(FILE_NAME, emptyFile(storeId, sequence));
    return map(files, storeId, true);
  }

  /**
   * Tells readers that the file does not say the truth any more, for good; the next writer makes another, which they look for. To be called
   * with the writer's lock held, before files of the store are put in order behind the back of a writer. Damaged files are withdrawn as well. The sequence number stays: what it says was safe.
   */
  public static void withdraw(MutableFiles files) {
    if (!files.exists(FILE_NAME)) {
      return;
    }
    try (MutableFile file = files.open(FILE_NAME, true)) {
      long lengthBytes = file.lengthBytes();
      if (lengthBytes < FILE_BYTES) {
        file.write(lengthBytes, ByteBuffer.allocate((int) (FILE_BYTES - lengthBytes)));
      }
      ByteBuffer map = file.map(0, FILE_BYTES, true);
      LONG.setRelease(map, RECOVERY_STAMP_AT, WITHDRAWN);
      VarHandle.fullFence();
    }
  }

  /** Whether it is withdrawn: what it says is not to be believed, and there is another file or there will be. */
  boolean isWithdrawn() {
    return recoveryStamp() == WITHDRAWN;
  }

  /** Whether another file has come in the place of this one, which is withdrawn, and its first recovery is over. */
  boolean isSucceeded(MutableFiles files, UUID storeId) {
    try {
      return isWithdrawn() && (open(files, storeId).recoveryStamp() & 1) == 0;
    } catch (ZRecordException e) {
      return false; // It is just coming, or is damaged again.
    }
  }

  /** A file whose stamp of all records is odd: it has no length yet. */
  private static byte[] emptyFile(UUID storeId, long sequence) {
    byte[] content = new byte[FILE_BYTES];
    ByteBuffer buffer = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    buffer.put(MAGIC).putInt(1).putInt(FILE_BYTES);
    buffer
        .order(ByteOrder.BIG_ENDIAN)
        .putLong(storeId.getMostSignificantBits())
        .putLong(storeId.getLeastSignificantBits())
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(CRC_AT, Crc32c.of(content, 0, CRC_AT))
        .putLong(SEQUENCE_AT, sequence)
        .putLong(RECOVERY_STAMP_AT, 1);
    return content;
  }

  /** A writer that was killed may have left stamps odd. */
  private void beginRecovery() {
    LONG.setRelease(map, RECOVERY_STAMP_AT, (long) LONG.get(map, RECOVERY_STAMP_AT) + 2 | 1);
    VarHandle.fullFence();
    for (int at = STRIPES_AT; at < FILE_BYTES; at += Long.BYTES) {
      LONG.setRelease(map, at, (long) LONG.get(map, at) + 1 & ~1L);
    }
  }

  /** Lets readers in. */
  void endRecovery(long length, long sequence) {
    beginGroup(sequence);
    publish(length);
    VarHandle.fullFence();
    increment(RECOVERY_STAMP_AT);
  }

  /** Lets readers find after power loss what they would find now. */
  void force(MutableFiles files) {
    try (MutableFile file = files.open(FILE_NAME, true)) {
      file.force();
    }
  }

  /** Whether nothing is being changed, and exactly this is published. */
  boolean isAtRest(long length, long sequence) {
    if ((recoveryStamp() & 1) != 0 || length() != length || sequence() != sequence) {
      return false;
    }
    long changing = 0;
    for (int at = STRIPES_AT; at < FILE_BYTES; at += Long.BYTES) {
      changing |= (long) LONG.getAcquire(map, at);
    }
    return (changing & 1) == 0;
  }

  /** Follows what another process writes. */
  static LiveState open(MutableFiles files, UUID storeId) {
    return map(files, storeId, false);
  }

  private static LiveState map(MutableFiles files, UUID storeId, boolean writable) {
    try (MutableFile file = files.open(FILE_NAME, writable)) {
      byte[] header = new byte[LENGTH_AT];
      ByteBuffer buffer = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
      int read = file.read(0, buffer);
      buffer.order(ByteOrder.BIG_ENDIAN);
      if (read != header.length
          || !java.util.Arrays.equals(header, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
          || buffer.order(ByteOrder.LITTLE_ENDIAN).getInt(CRC_AT) != Crc32c.of(header, 0, CRC_AT)) {
        throw damaged(file);
      }
      HeaderVersion.requireKnown(file.path(), header);
      buffer.order(ByteOrder.BIG_ENDIAN);
      if (file.lengthBytes() != FILE_BYTES
          || buffer.getLong(16) != storeId.getMostSignificantBits()
          || buffer.getLong(24) != storeId.getLeastSignificantBits()) {
        throw damaged(file);
      }
      return new LiveState(file.map(0, FILE_BYTES, writable));
    }
  }

  private static CorruptDataException damaged(MutableFile file) {
    return new CorruptDataException(
        file.path(),
        "Cannot read " + file.path()
            + ": it is damaged or of another store. It has no data of its own: open the store for writing once, which makes it anew");
  }

  /** Records that are published. All that the writer stored before it published them is visible. */
  long length() {
    return (long) LONG.getAcquire(map, LENGTH_AT);
  }

  /** Number of the journal record whose changes are in the tables, or are just getting there. */
  long sequence() {
    return (long) LONG.getAcquire(map, SEQUENCE_AT);
  }

  /** Before the changes of a journal record go to the tables. */
  void beginGroup(long sequence) {
    LONG.setRelease(map, SEQUENCE_AT, sequence);
    VarHandle.fullFence();
  }

  /** Publishes records whose entries are stored. */
  void publish(long length) {
    LONG.setRelease(map, LENGTH_AT, length);
  }

  /** Begins to say which records a group changes. */
  void beginChange() {
    changing.clear();
  }

  /** A record whose entries are going to change. */
  void change(long index) {
    changing.set((int) index & (STRIPES - 1));
  }

  /** All records are named: from now on readers wait for them. */
  void beginStores() {
    incrementChanging();
    VarHandle.fullFence();
  }

  /** The entries have changed, and the length has. */
  void endChange() {
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

  long recoveryStamp() {
    return (long) LONG.getAcquire(map, RECOVERY_STAMP_AT);
  }

  long changeStamp(long index) {
    return (long) LONG.getAcquire(map, stripeAt(index));
  }

  /** Between the loads of what is to be validated and those of the stamps. */
  static void validate() {
    VarHandle.acquireFence();
  }

  private static int stripeAt(long index) {
    return STRIPES_AT + (int) (index & (STRIPES - 1)) * Long.BYTES;
  }
}
