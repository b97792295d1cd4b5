package io.zrecord.internal.online;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.HeaderVersion;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.UUID;

/**
 * The journal of a store: one record for each group of operations, from the last checkpoint on (FORMAT.md section 9). A record is
 * whole or it does not count. Belongs to one thread at a time.
 */
final class Journal implements AutoCloseable {
  static final String FILE_NAME = "journal";

  private static final byte[] MAGIC = "ZRECJRNL".getBytes(StandardCharsets.US_ASCII);
  private static final int FILE_HEADER_BYTES = 64;
  private static final int FILE_CRC_AT = 60;
  private static final int RECORD_MAGIC = 0x4a52_525a;
  private static final int RECORD_HEADER_BYTES = 32;
  private static final int FLAG_FORCED_BEFORE = 1;
  private static final int ENTRY_BYTES = 20;
  private static final int CHUNK_BYTES = 24;
  private static final int COUNTS_BYTES = 24;
  private static final int SCAN_BYTES = 1 << 20;

  /** Records that follow a damaged one are checked once; what only looks like records may overlap, and is not to be read without end. */
  private static final int MAX_SEARCH_FACTOR = 4;

  private final MutableFile file;
  private final UUID storeId;
  private byte[] bytes = new byte[1 << 16];
  private long endBytes = FILE_HEADER_BYTES;
  private long sequence;
  private boolean isForced = true;

  private Journal(MutableFile file, UUID storeId, long sequence) {
    this.file = file;
    this.storeId = storeId;
    this.sequence = sequence;
  }

  /** Creates the file; the caller forces the directory. */
  static Journal create(MutableFiles files, UUID storeId) {
    Journal journal = new Journal(files.create(FILE_NAME), storeId, 0);
    journal.writeHeader();
    return journal;
  }

  /** Opens the journal of a store whose tables contain the records up to {@code checkpointSequence}. */
  static Journal open(MutableFiles files, UUID storeId, long checkpointSequence, boolean writable) {
    Journal journal = new Journal(files.open(FILE_NAME, writable), storeId, checkpointSequence);
    boolean isSound = false;
    try {
      journal.checkHeader();
      isSound = true;
      return journal;
    } finally {
      if (!isSound) {
        journal.close();
      }
    }
  }

  /** Number of the last record. */
  long sequence() {
    return sequence;
  }

  /** Bytes since the last checkpoint. */
  long lengthBytes() {
    return endBytes - FILE_HEADER_BYTES;
  }

  /** Writes the record of a group behind the last one. If that fails, the same may be tried again. */
  void append(Changes changes, int fieldCount, Collection<ChunkMeta> chunks) {
    int slots = liveSlots(changes);
    long bodyBytes = COUNTS_BYTES
        + (long) chunks.size() * CHUNK_BYTES
        + (long) slots * (Long.BYTES + (long) fieldCount * ENTRY_BYTES);
    int padded = Math.toIntExact((RECORD_HEADER_BYTES + bodyBytes + 7) & ~7L);
    if (bytes.length < padded) {
      bytes = new byte[Math.max(padded, Math.min(1 << 28, 2 * bytes.length))];
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    buffer
        .putInt(RECORD_MAGIC)
        .putInt(padded)
        .putLong(sequence + 1)
        .putInt(isForced ? FLAG_FORCED_BEFORE : 0)
        .putInt(0)
        .putLong(0);
    buffer
        .putLong(changes.length())
        .putInt(fieldCount)
        .putInt(chunks.size())
        .putInt(slots)
        .putInt(0);
    for (ChunkMeta chunk : chunks) {
      buffer.putInt(chunk.id()).putInt(0).putLong(chunk.recordCount()).putLong(chunk.endBytes());
    }
    for (int slot = 0; slot < changes.slotCount(); slot++) {
      if (changes.index(slot) >= changes.length()) {
        continue;
      }
      buffer.putLong(changes.index(slot));
      for (int field = 0; field < fieldCount; field++) {
        buffer
            .putLong(changes.word0(slot, field))
            .putLong(changes.word1(slot, field))
            .putInt(changes.checksum(slot, field));
      }
    }
    while (buffer.position() < padded) {
      buffer.put((byte) 0);
    }
    buffer.putInt(20, Crc32c.of(bytes, 0, padded));
    file.write(endBytes, buffer.flip());
    endBytes += padded;
    sequence++;
    isForced = false;
  }

  /** Records that are still within the length. */
  private static int liveSlots(Changes changes) {
    int live = 0;
    for (int slot = 0; slot < changes.slotCount(); slot++) {
      live += changes.index(slot) < changes.length() ? 1 : 0;
    }
    return live;
  }

  void force() {
    file.force();
    isForced = true;
  }

  /** Drops all records, when the tables contain them. */
  void empty() {
    file.setLength(FILE_HEADER_BYTES);
    file.force();
    endBytes = FILE_HEADER_BYTES;
    isForced = true;
  }

  @Override
  public void close() {
    file.close();
  }

  /** What the records of a journal say. */
  interface Visitor {
    void chunk(ChunkMeta chunk);

    void entry(long index, int field, long word0, long word1, int checksum);

    void endRecord(long length);
  }

  /**
   * Replays the records behind the checkpoint and goes on behind the last whole one.
   *
   * @param checkpointLength records as of the checkpoint
   * @return bytes behind it that were not a whole record
   * @throws CorruptDataException if a record is damaged that must have been whole, for a later one says that it was forced
   */
  long replay(int fieldCount, long checkpointLength, Visitor visitor) {
    long fileBytes = file.lengthBytes();
    replayUpTo(Long.MAX_VALUE, fileBytes, fieldCount, checkpointLength, visitor);
    requireTail(endBytes, fileBytes);
    isForced = false;
    return fileBytes - endBytes;
  }

  /** Replays whole records behind the checkpoint, up to the one with a number, while others may be written behind them. */
  void replayUpTo(
      long lastSequence, long fileBytes, int fieldCount, long checkpointLength, Visitor visitor) {
    long length = checkpointLength;
    endBytes = FILE_HEADER_BYTES;
    while (sequence < lastSequence) {
      ByteBuffer record = read(endBytes, fileBytes);
      if (record == null || record.getLong(8) > sequence + 1) {
        break;
      }
      if (record.getLong(8) == sequence + 1) {
        length = visit(record, fieldCount, length, visitor);
        sequence++;
      }
      endBytes += record.limit();
    }
  }

  /** Whether the file has not even a part of a record. */
  boolean isEmpty() {
    return file.lengthBytes() == FILE_HEADER_BYTES;
  }

  /** Bytes of the file, of records that are not whole as well. */
  long fileBytes() {
    return file.lengthBytes();
  }

  private long visit(ByteBuffer record, int fieldCount, long lengthBefore, Visitor visitor) {
    long length = record.getLong(RECORD_HEADER_BYTES);
    int fields = record.getInt(RECORD_HEADER_BYTES + 8);
    int chunks = record.getInt(RECORD_HEADER_BYTES + 12);
    int slots = record.getInt(RECORD_HEADER_BYTES + 16);
    long needed = RECORD_HEADER_BYTES
        + COUNTS_BYTES
        + (long) chunks * CHUNK_BYTES
        + (long) slots * (Long.BYTES + (long) fieldCount * ENTRY_BYTES);
    if (fields != fieldCount
        || chunks < 0
        || slots < 0
        || length < 0
        || length - slots > lengthBefore
        || needed > record.limit()) {
      throw new CorruptDataException(
          file.path(),
          "Cannot read " + file.path() + ": record " + record.getLong(8) + " of " + record.limit()
              + " bytes contradicts itself: " + fields + " fields where the store has "
              + fieldCount + ", " + chunks + " chunks, " + slots + " records, length " + length
              + " after " + lengthBefore
              + ". Restore the store from a copy");
    }
    record.position(RECORD_HEADER_BYTES + COUNTS_BYTES);
    for (int i = 0; i < chunks; i++) {
      int id = record.getInt();
      record.getInt();
      ChunkMeta chunk = new ChunkMeta(id, record.getLong(), record.getLong());
      if (chunk.recordCount() < 0 || chunk.endBytes() < ChunkHeader.BYTES) {
        throw new CorruptDataException(
            file.path(),
            "Cannot read " + file.path() + ": it says that " + chunk.fileName() + " has "
                + chunk.recordCount() + " records and ends at byte " + chunk.endBytes()
                + ". Restore the store from a copy");
      }
      visitor.chunk(chunk);
    }
    for (int slot = 0; slot < slots; slot++) {
      long index = record.getLong();
      if (index < 0 || index >= length) {
        throw new CorruptDataException(
            file.path(),
            "Cannot read " + file.path() + ": record " + record.getLong(8)
                + " changes the record at " + index + ", but the length is " + length
                + ". Restore the store from a copy");
      }
      for (int field = 0; field < fieldCount; field++) {
        visitor.entry(index, field, record.getLong(), record.getLong(), record.getInt());
      }
    }
    visitor.endRecord(length);
    return length;
  }

  /** The record at a position if it is whole, with its length as limit. */
  private @org.jspecify.annotations.Nullable ByteBuffer read(long at, long fileBytes) {
    if (at > fileBytes - RECORD_HEADER_BYTES) {
      return null;
    }
    ByteBuffer header = allocate(RECORD_HEADER_BYTES);
    int found = file.read(at, header);
    int length = header.getInt(4);
    if (found < RECORD_HEADER_BYTES
        || header.getInt(0) != RECORD_MAGIC
        || !isLength(length, fileBytes - at)) {
      return null;
    }
    byte[] content = new byte[length];
    ByteBuffer record = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    if (file.read(at, record) < length) {
      return null;
    }
    record.flip();
    int stored = record.getInt(20);
    record.putInt(20, 0);
    return stored == Crc32c.of(content, 0, length) ? record : null;
  }

  private static boolean isLength(int length, long bytesLeft) {
    return length >= RECORD_HEADER_BYTES + COUNTS_BYTES && (length & 7) == 0 && length <= bytesLeft;
  }

  /** What follows the last whole record must not be more than one that was cut. */
  private void requireTail(long at, long fileBytes) {
    ByteBuffer block = allocate(SCAN_BYTES);
    long blockAt = at;
    int found = 0;
    long searchBytes = MAX_SEARCH_FACTOR * (fileBytes - at);
    for (long next = at; next <= fileBytes - RECORD_HEADER_BYTES; next += 8) {
      if (next + RECORD_HEADER_BYTES > blockAt + found) {
        blockAt = next;
        found = file.read(next, block.clear());
        if (found < RECORD_HEADER_BYTES) {
          return;
        }
      }
      int place = (int) (next - blockAt);
      if (isProof(block, place, fileBytes - next)) {
        searchBytes -= block.getInt(place + 4);
        if (searchBytes < 0) {
          throw damaged(
              at, "and behind it is more that looks like records than a journal can have");
        }
        ByteBuffer record = read(next, fileBytes);
        if (record != null) {
          throw damaged(
              at,
              "but record " + record.getLong(8) + " at byte " + next
                  + " was written when it was safe");
        }
      }
    }
  }

  /** Whether a header is, if its record is whole, of one that was written when the damaged one was safe. */
  private boolean isProof(ByteBuffer block, int place, long bytesLeft) {
    return block.getInt(place) == RECORD_MAGIC
        && block.getLong(place + 8) > sequence + 1
        && (block.getInt(place + 16) & FLAG_FORCED_BEFORE) != 0
        && isLength(block.getInt(place + 4), bytesLeft);
  }

  private CorruptDataException damaged(long at, String reason) {
    return new CorruptDataException(
        file.path(),
        "Cannot read " + file.path() + ": record " + (sequence + 1) + " at byte " + at
            + " is damaged, " + reason + ". Restore the store from a copy; what was"
            + " committed before record " + (sequence + 1) + " can be read as it is");
  }

  private void writeHeader() {
    byte[] header = new byte[FILE_HEADER_BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    bytes.put(MAGIC).putInt(1).putInt(FILE_HEADER_BYTES);
    bytes
        .order(ByteOrder.BIG_ENDIAN)
        .putLong(storeId.getMostSignificantBits())
        .putLong(storeId.getLeastSignificantBits())
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(FILE_CRC_AT, Crc32c.of(header, 0, FILE_CRC_AT));
    file.write(0, ByteBuffer.wrap(header));
    file.force();
  }

  private void checkHeader() {
    byte[] header = new byte[FILE_HEADER_BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    file.read(0, bytes);
    if (!java.util.Arrays.equals(header, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
        || bytes.getInt(FILE_CRC_AT) != Crc32c.of(header, 0, FILE_CRC_AT)) {
      throw badHeader();
    }
    HeaderVersion.requireKnown(file.path(), header);
    bytes.order(ByteOrder.BIG_ENDIAN);
    if (bytes.getLong(16) != storeId.getMostSignificantBits()
        || bytes.getLong(24) != storeId.getLeastSignificantBits()) {
      throw badHeader();
    }
  }

  private CorruptDataException badHeader() {
    return new CorruptDataException(
        file.path(),
        "Cannot read " + file.path()
            + ": its header is damaged, or it is of another store. Restore it from a copy");
  }

  private static ByteBuffer allocate(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
