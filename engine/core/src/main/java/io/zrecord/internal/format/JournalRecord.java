package io.zrecord.internal.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A record of the journal of a store: the group of changes that one commit made (FORMAT.md section
 * 9). Integers are little-endian, and every record starts at a multiple of 8.
 *
 * <pre>
 *    0       4       8               16      20      24            32
 *   +-------+-------+---------------+-------+-------+-------------+
 *   | magic |bytes L| sequence u64  | flags |CRC32C | zero        |  header
 *   +-------+-------+-------+-------+-------+-------+-------------+
 *   | length u64    |fields |chunks |slots  | zero  |                counts, at 32
 *   |               | F u32 | C u32 | E u32 |       |
 *   +-------+-------+-------+-------+-------+-------+
 *   |id u32 |K u32  | records u64   | published end |                C times, at 56
 *   +-------+-------+---------------+---------------+
 *   | index u64     | F times: entry 16 B, CRC32C   |                E times
 *   +---------------+-------------------------------+
 *   | zero up to a multiple of 8                    |
 *   +-----------------------------------------------+
 *   | K bytes of the chunk, zero up to a multiple   |                for each chunk whose K is not 0
 *   | of 8                                          |
 *   +-----------------------------------------------+
 *
 *   flags, bit 0: all records before were forced when this one was written
 *   CRC32C: of the L bytes of the record, with this member taken as 0, bound to the store and to
 *           the sequence number
 *   length: records of the store after the group
 *   K: bytes of the chunk that the record carries: those before the published end
 * </pre>
 *
 * <p>An object is a record that is whole: its checksum holds. What the record says may still be
 * impossible; {@link #contradiction} tells. Not thread-safe.
 */
public final class JournalRecord {
  /** Name of the journal in the directory of a store. */
  public static final String FILE_NAME = "journal";

  /** Length of the header of a record. */
  public static final int HEADER_BYTES = 32;

  /** Records start at multiples of this. */
  public static final int ALIGNMENT = 8;

  /** Length of the entry of one field and its checksum. */
  public static final int ENTRY_BYTES = Entry.BYTES + Integer.BYTES;

  /** Flag: all records before were forced to disk when this record was written. */
  public static final int FORCED_BEFORE = 1;

  private static final int MAGIC = 0x4a52_525a;
  private static final int BYTES_AT = 4;
  private static final int SEQUENCE_AT = 8;
  private static final int FLAGS_AT = 16;
  private static final int CRC_AT = 20;
  private static final int LENGTH_AT = 32;
  private static final int FIELDS_AT = 40;
  private static final int CHUNKS_AT = 44;
  private static final int SLOTS_AT = 48;
  private static final int BODY_AT = 56;
  private static final int CHUNK_BYTES = 24;
  private static final int CARRIED_AT = 4;

  private final ByteBuffer record;

  /** Reads bytes of a journal. */
  @FunctionalInterface
  public interface Source {
    /**
     * Reads into {@code target} from a position of the file, and returns the number of bytes read.
     */
    int read(long at, ByteBuffer target);
  }

  private JournalRecord(ByteBuffer record) {
    this.record = record;
  }

  /**
   * Reads the record at a position.
   *
   * @param fileBytes length of the file
   * @param binding of the store
   * @return null if no whole record starts there
   */
  public static @Nullable JournalRecord read(
      Source file, long at, long fileBytes, Binding binding) {
    if (at > fileBytes - HEADER_BYTES) {
      return null;
    }
    ByteBuffer header = allocate(HEADER_BYTES);
    if (file.read(at, header) < HEADER_BYTES || !isHeader(header, 0, fileBytes - at)) {
      return null;
    }
    int bytes = bytesAt(header, 0);
    byte[] content = new byte[bytes];
    ByteBuffer record = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    if (file.read(at, record) < bytes) {
      return null;
    }
    record.flip();
    int stored = record.getInt(CRC_AT);
    record.putInt(CRC_AT, 0);
    return stored == checksum(content, bytes, sequenceAt(record, 0), binding)
        ? new JournalRecord(record)
        : null;
  }

  private static int checksum(byte[] record, int bytes, long sequence, Binding binding) {
    return binding.bind(Binding.Kind.JOURNAL_RECORD, sequence, Crc32c.of(record, 0, bytes));
  }

  private static ByteBuffer allocate(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Tells whether bytes look like the header of a record. A record is certain only after all its
   * bytes were read.
   *
   * @param at where the header starts in {@code bytes}, which have little-endian order
   * @param bytesLeft bytes of the file from there on
   */
  public static boolean isHeader(ByteBuffer bytes, int at, long bytesLeft) {
    int length = bytesAt(bytes, at);
    return isMagic(bytes, at)
        && length >= BODY_AT
        && length % ALIGNMENT == 0
        && length <= bytesLeft;
  }

  /** Tells whether bytes start as a record does. */
  public static boolean isMagic(ByteBuffer bytes, int at) {
    return bytes.getInt(at) == MAGIC;
  }

  /** Returns the length of the record that a header states. */
  public static int bytesAt(ByteBuffer bytes, int at) {
    return bytes.getInt(at + BYTES_AT);
  }

  /** Returns the sequence number that a header states. */
  public static long sequenceAt(ByteBuffer bytes, int at) {
    return bytes.getLong(at + SEQUENCE_AT);
  }

  /** Tells whether a header states that all records before it were forced to disk. */
  public static boolean isForcedBefore(ByteBuffer bytes, int at) {
    return (bytes.getInt(at + FLAGS_AT) & FORCED_BEFORE) != 0;
  }

  /**
   * Requires flags and reserved bytes that this release knows. Call this before the record is
   * applied.
   *
   * @param resource the journal, for messages
   * @throws io.zrecord.errors.UnsupportedFormatException if a later release wrote the record
   */
  public void requirePlain(String resource) {
    if ((record.getInt(FLAGS_AT) & ~FORCED_BEFORE) != 0
        || record.getLong(24) != 0
        || record.getInt(52) != 0) {
      throw HeaderVersion.unknown(
          resource, "record " + sequence() + " has flags or reserved bytes that are not zero");
    }
  }

  /** Returns the length of the record. */
  public int bytes() {
    return record.limit();
  }

  public long sequence() {
    return sequenceAt(record, 0);
  }

  /** Returns the number of records of the store after the group. */
  public long length() {
    return record.getLong(LENGTH_AT);
  }

  private int fieldCount() {
    return record.getInt(FIELDS_AT);
  }

  private int chunkCount() {
    return record.getInt(CHUNKS_AT);
  }

  /** Returns how many records of the store the group sets. */
  public int slotCount() {
    return record.getInt(SLOTS_AT);
  }

  /** Returns the chunks that the record names. */
  public List<JournalChunk> chunks() {
    List<JournalChunk> chunks = new ArrayList<>();
    int carriedAt = carriedAt();
    for (int i = 0; i < chunkCount(); i++) {
      int bytes = carriedBytes(i);
      chunks.add(new JournalChunk(chunk(i), record.slice(carriedAt, bytes)));
      carriedAt += (int) aligned(bytes);
    }
    return chunks;
  }

  private ChunkMeta chunk(int ordinal) {
    int at = BODY_AT + ordinal * CHUNK_BYTES;
    return new ChunkMeta(record.getInt(at), record.getLong(at + 8), record.getLong(at + 16));
  }

  private int carriedBytes(int ordinal) {
    return record.getInt(BODY_AT + ordinal * CHUNK_BYTES + CARRIED_AT);
  }

  /** Returns where the bytes that the record carries start. */
  public int carriedAt() {
    return (int) aligned(slotsAt(chunkCount()) + slotCount() * slotBytes(fieldCount()));
  }

  /** Returns the space that bytes have in a record: the next multiple of {@link #ALIGNMENT}. */
  public static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Returns which record of the store a slot sets. */
  public long index(int slot) {
    return record.getLong(slotAt(slot));
  }

  /** Returns where the entry of a field starts in the record. */
  public int entryAt(int slot, int field) {
    return slotAt(slot) + Long.BYTES + field * ENTRY_BYTES;
  }

  public long word0(int slot, int field) {
    return record.getLong(entryAt(slot, field));
  }

  public long word1(int slot, int field) {
    return record.getLong(entryAt(slot, field) + Long.BYTES);
  }

  public int checksum(int slot, int field) {
    return record.getInt(entryAt(slot, field) + Entry.BYTES);
  }

  private int slotAt(int slot) {
    return (int) (slotsAt(chunkCount()) + slot * slotBytes(fieldCount()));
  }

  private static long slotsAt(int chunkCount) {
    return BODY_AT + (long) chunkCount * CHUNK_BYTES;
  }

  private static long slotBytes(int fieldCount) {
    return Long.BYTES + (long) fieldCount * ENTRY_BYTES;
  }

  /**
   * Tells why the record cannot be true. Slots may be read only if nothing contradicts.
   *
   * @param storeFields number of fields of the store
   * @param lengthBefore records of the store before the group, or {@link Long#MAX_VALUE} if records
   *     of the journal before this one are lost
   * @return a predicate such as "changes record 7, but the length is 5"; null if all is well
   */
  public @Nullable String contradiction(int storeFields, long lengthBefore) {
    int fields = fieldCount();
    int chunks = chunkCount();
    int slots = slotCount();
    if (fields != storeFields
        || chunks < 0
        || slots < 0
        || length() < 0
        || length() - slots > lengthBefore
        || slotsAt(chunks) + slots * slotBytes(storeFields) > bytes()) {
      return "contradicts itself: " + fields + " fields where the store has " + storeFields + ", "
          + chunks + " chunks, " + slots + " records, length " + length() + " after "
          + lengthBefore;
    }
    long carriedAt = carriedAt();
    for (int i = 0; i < chunks; i++) {
      int carried = carriedBytes(i);
      if (carried < 0 || carried > bytes() - carriedAt) {
        return "carries " + Integer.toUnsignedString(carried) + " bytes of a chunk, but has "
            + bytes();
      }
      carriedAt += aligned(carried);
      ChunkMeta chunk = chunk(i);
      if (chunk.recordCount() < 0 || chunk.endBytes() < ChunkHeader.BYTES + (long) carried) {
        return "says that " + chunk.fileName() + " has " + chunk.recordCount()
            + " records and ends at byte " + chunk.endBytes() + ", and carries " + carried
            + " bytes of it";
      }
    }
    for (int slot = 0; slot < slots; slot++) {
      long index = index(slot);
      if (index < 0 || index >= length()) {
        return "changes record " + index + ", but the length is " + length();
      }
    }
    return null;
  }

  /**
   * Writes records into memory that is reused: first {@link #begin}, then all chunks, then each
   * slot with the entries of all fields, then {@link #end}. Not thread-safe.
   */
  public static final class Encoder {
    private static final int MAX_SPARE_BYTES = 1 << 28;

    private final Binding binding;
    private final List<ByteBuffer> carried = new ArrayList<>();
    private byte[] memory = new byte[1 << 16];
    private ByteBuffer buffer = wrap(memory);

    /** Prepares records of the store that a binding is for. */
    public Encoder(Binding binding) {
      this.binding = binding;
    }

    /** Begins a record with its header and counts. */
    public void begin(
        long sequence, int flags, long length, int fieldCount, int chunkCount, int slotCount) {
      long bytes = aligned(slotsAt(chunkCount) + slotCount * slotBytes(fieldCount));
      ensureCapacity(Math.toIntExact(bytes), buffer.capacity());
      carried.clear();
      buffer.clear();
      buffer.putInt(MAGIC).putInt(0).putLong(sequence).putInt(flags).putInt(0).putLong(0);
      buffer
          .putLong(length)
          .putInt(fieldCount)
          .putInt(chunkCount)
          .putInt(slotCount)
          .putInt(0);
    }

    private void ensureCapacity(int bytes, int old) {
      if (old < bytes) {
        memory = new byte[Math.max(bytes, Math.min(MAX_SPARE_BYTES, 2 * old))];
        buffer = wrap(memory);
      }
    }

    private static ByteBuffer wrap(byte[] bytes) {
      return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Adds a chunk. What the record carries of it must not change before {@link #end}. */
    public void chunk(JournalChunk chunk) {
      ChunkMeta meta = chunk.meta();
      buffer.putInt(meta.id()).putInt(chunk.carried().remaining());
      buffer.putLong(meta.recordCount()).putLong(meta.endBytes());
      if (chunk.carried().hasRemaining()) {
        carried.add(chunk.carried());
      }
    }

    /** Begins the entries of a record of the store. */
    public void slot(long index) {
      buffer.putLong(index);
    }

    /** Adds the entry of the next field. */
    public void entry(long word0, long word1, int checksum) {
      buffer.putLong(word0).putLong(word1).putInt(checksum);
    }

    /** Returns the length of the record if it ends here. */
    public int bytes() {
      long bytes = aligned(buffer.position());
      for (ByteBuffer part : carried) {
        bytes += aligned(part.remaining());
      }
      return Math.toIntExact(bytes);
    }

    /**
     * Ends the record.
     *
     * @param bytes length of the record: {@link #bytes} or, to fill a gap, a greater multiple of 8
     * @return the bytes to be written, which the next record overwrites
     */
    public ByteBuffer end(int bytes) {
      int filled = buffer.position();
      if (buffer.capacity() < bytes) {
        memory = Arrays.copyOf(memory, bytes);
        buffer = wrap(memory).position(filled);
      }
      for (ByteBuffer part : carried) {
        pad((int) aligned(buffer.position()));
        buffer.put(part.duplicate());
      }
      pad(bytes);
      buffer.putInt(BYTES_AT, bytes);
      buffer.putInt(CRC_AT, checksum(memory, bytes, sequenceAt(buffer, 0), binding));
      return buffer.flip();
    }

    /** Adds zeros up to a position. The memory may contain a record that was written before. */
    private void pad(int position) {
      Arrays.fill(memory, buffer.position(), position, (byte) 0);
      buffer.position(position);
    }
  }
}
