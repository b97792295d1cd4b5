package io.zrecord.internal.store.read;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.store.StoreParts;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** The mapped chunks and the verified entries that readers of a store share. Thread-safe. */
final class SharedValues {
  /** Limit of chunk ids: far more chunks than a store can have, and few enough for an array. */
  private static final int MAX_CHUNK_ID = 1 << 24;

  private final StoreParts parts;
  private final Verification verification;
  private final ReadMetrics metrics;
  private final VerifiedEntries[] verified;
  private final Binding[] bindings;

  /** Chunks by id; grown when a larger id appears. */
  private volatile AtomicReferenceArray<@Nullable LiveChunk> chunks =
      new AtomicReferenceArray<>(64);

  SharedValues(StoreParts parts, Verification verification, ReadMetrics metrics) {
    this.parts = parts;
    this.verification = verification;
    this.metrics = metrics;
    this.verified = new VerifiedEntries[parts.fields().size()];
    Arrays.setAll(verified, i -> new VerifiedEntries());
    this.bindings = parts.fields().stream()
        .map(field -> new Binding(parts.storeId(), field.id()))
        .toArray(Binding[]::new);
  }

  int fieldCount() {
    return verified.length;
  }

  FieldSpec field(int field) {
    return parts.fields().get(field);
  }

  /** Returns what binds the checksums of a field. */
  Binding binding(int field) {
    return bindings[field];
  }

  ReadMetrics metrics() {
    return metrics;
  }

  String path(int field) {
    return parts.tables().get(field).path();
  }

  /** Finds which of the looked-up values must be verified. */
  void findDue(int field, long[] indices, int from, int count, LiveSlots slots, int slot) {
    switch (verification) {
      case NEVER -> Arrays.fill(slots.isDue, slot, slot + count, false);
      case ALWAYS -> Arrays.fill(slots.isDue, slot, slot + count, true);
      case FIRST -> verified[field].findDue(indices, from, count, slots, slot);
    }
  }

  /**
   * Notes a correct checksum. Returns whether the checksum must be compared again at the next read
   * all the same.
   */
  boolean setVerified(int field, long index, long word0, long word1) {
    if (verification == Verification.FIRST) {
      verified[field].add(index, word0, word1);
    }
    return verification == Verification.ALWAYS;
  }

  /**
   * Returns the window in which the stored bytes of an entry begin, after a complete check of the
   * entry. Bytes past the window's end continue in the next window.
   */
  ByteBuffer window(int field, long index, long word0, long word1, int offset) {
    int length = Entry.physicalLength(word1);
    ByteBuffer window = chunk(field, index, word0, word1).window(word0 + offset, length - offset);
    if (window == null) {
      throw corruptEntry(field, index, word0, word1);
    }
    return window;
  }

  /** Fills the target with stored bytes of a value, from an offset on, by reading the file. */
  void read(int field, long index, long word0, long word1, int offset, ByteBuffer target) {
    if (!chunk(field, index, word0, word1).read(word0 + offset, target)) {
      throw corruptEntry(field, index, word0, word1);
    }
  }

  /** Returns the chunk of an entry. The entry must be possible. */
  private LiveChunk chunk(int field, long index, long word0, long word1) {
    int length = Entry.physicalLength(word1);
    int chunkId = Entry.chunkId(word1);
    if (length < 0
        || word0 < ChunkHeader.BYTES
        || (word0 & 7) != 0
        || chunkId < 0
        || chunkId > MAX_CHUNK_ID) {
      throw corruptEntry(field, index, word0, word1);
    }
    AtomicReferenceArray<@Nullable LiveChunk> known = chunks;
    LiveChunk chunk = chunkId < known.length() ? known.getAcquire(chunkId) : null;
    return chunk == null ? openChunk(chunkId) : chunk;
  }

  private synchronized LiveChunk openChunk(int chunkId) {
    AtomicReferenceArray<@Nullable LiveChunk> known = chunks;
    LiveChunk chunk = chunkId < known.length() ? known.get(chunkId) : null;
    if (chunk != null) {
      return chunk;
    }
    LiveChunk opened = LiveChunk.open(parts.files(), parts.storeId(), chunkId);
    metrics.chunksOpened.increment();
    if (chunkId >= known.length()) {
      AtomicReferenceArray<@Nullable LiveChunk> grown =
          new AtomicReferenceArray<>(Math.max(chunkId + 1, 2 * known.length()));
      for (int i = 0; i < known.length(); i++) {
        grown.set(i, known.get(i));
      }
      known = grown;
    }
    known.setRelease(chunkId, opened);
    chunks = known;
    return opened;
  }

  CorruptDataException corruptEntry(int field, long index, long word0, long word1) {
    return new CorruptDataException(
        path(field),
        "Cannot read " + path(field) + ": the entry at " + index + " points to "
            + Integer.toUnsignedString(Entry.physicalLength(word1)) + " bytes at "
            + Long.toUnsignedString(word0) + " of chunk "
            + Integer.toUnsignedString(Entry.chunkId(word1))
            + ", which do not exist. Restore the file from a copy, or leave the record out");
  }
}
