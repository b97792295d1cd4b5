package io.zrecord.internal.store.write;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.Changes;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A place where values are appended: a chunk of its own, and a buffer in front of the chunk. A
 * chunk file grows by steps of zeros that take no space, so that readers need not map the file
 * again for every value. Used under its own lock.
 */
final class ChunkLane implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 20;
  private static final long GROWTH_BYTES = 64L << 20;
  private static final byte[] PADDING = new byte[8];

  private final ReentrantLock lock = new ReentrantLock();

  /** Marks a value that stays as it is. */
  static final byte[] KEEP = new byte[0];

  private final MutableFiles files;
  private final UUID storeId;
  private final List<FieldSpec> fields;
  private final long chunkRecords;
  private final long chunkBytes;
  private final IntSupplier newChunkId;
  private final @Nullable ValueCodec[] codecs;
  private final CRC32C crc = new CRC32C();
  private final byte[] prefix = new byte[ValueCodec.PREFIX_BYTES];
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final List<ChunkMeta> closed = new ArrayList<>();

  /** Files of closed chunks, which a concurrent commit may still be forcing. */
  private final List<MutableFile> doneFiles = new ArrayList<>();

  private byte[] packed = new byte[0];
  private @Nullable MutableFile file;
  private int chunkId;
  private long recordCount;
  private long lengthBytes;

  /** Position in the file of the buffer's first byte. */
  private long flushedBytes;

  /** End of the bytes that were forced, or that the journal carries and has forced. */
  private long safeBytes;

  /** Copy of the bytes that a commit carries; read by the thread in turn. */
  private byte[] carried = new byte[0];

  /** Whether the file has bytes that were not forced. The journal may carry them. */
  private boolean isChanged;

  private boolean isNew;
  private boolean isClosed;

  /** The file that a commit is forcing, which must stay open meanwhile. */
  private @Nullable MutableFile pinned;

  ChunkLane(
      MutableFiles files,
      UUID storeId,
      List<FieldSpec> fields,
      long chunkRecords,
      long chunkBytes,
      IntSupplier newChunkId) {
    this.files = files;
    this.storeId = storeId;
    this.fields = fields;
    this.chunkRecords = chunkRecords;
    this.chunkBytes = chunkBytes;
    this.newChunkId = newChunkId;
    this.codecs = new ValueCodec[fields.size()];
    for (int i = 0; i < codecs.length; i++) {
      if (fields.get(i).compression().codec() != Codec.RAW) {
        codecs[i] = ValueCodec.of(fields.get(i).compression());
      }
    }
  }

  /** Continues a chunk that was being written. Bytes after its published end are overwritten. */
  void resume(ChunkMeta chunk) {
    lock.lock();
    try {
      MutableFile opened = files.open(chunk.fileName(), true);
      file = opened;
      chunkId = chunk.id();
      recordCount = chunk.recordCount();
      flushedBytes = chunk.endBytes();
      safeBytes = flushedBytes;
      lengthBytes = opened.lengthBytes();
      // The previous writer may not have forced the file.
      isChanged = true;
      isNew = true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Stores the values of one record.
   *
   * @param values values of the fields, null for absent; {@link #KEEP} stores nothing and keeps the
   *     target's entry
   * @param target takes the entries
   */
  void store(byte[] @Nullable [] values, Changes.Entries target) {
    lock.lock();
    try {
      storeLocked(values, target);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Stores the values of one record, unless another thread is writing here. Returns false in that
   * case.
   */
  boolean tryStore(byte[] @Nullable [] values, Changes.Entries target) {
    if (!lock.tryLock()) {
      return false;
    }
    try {
      storeLocked(values, target);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void storeLocked(byte[] @Nullable [] values, Changes.Entries target) {
    if (isClosed) {
      throw new IllegalStateException(
          "The store " + files.location() + " is closed; open it again");
    }
    if (file != null && isFull()) {
      closeChunk();
    }
    if (file == null) {
      beginChunk();
    }
    for (int field = 0; field < values.length; field++) {
      byte[] value = values[field];
      if (value == null) {
        target.set(field, 0, 0, 0);
      } else if (value != KEEP) {
        storeValue(field, value, target);
      }
    }
    recordCount++;
  }

  private void storeValue(int field, byte[] value, Changes.Entries target) {
    ValueCodec codec = codecs[field];
    if (codec == null) {
      place(field, 0, value, value.length, target);
      return;
    }
    if (packed.length < value.length) {
      packed = new byte[value.length];
    }
    int limit = Math.max(0, value.length - 1);
    int compressed = limit == 0 ? -1 : codec.compress(value, 0, value.length, packed, 0, limit);
    ByteBuffer.wrap(prefix)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(0, compressed < 0 ? ValueCodec.prefixAsIs(value.length) : value.length);
    if (compressed < 0) {
      place(field, prefix.length, value, value.length, target);
    } else {
      place(field, prefix.length, packed, compressed, target);
    }
  }

  private void place(
      int field, int prefixLength, byte[] source, int length, Changes.Entries target) {
    long stored = (long) prefixLength + length;
    if (stored > Integer.MAX_VALUE) {
      throw new ValueTooLargeException(
          fields.get(field).name(),
          "Cannot write a value of " + length + " bytes to field '"
              + fields.get(field).name() + "': with its prefix it exceeds " + Integer.MAX_VALUE
              + " bytes; split it, or write the field raw");
    }
    int padding = (int) (-(flushedBytes + buffer.position()) & 7);
    put(PADDING, padding);
    long position = flushedBytes + buffer.position();
    crc.reset();
    crc.update(prefix, 0, prefixLength);
    crc.update(source, 0, length);
    put(prefix, prefixLength);
    put(source, length);
    target.set(field, position, Entry.word1(chunkId, (int) stored), (int) crc.getValue());
  }

  private void put(byte[] source, int length) {
    for (int done = 0; done < length; ) {
      if (!buffer.hasRemaining()) {
        flush();
      }
      int step = Math.min(length - done, buffer.remaining());
      buffer.put(source, done, step);
      done += step;
    }
  }

  private boolean isFull() {
    return recordCount >= chunkRecords || flushedBytes + buffer.position() >= chunkBytes;
  }

  private void beginChunk() {
    int id = newChunkId.getAsInt();
    MutableFile created = null;
    while (created == null) {
      try {
        created = files.create(ChunkMeta.fileName(id));
      } catch (StorageException e) {
        // A writer that lost its lock may have made a chunk meanwhile.
        if (!files.exists(ChunkMeta.fileName(id))) {
          throw e;
        }
        id = newChunkId.getAsInt();
      }
    }
    file = created;
    chunkId = id;
    recordCount = 0;
    flushedBytes = 0;
    safeBytes = 0;
    lengthBytes = 0;
    isNew = true;
    buffer.clear().put(new ChunkHeader(id, storeId).encode());
  }

  private void closeChunk() {
    flush();
    MutableFile done = Objects.requireNonNull(file);
    done.setLength(flushedBytes);
    done.force();
    if (done == pinned) {
      doneFiles.add(done);
    } else {
      done.close();
    }
    closed.add(new ChunkMeta(chunkId, recordCount, flushedBytes));
    file = null;
    isChanged = false;
  }

  /** Writes the buffered bytes. A failed write may be tried again. */
  private void flush() {
    MutableFile current = file;
    if (current == null || buffer.position() == 0) {
      return;
    }
    long end = flushedBytes + buffer.position();
    if (end > lengthBytes) {
      long grown = Math.max(end, Math.min(lengthBytes + GROWTH_BYTES, chunkBytes));
      current.setLength(grown);
      lengthBytes = grown;
    }
    int pending = buffer.position();
    try {
      current.write(flushedBytes, buffer.flip());
    } finally {
      buffer.limit(buffer.capacity()).position(pending);
    }
    flushedBytes = end;
    buffer.clear();
    isChanged = true;
  }

  /** What a commit does for the bytes of a lane that are not safe yet. */
  enum Need {
    /** Nothing: the commit need not survive power loss. */
    NOTHING,
    /** They must be safe: the journal carries them, or they are forced. */
    SAFE,
    /** Everything must be forced, because the journal is emptied next. */
    FORCED
  }

  /**
   * The state of a lane at one moment: what a commit must name and force.
   *
   * @param current the chunk being written, if any, with the bytes that the journal has to carry
   * @param closed chunks closed since the last flush, which are forced
   * @param hasNewName whether a file was created since the last flush
   * @param file the file of the current chunk
   * @param isForced whether the file must be forced
   */
  record Flushed(
      @Nullable JournalChunk current,
      List<ChunkMeta> closed,
      boolean hasNewName,
      @Nullable MutableFile file,
      boolean isForced) {

    /** Returns how many bytes the journal has to carry. */
    int carriedBytes() {
      return current == null ? 0 : current.carried().remaining();
    }
  }

  /**
   * Makes everything stored so far readable. Called by the thread in turn; other threads may store
   * before and after.
   *
   * @param need what else the commit does; {@link #force} follows
   * @param maxCarriedBytes bytes that the journal may carry
   */
  Flushed flush(Need need, int maxCarriedBytes) {
    lock.lock();
    try {
      boolean carries = need == Need.SAFE && mayCarry(maxCarriedBytes);
      int carriedBytes = carries ? copyBuffered() : 0;
      flush();
      boolean forces = need == Need.FORCED
          ? isChanged
          : need == Need.SAFE && !carries && (safeBytes < flushedBytes || isNew);
      JournalChunk current = file == null
          ? null
          : new JournalChunk(
              new ChunkMeta(chunkId, recordCount, flushedBytes),
              ByteBuffer.wrap(carried, 0, carriedBytes));
      Flushed flushed = new Flushed(current, List.copyOf(closed), isNew, file, forces);
      isChanged &= !forces;
      closed.clear();
      isNew = false;
      pinned = forces ? file : null;
      return flushed;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells whether the journal can carry all bytes that are not safe. Bytes that left the buffer are
   * too many, or belong to a commit that failed. The name of a new file must become safe as well.
   */
  private boolean mayCarry(int maxCarriedBytes) {
    return file != null
        && !isNew
        && safeBytes == flushedBytes
        && buffer.position() <= maxCarriedBytes;
  }

  private int copyBuffered() {
    int bytes = buffer.position();
    if (carried.length < bytes) {
      carried = new byte[Math.max(bytes, 2 * carried.length)];
    }
    buffer.get(0, carried, 0, bytes);
    return bytes;
  }

  /** Forces what a commit needs, while other threads may store. */
  void force(Flushed flushed) {
    if (!flushed.isForced) {
      return;
    }
    boolean isDone = false;
    try {
      Objects.requireNonNull(flushed.file).force();
      isDone = true;
    } finally {
      endForce(flushed, isDone);
    }
  }

  private void endForce(Flushed flushed, boolean isDone) {
    lock.lock();
    try {
      if (isDone) {
        noteSafe(flushed);
      }
      isChanged |= !isDone;
      pinned = null;
      doneFiles.forEach(MutableFile::close);
      doneFiles.clear();
    } finally {
      lock.unlock();
    }
  }

  /** Notes that a record of the journal is safe that carries flushed bytes. */
  void setCarried(Flushed flushed) {
    lock.lock();
    try {
      noteSafe(flushed);
    } finally {
      lock.unlock();
    }
  }

  /** Notes that flushed bytes are safe, unless their chunk was closed meanwhile. */
  private void noteSafe(Flushed flushed) {
    if (flushed.current != null && file == flushed.file) {
      safeBytes = flushed.current.meta().endBytes();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      for (ValueCodec codec : codecs) {
        if (codec != null) {
          codec.close();
        }
      }
      doneFiles.forEach(MutableFile::close);
      doneFiles.clear();
      if (file != null) {
        file.close();
        file = null;
      }
    } finally {
      lock.unlock();
    }
  }
}
