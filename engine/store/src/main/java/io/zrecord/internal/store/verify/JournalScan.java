package io.zrecord.internal.store.verify;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.JournalRecord;
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
 * Reads the journal of a store record by record (FORMAT.md section 9), up to its end or its first
 * damaged record. After damage, searches the rest for whole records. Changes nothing. Used by one
 * thread.
 */
public final class JournalScan {
  private static final int SEARCH_BYTES = 1 << 16;

  /**
   * Bound of the search, as in the writer's journal: bytes that only look like records may overlap.
   */
  private static final int MAX_SEARCH_FACTOR = 4;

  private final int fieldCount;
  private final Binding binding;
  private final Map<Integer, ChunkMeta> changedChunks = new HashMap<>();
  private final JournalOverlay overlay = new JournalOverlay();
  private final CarriedBytes carried = new CarriedBytes();
  private JournalHeaderState header = JournalHeaderState.MISSING;
  private @Nullable Damage damage;
  private long endBytes = JournalHeader.BYTES;
  private long tornBytes;
  private long searchBytesLeft;
  private long sequence;
  private long length;

  /**
   * A damaged record that a later record says was safe.
   *
   * @param atByte where the damaged record starts
   * @param lostBytes bytes from there to the end of the file
   * @param firstSequence number of the damaged record
   * @param lastSequence number of the last whole record after the damaged record
   * @param problem what is wrong with the damaged record
   */
  public record Damage(
      long atByte, long lostBytes, long firstSequence, long lastSequence, String problem) {}

  private JournalScan(StoreMeta meta) {
    this.fieldCount = meta.shard().fields().size();
    this.binding = new Binding(meta.shard().id(), 0);
    this.sequence = meta.sequence();
    this.length = meta.shard().length();
  }

  /** Reads the journal of the store that has a meta file. */
  static JournalScan of(MutableFiles files, StoreMeta meta) {
    JournalScan scan = new JournalScan(meta);
    if (files.exists(JournalRecord.FILE_NAME)) {
      try (MutableFile file = files.open(JournalRecord.FILE_NAME, false)) {
        scan.header = JournalHeaderState.of(file, meta.shard().id());
        if (scan.header != JournalHeaderState.FOREIGN) {
          scan.readAll(file);
        }
      }
    }
    scan.overlay.sort();
    return scan;
  }

  public JournalHeaderState header() {
    return header;
  }

  /** Returns where the journal is damaged; null if it is sound. */
  @Nullable
  public Damage damage() {
    return damage;
  }

  /** Returns the end of the last record that counts. */
  long endBytes() {
    return endBytes;
  }

  /** Returns the bytes of an unfinished last record, which was never acknowledged. */
  long tornBytes() {
    return tornBytes;
  }

  /** Tells whether there is nothing but the header, or no file. */
  boolean isEmpty() {
    return endBytes == JournalHeader.BYTES && tornBytes == 0 && damage == null;
  }

  /** Returns the number of the last record that counts. */
  public long sequence() {
    return sequence;
  }

  /** Returns how many records the store has after the last record that counts. */
  public long length() {
    return length;
  }

  /**
   * Returns the chunks that the journal names, each with the greatest end of a whole record, also
   * after damage.
   */
  public Collection<ChunkMeta> changedChunks() {
    return changedChunks.values();
  }

  /** Returns the entries that the journal sets. */
  JournalOverlay overlay() {
    return overlay;
  }

  /** Returns the bytes of chunks that whole records carry, also after damage. */
  public CarriedBytes carried() {
    return carried;
  }

  private void readAll(MutableFile file) {
    long fileBytes = file.lengthBytes();
    long at = JournalHeader.BYTES;
    String problem = "it is not whole";
    while (true) {
      JournalRecord record = JournalRecord.read(file::read, at, fileBytes, binding);
      if (record == null || record.sequence() > sequence + 1) {
        break;
      }
      if (record.sequence() == sequence + 1) {
        record.requirePlain(file.path());
        String contradiction = record.contradiction(fieldCount, length);
        if (contradiction != null) {
          problem = "it " + contradiction;
          damage = new Damage(at, fileBytes - at, sequence + 1, sequence + 1, problem);
          break;
        }
        take(record, at);
      }
      at += record.bytes();
    }
    endBytes = at;
    findLater(file, at, fileBytes, problem);
    tornBytes = damage == null ? Math.max(0, fileBytes - at) : 0;
  }

  private void take(JournalRecord record, long at) {
    takeChunks(record, at);
    for (int slot = 0; slot < record.slotCount(); slot++) {
      overlay.add(record.index(slot), at + record.entryAt(slot, 0));
    }
    sequence++;
    length = record.length();
  }

  private void takeChunks(JournalRecord record, long at) {
    carried.add(record, at);
    for (JournalChunk named : record.chunks()) {
      ChunkMeta chunk = named.meta();
      changedChunks.merge(
          chunk.id(), chunk, (old, next) -> next.endBytes() > old.endBytes() ? next : old);
    }
  }

  /**
   * Searches for whole records after the end. A record written when all records before it had been
   * forced to disk proves damage.
   */
  private void findLater(MutableFile file, long at, long fileBytes, String problem) {
    byte[] piece = new byte[SEARCH_BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(piece).order(ByteOrder.LITTLE_ENDIAN);
    searchBytesLeft = MAX_SEARCH_FACTOR * (fileBytes - at);
    for (long from = at; from <= fileBytes - JournalRecord.HEADER_BYTES && searchBytesLeft >= 0; ) {
      int count = file.read(from, bytes.clear());
      int limit = count - JournalRecord.HEADER_BYTES;
      for (int i = 0; i <= limit && searchBytesLeft >= 0; i += JournalRecord.ALIGNMENT) {
        if (mayBeLater(bytes, i, fileBytes - from - i)) {
          searchBytesLeft -= JournalRecord.bytesAt(bytes, i);
          takeLater(file, from + i, at, fileBytes, problem);
        }
      }
      if (limit < 0) {
        break;
      }
      from += (limit & -JournalRecord.ALIGNMENT) + JournalRecord.ALIGNMENT;
    }
  }

  /** Tells whether a header, if its record is whole, proves damage or follows such a proof. */
  private boolean mayBeLater(ByteBuffer bytes, int at, long bytesLeft) {
    return JournalRecord.isHeader(bytes, at, bytesLeft)
        && JournalRecord.sequenceAt(bytes, at) > sequence + 1
        && (damage != null || JournalRecord.isForcedBefore(bytes, at));
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
    JournalRecord record = JournalRecord.read(file::read, at, fileBytes, binding);
    if (record != null && record.contradiction(fieldCount, Long.MAX_VALUE) == null) {
      if (damage == null) {
        // From here on other records count as well.
        searchBytesLeft = MAX_SEARCH_FACTOR * (fileBytes - end);
      }
      takeChunks(record, at);
      long last = Math.max(record.sequence(), damage == null ? 0 : damage.lastSequence());
      damage = new Damage(end, fileBytes - end, sequence + 1, last, problem);
    }
  }
}
