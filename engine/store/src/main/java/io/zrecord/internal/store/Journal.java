package io.zrecord.internal.store;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.HeaderVersion;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.UUID;

/**
 * The journal of a store: one {@link JournalRecord} for each group of operations since the last
 * checkpoint (FORMAT.md section 9). Only whole records count. Used by one thread at a time.
 */
public final class Journal implements AutoCloseable {
  public static final String FILE_NAME = JournalRecord.FILE_NAME;

  private static final int SCAN_BYTES = 1 << 20;

  /**
   * Limit of the search after a damaged record, as a multiple of the remaining bytes. Each record
   * is checked once, but bytes that only look like records may overlap.
   */
  private static final int MAX_SEARCH_FACTOR = 4;

  private final MutableFile file;
  private final UUID storeId;
  private final Binding binding;
  private final JournalRecord.Encoder encoder;
  private long endBytes = JournalHeader.BYTES;
  private long sequence;
  private boolean isForced = true;

  private Journal(MutableFile file, UUID storeId, long sequence) {
    this.file = file;
    this.storeId = storeId;
    this.binding = new Binding(storeId, 0);
    this.encoder = new JournalRecord.Encoder(binding);
    this.sequence = sequence;
  }

  /** Creates the file; the caller forces the directory. */
  public static Journal create(MutableFiles files, UUID storeId) {
    Journal journal = new Journal(files.create(FILE_NAME), storeId, 0);
    boolean isWhole = false;
    try {
      journal.writeHeader();
      isWhole = true;
      return journal;
    } finally {
      if (!isWhole) {
        journal.close();
      }
    }
  }

  /**
   * Opens the journal of a store whose tables contain the records up to {@code checkpointSequence}.
   */
  public static Journal open(
      MutableFiles files, UUID storeId, long checkpointSequence, boolean writable) {
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

  /**
   * Puts a copy of the journal in its place, before anything of it is read. A writer that has the
   * old file open, and goes on, writes to a file that has no name any more. What it acknowledged is
   * in the copy.
   */
  public static void detach(MutableFiles files, WriterToken writer) {
    try (MutableFile old = files.open(FILE_NAME, false)) {
      files.replace(FILE_NAME, copy -> copy(old, copy), writer::require);
    }
  }

  /** Copies up to the end, which a writer that goes on may move meanwhile. */
  private static void copy(MutableFile from, MutableFile to) {
    ByteBuffer block = ByteBuffer.allocate(SCAN_BYTES);
    long at = 0;
    for (int bytes = from.read(at, block); bytes > 0; bytes = from.read(at, block.clear())) {
      to.write(at, block.flip());
      at += bytes;
    }
  }

  /** Returns the number of the last record. */
  public long sequence() {
    return sequence;
  }

  /** Returns the bytes since the last checkpoint. */
  public long lengthBytes() {
    return endBytes - JournalHeader.BYTES;
  }

  /**
   * Appends the record of a group. A failed write may be tried again.
   *
   * @throws TruncatedFileException if the journal was cut since the record before
   */
  public void append(Changes changes, int fieldCount, Collection<JournalChunk> chunks) {
    requireUncut();
    encoder.begin(
        sequence + 1,
        isForced ? JournalRecord.FORCED_BEFORE : 0,
        changes.length(),
        fieldCount,
        chunks.size(),
        liveSlots(changes));
    chunks.forEach(encoder::chunk);
    for (int slot = 0; slot < changes.slotCount(); slot++) {
      if (changes.index(slot) >= changes.length()) {
        continue;
      }
      encoder.slot(changes.index(slot));
      for (int field = 0; field < fieldCount; field++) {
        encoder.entry(
            changes.word0(slot, field), changes.word1(slot, field), changes.checksum(slot, field));
      }
    }
    int bytes = encoder.bytes();
    file.write(endBytes, encoder.end(bytes));
    endBytes += bytes;
    sequence++;
    isForced = false;
  }

  private void requireUncut() {
    long lengthBytes = file.lengthBytes();
    if (lengthBytes < endBytes) {
      throw new TruncatedFileException(
          file.path(),
          "Cannot write to " + file.path() + ": it has " + lengthBytes + " bytes, but " + endBytes
              + " were written. Another program cut it: verify the store before you go on");
    }
  }

  /** Counts the records that are still within the length. */
  private static int liveSlots(Changes changes) {
    int live = 0;
    for (int slot = 0; slot < changes.slotCount(); slot++) {
      live += changes.index(slot) < changes.length() ? 1 : 0;
    }
    return live;
  }

  public void force() {
    file.force();
    isForced = true;
  }

  /** Drops all records. The tables must contain them. */
  public void empty() {
    file.setLength(JournalHeader.BYTES);
    // Also if the force fails: the next record comes here.
    endBytes = JournalHeader.BYTES;
    file.force();
    isForced = true;
  }

  @Override
  public void close() {
    file.close();
  }

  /** Takes the content of a journal's records. */
  public interface Visitor {
    /** Takes a chunk, before entries that may point to what is carried of the chunk. */
    void chunk(JournalChunk chunk);

    void entry(long index, int field, long word0, long word1, int checksum);

    void endRecord(long length);
  }

  /**
   * Replays the records since the checkpoint. Later records are appended after the last whole
   * record.
   *
   * @param checkpointLength number of records at the checkpoint
   * @return bytes at the end that were not a whole record
   * @throws CorruptDataException if a record is damaged that was once whole, because a later record
   *     says that it was forced to disk
   */
  public long replay(int fieldCount, long checkpointLength, Visitor visitor) {
    long fileBytes = file.lengthBytes();
    replayUpTo(Long.MAX_VALUE, fileBytes, fieldCount, checkpointLength, visitor);
    requireTail(endBytes, fileBytes);
    isForced = false;
    return fileBytes - endBytes;
  }

  /**
   * Replays whole records since the checkpoint, up to the record with the given number. A writer
   * may append other records meanwhile.
   */
  public void replayUpTo(
      long lastSequence, long fileBytes, int fieldCount, long checkpointLength, Visitor visitor) {
    long length = checkpointLength;
    endBytes = JournalHeader.BYTES;
    while (sequence < lastSequence) {
      JournalRecord record = JournalRecord.read(file::read, endBytes, fileBytes, binding);
      if (record == null || record.sequence() > sequence + 1) {
        break;
      }
      if (record.sequence() == sequence + 1) {
        record.requirePlain(file.path());
        visit(record, fieldCount, length, visitor);
        length = record.length();
        sequence++;
      }
      endBytes += record.bytes();
    }
  }

  /** Tells whether the file contains not even a part of a record. */
  public boolean isEmpty() {
    return file.lengthBytes() == JournalHeader.BYTES;
  }

  /** Returns the length of the file in bytes, including records that are not whole. */
  public long fileBytes() {
    return file.lengthBytes();
  }

  private void visit(JournalRecord record, int fieldCount, long lengthBefore, Visitor visitor) {
    String contradiction = record.contradiction(fieldCount, lengthBefore);
    if (contradiction != null) {
      throw new CorruptDataException(
          file.path(),
          "Cannot read " + file.path() + ": record " + record.sequence() + " of " + record.bytes()
              + " bytes " + contradiction + ". Restore the store from a copy");
    }
    record.chunks().forEach(visitor::chunk);
    for (int slot = 0; slot < record.slotCount(); slot++) {
      long index = record.index(slot);
      for (int field = 0; field < fieldCount; field++) {
        visitor.entry(
            index,
            field,
            record.word0(slot, field),
            record.word1(slot, field),
            record.checksum(slot, field));
      }
    }
    visitor.endRecord(record.length());
  }

  /** Checks that only one cut record follows the last whole record. */
  private void requireTail(long at, long fileBytes) {
    ByteBuffer block = ByteBuffer.allocate(SCAN_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    long blockAt = at;
    int found = 0;
    long searchBytes = MAX_SEARCH_FACTOR * (fileBytes - at);
    for (long next = at;
        next <= fileBytes - JournalRecord.HEADER_BYTES;
        next += JournalRecord.ALIGNMENT) {
      if (next + JournalRecord.HEADER_BYTES > blockAt + found) {
        blockAt = next;
        found = file.read(next, block.clear());
        if (found < JournalRecord.HEADER_BYTES) {
          return;
        }
      }
      int inBlock = (int) (next - blockAt);
      if (isProof(block, inBlock, fileBytes - next)) {
        searchBytes -= JournalRecord.bytesAt(block, inBlock);
        if (searchBytes < 0) {
          throw damaged(
              at, "and behind it is more that looks like records than a journal can have");
        }
        JournalRecord record = JournalRecord.read(file::read, next, fileBytes, binding);
        if (record != null) {
          throw damaged(
              at,
              "but record " + record.sequence() + " at byte " + next
                  + " was written when it was safe");
        }
      }
    }
  }

  /** Tells whether a header, if its record is whole, proves that the damaged record was safe. */
  private boolean isProof(ByteBuffer block, int at, long bytesLeft) {
    return JournalRecord.isHeader(block, at, bytesLeft)
        && JournalRecord.sequenceAt(block, at) > sequence + 1
        && JournalRecord.isForcedBefore(block, at);
  }

  private CorruptDataException damaged(long at, String reason) {
    return new CorruptDataException(
        file.path(),
        "Cannot read " + file.path() + ": record " + (sequence + 1) + " at byte " + at
            + " is damaged, " + reason + ". Restore the store from a copy; what was"
            + " committed before record " + (sequence + 1) + " can be read as it is");
  }

  private void writeHeader() {
    file.write(0, ByteBuffer.wrap(new JournalHeader(storeId).encode()));
    file.force();
  }

  private void checkHeader() {
    byte[] header = new byte[JournalHeader.BYTES];
    file.read(0, ByteBuffer.wrap(header));
    if (!JournalHeader.isWhole(header)) {
      throw badHeader();
    }
    HeaderVersion.requireKnown(file.path(), header);
    HeaderVersion.requirePlain(file.path(), header, JournalHeader.BYTES, 32, 60);
    if (!new JournalHeader(storeId).isIdOf(header)) {
      throw badHeader();
    }
  }

  private CorruptDataException badHeader() {
    return new CorruptDataException(
        file.path(),
        "Cannot read " + file.path()
            + ": its header is damaged, or it is of another store. Restore it from a copy");
  }
}
