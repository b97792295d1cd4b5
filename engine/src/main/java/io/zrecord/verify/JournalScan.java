package io.zrecord.verify;

import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the journal of a store record by record (FORMAT.md section 9), up to its end or to where it is damaged, and what stands behind
 * that. Changes nothing. Belongs to one thread.
 */
final class JournalScan {
  static final String FILE_NAME = "journal";
  static final int RECORD_MAGIC = 0x4a52_525a;
  static final int RECORD_HEADER_BYTES = 32;
  static final int COUNTS_BYTES = 24;
  static final int CHUNK_BYTES = 24;
  static final int ENTRY_BYTES = 20;
  private static final int FLAG_FORCED_BEFORE = 1;
  private static final int SEARCH_BYTES = 1 << 16;

  /** As in the journal itself: what only looks like records may overlap, and is not to be read without end. */
  private static final int MAX_SEARCH_FACTOR = 4;

  private final int fieldCount;
  private final Map<Integer, ChunkMeta> changedChunks = new HashMap<>();
  private final JournalOverlay overlay = new JournalOverlay();
  private JournalHeader header = JournalHeader.MISSING;
  private @Nullable Damage damage;
  private long endBytes = JournalHeader.BYTES;
  private long tornBytes;
  private long searchBytesLeft;
  private long sequence;
  private long length;

  /**
   * A record that is damaged although a later one says that it was safe.
   *
   * @param atByte where it begins
   * @param lostBytes bytes from there to the end of the file
   * @param firstSequence its number
   * @param lastSequence number of the last record that is whole behind it
   * @param problem what is wrong with it
   */
  record Damage(
      long atByte, long lostBytes, long firstSequence, long lastSequence, String problem) {}

  private JournalScan(StoreMeta meta) {
    this.fieldCount = meta.shard().fields().size();
    this.sequence = meta.sequence();
    this.length = meta.shard().length();
  }

  /** Reads the journal of the store with that meta file. */
  static JournalScan of(MutableFiles files, StoreMeta meta) {
    JournalScan scan = new JournalScan(meta);
    if (files.exists(FILE_NAME)) {
      try (MutableFile file = files.open(FILE_NAME, false)) {
        scan.header = JournalHeader.of(file, meta.shard().id());
        if (scan.header != JournalHeader.FOREIGN) {
          scan.readAll(file);
        }
      }
    }
    scan.overlay.sort();
    return scan;
  }

  JournalHeader header() {
    return header;
  }

  /** Where it is damaged; null if it is not. */
  @Nullable
  Damage damage() {
    return damage;
  }

  /** End of the last record that counts. */
  long endBytes() {
    return endBytes;
  }

  /** Bytes of a last record that was not finished, which nobody was told of as committed. */
  long tornBytes() {
    return tornBytes;
  }

  /** Number of the last record that counts. */
  long sequence() {
    return sequence;
  }

  /** Records of the store afterwards. */
  long length() {
    return length;
  }

  /** Chunks with the ends that the journal gives them; behind a damage the greatest that a whole record says. */
  Collection<ChunkMeta> changedChunks() {
    return changedChunks.values();
  }

  /** The entries that it sets. */
  JournalOverlay overlay() {
    return overlay;
  }

  private void readAll(MutableFile file) {
    long fileBytes = file.lengthBytes();
    long at = JournalHeader.BYTES;
    String problem = "it is not whole";
    while (true) {
      ByteBuffer record = read(file, at, fileBytes);
      if (record == null || record.getLong(8) > sequence + 1) {
        break;
      }
      if (record.getLong(8) == sequence + 1) {
        String contradiction = contradiction(record, length);
        if (contradiction != null) {
          problem = contradiction;
          damage = new Damage(at, fileBytes - at, sequence + 1, sequence + 1, problem);
          break;
        }
        take(record, at);
      }
      at += record.limit();
    }
    endBytes = at;
    findLater(file, at, fileBytes, problem);
    tornBytes = damage == null ? Math.max(0, fileBytes - at) : 0;
  }

  /** The record at a position if it is whole, with its length as limit. */
  private static @Nullable ByteBuffer read(MutableFile file, long at, long fileBytes) {
    if (at > fileBytes - RECORD_HEADER_BYTES) {
      return null;
    }
    ByteBuffer header = ByteBuffer.allocate(RECORD_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    file.read(at, header);
    int length = header.getInt(4);
    if (header.getInt(0) != RECORD_MAGIC
        || length < RECORD_HEADER_BYTES + COUNTS_BYTES
        || (length & 7) != 0
        || length > fileBytes - at) {
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
    return stored == Crc32c.of(content) ? record : null;
  }

  /** @param lengthBefore as the records before it left the store; if some of them are lost {@link Long#MAX_VALUE} */
  private @Nullable String contradiction(ByteBuffer record, long lengthBefore) {
    long newLength = record.getLong(RECORD_HEADER_BYTES);
    int fields = record.getInt(RECORD_HEADER_BYTES + 8);
    int chunks = record.getInt(RECORD_HEADER_BYTES + 12);
    int entries = record.getInt(RECORD_HEADER_BYTES + 16);
    long needed = entriesAt(chunks) + (long) entries * slotBytes();
    if (fields != fieldCount
        || chunks < 0
        || entries < 0
        || newLength < 0
        || newLength - entries > lengthBefore
        || needed > record.limit()) {
      return "it contradicts itself: " + fields + " fields where the store has " + fieldCount + ", "
          + chunks + " chunks, " + entries + " records, length " + newLength
          + " after " + lengthBefore;
    }
    for (int i = 0; i < chunks; i++) {
      ChunkMeta chunk = chunk(record, i);
      if (chunk.recordCount() < 0 || chunk.endBytes() < ChunkHeader.BYTES) {
        return "it says that " + chunk.fileName() + " has " + chunk.recordCount()
            + " records and ends at byte " + chunk.endBytes();
      }
    }
    for (int i = 0; i < entries; i++) {
      long index = record.getLong((int) (entriesAt(chunks) + i * slotBytes()));
      if (index < 0 || index >= newLength) {
        return "it changes record " + index + ", but the length is " + newLength;
      }
    }
    return null;
  }

  private static long entriesAt(int chunks) {
    return RECORD_HEADER_BYTES + COUNTS_BYTES + (long) chunks * CHUNK_BYTES;
  }

  private long slotBytes() {
    return Long.BYTES + (long) fieldCount * ENTRY_BYTES;
  }

  private void take(ByteBuffer record, long at) {
    int chunks = record.getInt(RECORD_HEADER_BYTES + 12);
    int entries = record.getInt(RECORD_HEADER_BYTES + 16);
    takeChunks(record, chunks);
    for (int i = 0; i < entries; i++) {
      int place = (int) (entriesAt(chunks) + i * slotBytes());
      overlay.add(record.getLong(place), at + place + Long.BYTES);
    }
    sequence++;
    length = record.getLong(RECORD_HEADER_BYTES);
  }

  private static ChunkMeta chunk(ByteBuffer record, int ordinal) {
    int place = RECORD_HEADER_BYTES + COUNTS_BYTES + ordinal * CHUNK_BYTES;
    return new ChunkMeta(
        record.getInt(place), record.getLong(place + 8), record.getLong(place + 16));
  }

  private void takeChunks(ByteBuffer record, int chunks) {
    for (int i = 0; i < chunks; i++) {
      ChunkMeta chunk = chunk(record, i);
      changedChunks.merge(
          chunk.id(), chunk, (old, next) -> next.endBytes() > old.endBytes() ? next : old);
    }
  }

  /** Looks for whole records behind the end, of which one that was written when all before were forced proves damage. */
  private void findLater(MutableFile file, long at, long fileBytes, String problem) {
    byte[] piece = new byte[SEARCH_BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(piece).order(ByteOrder.LITTLE_ENDIAN);
    searchBytesLeft = MAX_SEARCH_FACTOR * (fileBytes - at);
    for (long from = at; from <= fileBytes - RECORD_HEADER_BYTES && searchBytesLeft >= 0; ) {
      int count = file.read(from, bytes.clear());
      int limit = count - RECORD_HEADER_BYTES;
      for (int i = 0; i <= limit && searchBytesLeft >= 0; i += 8) {
        if (mayBeLater(bytes, i, fileBytes - from - i)) {
          searchBytesLeft -= bytes.getInt(i + 4);
          takeLater(file, from + i, at, fileBytes, problem);
        }
      }
      if (limit < 0) {
        break;
      }
      from += (limit & ~7) + 8;
    }
  }

  /** Whether a header is, if its record is whole, of a later one that counts: a proof, or behind one. */
  private boolean mayBeLater(ByteBuffer bytes, int place, long bytesLeft) {
    int length = bytes.getInt(place + 4);
    return bytes.getInt(place) == RECORD_MAGIC
        && bytes.getLong(place + 8) > sequence + 1
        && (damage != null || (bytes.getInt(place + 16) & FLAG_FORCED_BEFORE) != 0)
        && length >= RECORD_HEADER_BYTES + COUNTS_BYTES
        && (length & 7) == 0
        && length <= bytesLeft;
  }

  private void takeLater(MutableFile file, long at, long end, long fileBytes, String problem) {
    if (searchBytesLeft < 0) {
      if (damage == null) {
        String overlapping =
            problem + ", and behind it is more that looks like records than a journal can have";
        damage = new Damage(end, fileBytes - end, sequence + 1, sequence + 1, overlapping);
      }
      return;
    }
    ByteBuffer record = read(file, at, fileBytes);
    if (record != null && contradiction(record, Long.MAX_VALUE) == null) {
      if (damage == null) {
        // From here on others count as well.
        searchBytesLeft = MAX_SEARCH_FACTOR * (fileBytes - end);
      }
      takeChunks(record, record.getInt(RECORD_HEADER_BYTES + 12));
      long last = Math.max(record.getLong(8), damage == null ? 0 : damage.lastSequence());
      damage = new Damage(end, fileBytes - end, sequence + 1, last, problem);
    }
  }
}
