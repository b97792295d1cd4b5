package io.zrecord.internal.store.verify;

import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.JournalRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The places in a journal of the bytes of chunks that its records carry (FORMAT.md section 9).
 * Opening the store writes these bytes to the chunks. Filled first, then read. Belongs to one
 * thread.
 */
public final class CarriedBytes {
  private final Map<Integer, NavigableMap<Long, Piece>> pieces = new HashMap<>();

  /**
   * Bytes of a chunk.
   *
   * @param chunk the chunk
   * @param position of the first byte in the chunk
   * @param bytes their number
   * @param journalAt position of the first byte in the journal
   */
  public record Piece(int chunk, long position, int bytes, long journalAt) {
    long end() {
      return position + bytes;
    }
  }

  /** Adds what a record of the journal carries. */
  void add(JournalRecord record, long recordAt) {
    long journalAt = recordAt + record.carriedAt();
    for (JournalChunk chunk : record.chunks()) {
      int bytes = chunk.carried().remaining();
      if (bytes > 0) {
        int id = chunk.meta().id();
        pieces
            .computeIfAbsent(id, unused -> new TreeMap<>())
            .put(chunk.carriedFrom(), new Piece(id, chunk.carriedFrom(), bytes, journalAt));
      }
      journalAt += JournalRecord.aligned(bytes);
    }
  }

  boolean isEmpty() {
    return pieces.isEmpty();
  }

  /** Returns the bytes that records at or after a position of the journal carry. */
  public List<Piece> from(long journalAt) {
    List<Piece> found = new ArrayList<>();
    pieces
        .values()
        .forEach(ofChunk -> ofChunk.values().stream()
            .filter(piece -> piece.journalAt() >= journalAt)
            .forEach(found::add));
    return found;
  }

  /** Returns the length that a chunk file of the given length has after the store was opened. */
  public long lengthAfter(int chunk, long fileBytes) {
    long length = fileBytes;
    for (Piece piece : ofChunk(chunk).values()) {
      if (piece.position() <= length) {
        length = Math.max(length, piece.end());
      }
    }
    return length;
  }

  /** Returns the pieces with bytes in a range of a chunk. */
  public List<Piece> within(int chunk, long from, long to) {
    NavigableMap<Long, Piece> ofChunk = ofChunk(chunk);
    Long first = ofChunk.floorKey(from);
    return List.copyOf(
        ofChunk.subMap(first == null ? from : first, true, to, false).values());
  }

  private NavigableMap<Long, Piece> ofChunk(int chunk) {
    return pieces.getOrDefault(chunk, new TreeMap<>());
  }
}
