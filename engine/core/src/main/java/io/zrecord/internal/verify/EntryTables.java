package io.zrecord.internal.verify;

import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FieldTables;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The entries of a field of a sealed shard, and their checksums (FORMAT.md section 4). Reports
 * damage of the units that they are in. Belongs to one thread.
 */
final class EntryTables implements EntrySource {
  /** Entries read at a time: a page, so that a bad sector costs few records. */
  private static final int STEP_SLOTS = 256;

  private final CheckRun run;
  private final ShardTables tables;
  private final FieldTables field;
  private final String fieldName;
  private final long firstIndex;
  private final long length;
  private final Binding binding;
  private final byte[] unit = new byte[EntryUnits.paddedBytes(EntryUnits.UNIT_SLOTS)];
  private final ByteBuffer buffer = ByteBuffer.wrap(unit).order(ByteOrder.LITTLE_ENDIAN);

  EntryTables(
      CheckRun run, ShardTables tables, FieldTables field, String fieldName, long firstIndex) {
    this.run = run;
    this.tables = tables;
    this.field = field;
    this.fieldName = fieldName;
    this.firstIndex = firstIndex;
    this.length = tables.json().length();
    this.binding = new Binding(tables.json().shardId(), field.id());
  }

  @Override
  public String path() {
    return tables.path();
  }

  @Override
  public long presentCount() {
    long present = tables.lengthBytes() - field.offsets().position();
    if (present >= field.offsets().bytes()) {
      return length;
    }
    long units = Math.max(0, present) / unit.length;
    return Math.min(length, units * EntryUnits.UNIT_SLOTS);
  }

  @Override
  public void load(long first, int count, EntryBlock block) {
    Arrays.fill(block.isMissing, 0, count, false);
    for (int from = 0; from < count; ) {
      long number = EntryUnits.unitOf(first + from);
      int slots = EntryUnits.unitSlots(number, length);
      loadUnit(number, slots, block, from);
      from += slots;
    }
  }

  private void loadUnit(long number, int slots, EntryBlock block, int from) {
    long at = field.offsets().position() + EntryUnits.unitAt(number);
    boolean isWhole = true;
    int checksums = slots * Entry.BYTES;
    for (int step = 0; step < slots; step += STEP_SLOTS) {
      int end = Math.min(slots, step + STEP_SLOTS);
      int offset = step * Entry.BYTES;
      isWhole &= read(at, offset, (end - step) * Entry.BYTES, block, from + step, from + end);
      int checksum = checksums + step * Integer.BYTES;
      isWhole &= read(at, checksum, (end - step) * Integer.BYTES, block, from + step, from + end);
    }
    int bytes = checksums + slots * Integer.BYTES;
    int padded = EntryUnits.paddedBytes(slots);
    int read = tables.tryRead(at + bytes, unit, bytes, padded - bytes);
    if (isWhole
        && (read < padded - bytes
            || !ShardTables.holds(unit, bytes, binding, Binding.Kind.OFFSETS, number)
            || !ShardTables.isPadded(unit, bytes, padded))) {
      run.found(
          Kind.ENTRY_FILE,
          tables.path(),
          fieldName,
          "the checksum of the entries at byte " + at + " does not hold, which are those of "
              + slots + " records from " + (firstIndex + number * EntryUnits.UNIT_SLOTS) + " on");
    }
    for (int k = 0; k < slots; k++) {
      block.words[2 * (from + k)] = buffer.getLong(k * Entry.BYTES);
      block.words[2 * (from + k) + 1] = buffer.getLong(k * Entry.BYTES + Long.BYTES);
      block.checksums[from + k] = buffer.getInt(checksums + k * Integer.BYTES);
    }
  }

  /** Reads a part of a unit. Marks the slots as missing if the part cannot all be read. */
  private boolean read(
      long unitAt, int offset, int bytes, EntryBlock block, int firstSlot, int endSlot) {
    if (tables.tryRead(unitAt + offset, unit, offset, bytes) == bytes) {
      return true;
    }
    Arrays.fill(block.isMissing, firstSlot, endSlot, true);
    Arrays.fill(unit, offset, offset + bytes, (byte) 0);
    return false;
  }

  @Override
  public void close() {
    // The file belongs to the check of the shard.
  }
}
