package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.schema.Compression;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** The changed values of a field for a patch, in the order of their slots. For one thread. */
final class PatchValues {
  /** What the values are, for each container of their slots; empty if that is not known. */
  List<StatisticsRecord> statistics = List.of();

  /** How the values are stored. A writer of this release stores new ones as they are. */
  Compression compression = Compression.RAW;

  private long[] slots = new long[16];
  private long[] offsets = new long[16];
  private int[] chunks = new int[16];
  private int[] lengths = new int[16];
  /** CRC32Cs of the stored bytes, without a binding. */
  private int[] sums = new int[16];

  private int count;
  private long bytes;
  private long absent;

  /** Adds an absent value in a slot that is greater than those before. */
  void addAbsent(long slot) {
    add(slot, 0, 0, 0, 0);
  }

  /**
   * Adds a value in a slot that is greater than those before.
   *
   * @param offset position of the stored bytes in the chunk
   * @param chunk any number that {@link #chunk} gives back
   * @param sum CRC32C of the stored bytes, without a binding
   */
  void add(long slot, long offset, int chunk, int length, int sum) {
    if (count == slots.length) {
      slots = Arrays.copyOf(slots, 2 * count);
      offsets = Arrays.copyOf(offsets, 2 * count);
      chunks = Arrays.copyOf(chunks, 2 * count);
      lengths = Arrays.copyOf(lengths, 2 * count);
      sums = Arrays.copyOf(sums, 2 * count);
    }
    slots[count] = slot;
    offsets[count] = offset;
    chunks[count] = chunk;
    lengths[count] = length;
    sums[count] = sum;
    count++;
    bytes += length;
    absent += offset == 0 ? 1 : 0;
  }

  /**
   * Adds a value that a patch has already, without reading the value.
   *
   * @param from the slot of the value there
   * @param slot the slot of the value in this patch
   * @param ordinals the number to add for each ordinal of the chunks of that patch
   */
  void keep(ChangedField old, long from, long slot, int[] ordinals) {
    long rank = old.slots().rank(from);
    EntryField field = old.values();
    long word0 = field.word0(rank);
    long word1 = field.word1(rank);
    int sum = field.binding().bindEntry(rank, word0, word1, field.storedChecksum(rank));
    if (Entry.isAbsent(word0, word1)) {
      add(slot, 0, 0, 0, sum);
    } else {
      int chunk = ordinals[field.chunkOf(rank, word0, word1)];
      add(slot, word0, chunk, Entry.physicalLength(word1), sum);
    }
  }

  int count() {
    return count;
  }

  /** Returns the bytes of the values that are present. */
  long bytes() {
    return bytes;
  }

  long absentCount() {
    return absent;
  }

  long slot(int i) {
    return slots[i];
  }

  boolean isAbsent(int i) {
    return offsets[i] == 0;
  }

  /** Returns the number of the chunk of a value that is present. */
  int chunk(int i) {
    return chunks[i];
  }

  void setChunk(int i, int chunk) {
    chunks[i] = chunk;
  }

  /** Returns the slots in rising order. */
  long[] slots() {
    return Arrays.copyOf(slots, count);
  }

  /** Returns the section of the entries; the numbers of chunks are ordinals of the patch. */
  byte[] entries(Binding binding) {
    ByteBuffer section = ByteBuffer.allocate(Math.toIntExact(EntryUnits.bytes(count)))
        .order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      int at = (int) EntryUnits.entryAt(i);
      long word0 = offsets[i];
      long word1 = word0 == 0 ? 0 : Entry.word1(chunks[i], lengths[i]);
      section.putLong(at, word0).putLong(at + Long.BYTES, word1);
      section.putInt(
          (int) EntryUnits.checksumAt(i, count), binding.bindEntry(i, word0, word1, sums[i]));
    }
    for (int unit = 0; unit < EntryUnits.unitCount(count); unit++) {
      int at = (int) EntryUnits.unitAt(unit);
      int unitBytes = EntryUnits.unitBytes(unit, count);
      int sum = Crc32c.of(section.array(), at, unitBytes);
      section.putInt(at + unitBytes, binding.bind(Kind.OFFSETS, unit, sum));
    }
    return section.array();
  }
}
