package io.zrecord.internal.store.rewrite;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Copies stripes of records, field by field, and verifies each value. Stored bytes are copied as
 * they are, unless the codec of their field changes. Belongs to one thread.
 */
final class RewriteCopy implements AutoCloseable {
  private static final int MAX_VALUES = 1 << 16;

  private final List<FieldSpec> newFields;
  private final List<EntryTable> sources;
  private final List<EntryTable> targets;
  private final RewriteSource source;
  private final RewriteTarget target;
  private final List<Binding> bindings;
  private final List<@Nullable Recoder> recoders = new ArrayList<>();
  private final CRC32C crc = new CRC32C();
  private byte[] piece = {};
  private long first;
  private int count;

  RewriteCopy(
      UUID storeId,
      List<FieldSpec> oldFields,
      List<FieldSpec> newFields,
      List<EntryTable> sources,
      List<EntryTable> targets,
      RewriteSource source,
      RewriteTarget target) {
    this.newFields = newFields;
    this.sources = sources;
    this.targets = targets;
    this.source = source;
    this.target = target;
    this.bindings =
        newFields.stream().map(field -> new Binding(storeId, field.id())).toList();
    for (int i = 0; i < newFields.size(); i++) {
      recoders.add(Recoder.of(oldFields.get(i).compression(), newFields.get(i).compression()));
    }
  }

  /**
   * Begins a stripe by reading the values that its entries point to, except large ones.
   *
   * @param most number of records left
   * @param maxBytes limit of the stored bytes of a stripe with several records
   * @return number of records in the stripe, at least 1
   */
  int begin(long firstIndex, long most, int maxBytes) {
    first = firstIndex;
    int fields = sources.size();
    long byteLimit = Math.min(maxBytes, target.remainingBytes());
    long countLimit = Math.min(
        Math.min(most, target.remainingRecords()), Math.max(1, MAX_VALUES / Math.max(1, fields)));
    long bytes = 0;
    count = 0;
    while (count < countLimit) {
      long next = recordBytes(first + count);
      if (count > 0 && bytes + next > byteLimit) {
        break;
      }
      bytes += next;
      count++;
    }
    // One record of many values may not fit the buffer; its values are then read one by one.
    boolean isBuffered = bytes <= maxBytes || count > 1;
    source.begin(count * fields);
    for (int field = 0; field < fields; field++) {
      for (int i = 0; i < count; i++) {
        want(field, i, isBuffered);
      }
    }
    source.load();
    return count;
  }

  private long recordBytes(long index) {
    long bytes = 0;
    for (EntryTable table : sources) {
      bytes += (Entry.physicalLength(table.word1(index)) & 0xffff_ffffL) + 7 & ~7L;
    }
    return bytes;
  }

  private void want(int field, int i, boolean isBuffered) {
    long word0 = sources.get(field).word0(first + i);
    long word1 = sources.get(field).word1(first + i);
    if (Entry.isAbsent(word0, word1)) {
      return;
    }
    if (!source.isPossible(word0, word1)) {
      throw corrupt(
          field,
          first + i,
          "has an entry that points to " + Integer.toUnsignedString(Entry.physicalLength(word1))
              + " bytes at " + Long.toUnsignedString(word0) + " of chunk "
              + Integer.toUnsignedString(Entry.chunkId(word1)) + ", which do not exist");
    }
    if (isBuffered && Entry.physicalLength(word1) <= RewriteSource.PIECE_BYTES) {
      source.want(i * sources.size() + field, word0, word1);
    }
  }

  /** Writes the stripe and returns the stored bytes that its values had. */
  long write() {
    long bytes = 0;
    for (int field = 0; field < sources.size(); field++) {
      for (int i = 0; i < count; i++) {
        bytes += write(field, i);
      }
    }
    target.addRecords(count);
    return bytes;
  }

  private long write(int field, int i) {
    EntryTable table = sources.get(field);
    long index = first + i;
    long word0 = table.word0(index);
    long word1 = table.word1(index);
    int length = Entry.physicalLength(word1);
    crc.reset();
    int place = source.place(i * sources.size() + field);
    if (Entry.isAbsent(word0, word1)) {
      requireChecksum(field, index);
      targets.get(field).put(index, 0, 0, table.checksum(index));
    } else if (recoders.get(field) != null) {
      recode(field, index, word0, word1, place);
    } else if (place >= 0) {
      crc.update(source.buffer(), place, length);
      requireChecksum(field, index);
      target.begin(length, newFields.get(field).name());
      target.put(source.buffer(), place, length);
      target.end(targets.get(field), bindings.get(field), index);
    } else {
      copyPieces(field, index, word0, word1);
    }
    return length;
  }

  /**
   * Copies a large value in pieces. Damage found at the end leaves bytes that are never published.
   */
  private void copyPieces(int field, long index, long word0, long word1) {
    int length = Entry.physicalLength(word1);
    piece = piece.length == 0 ? new byte[RewriteSource.PIECE_BYTES] : piece;
    target.begin(length, newFields.get(field).name());
    for (int done = 0; done < length; ) {
      int step = Math.min(piece.length, length - done);
      source.read(Entry.chunkId(word1), word0 + done, piece, 0, step);
      crc.update(piece, 0, step);
      target.put(piece, 0, step);
      done += step;
    }
    requireChecksum(field, index);
    target.end(targets.get(field), bindings.get(field), index);
  }

  private void recode(int field, long index, long word0, long word1, int place) {
    Recoder recoder = java.util.Objects.requireNonNull(recoders.get(field));
    int length = Entry.physicalLength(word1);
    byte[] stored = source.buffer();
    int at = place;
    if (place < 0) {
      stored = new byte[length];
      at = 0;
      source.read(Entry.chunkId(word1), word0, stored, 0, length);
    }
    crc.update(stored, at, length);
    requireChecksum(field, index);
    try {
      recoder.recode(stored, at, length, (prefix, bytes, from, size) -> {
        int prefixBytes = prefix == null ? 0 : prefix.length;
        target.begin((long) prefixBytes + size, newFields.get(field).name());
        if (prefix != null) {
          target.put(prefix, 0, prefixBytes);
        }
        target.put(bytes, from, size);
        target.end(targets.get(field), bindings.get(field), index);
      });
    } catch (DataFormatException e) {
      throw corrupt(field, index, "cannot be decompressed: " + e.getMessage());
    }
  }

  private void requireChecksum(int field, long index) {
    EntryTable table = sources.get(field);
    int found = bindings.get(field).bindEntry(index, table.word0(index), table.word1(index), (int)
        crc.getValue());
    int stored = table.checksum(index);
    if (found != stored) {
      throw corrupt(
          field,
          index,
          "has checksum " + Integer.toHexString(found) + ", but " + Integer.toHexString(stored)
              + " was stored");
    }
  }

  private RuntimeException corrupt(int field, long index, String reason) {
    return RewriteSource.corrupt(sources.get(field), newFields.get(field).name(), index, reason);
  }

  @Override
  public void close() {
    Closing.all(recoders);
  }
}
