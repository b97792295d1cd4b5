package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.BlockUnits;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.ValidityUnits;
import io.zrecord.internal.format.VariableBlocks;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.FixedRuns;
import io.zrecord.internal.shard.layout.PresenceBits;
import io.zrecord.internal.shard.layout.VariableField;
import io.zrecord.read.Verification;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Compares the checksums of the tables, each unit of a table before it is first used. Presence bits
 * are checked each time with {@link Verification#ALWAYS}. Belongs to one thread.
 */
final class TablesCheck {
  private final Mismatch mismatch;
  private final boolean never;
  private final boolean always;
  private final CRC32C crc = new CRC32C();
  private ByteBuffer unit = ByteBuffer.allocate(0);

  // The unit of presence bits that was checked last for this selection.
  private @Nullable PresenceBits checkedBits;
  private long checkedUnit;

  TablesCheck(Verification verification, Mismatch mismatch) {
    this.mismatch = mismatch;
    this.never = verification == Verification.NEVER;
    this.always = verification == Verification.ALWAYS;
  }

  /** Checks the checksums of a group of units of fixed runs, once. */
  void group(FixedRuns field, long group) {
    if (!field.isGroupVerified(group)) {
      check(
          field.tables(),
          field.groupAt(group),
          field.groupBytes(group),
          field.binding(),
          Kind.CHECKSUMS,
          group);
      field.setGroupVerified(group);
    }
  }

  /** Begins a selection, for which each unit of presence bits is checked again if that is asked. */
  void begin() {
    checkedBits = null;
  }

  /** Checks the unit of presence bits that contains the bit of a value. */
  void validity(PresenceBits bits, long slot) {
    long number = ValidityUnits.unitOf(slot);
    boolean isChecked = bits == checkedBits && number == checkedUnit;
    if (!never && !isChecked && (always || !bits.isVerified(number))) {
      check(
          bits.tables(),
          bits.unitAt(number),
          bits.unitBytes(number),
          bits.binding(),
          Kind.VALIDITY,
          number);
      bits.setVerified(number);
      checkedBits = bits;
      checkedUnit = number;
    }
  }

  /** Checks the units of entries of {@code slots[from, to)}, each once. */
  void entries(EntryField field, long[] slots, int from, int to) {
    if (never || field.isEveryUnitVerified()) {
      return;
    }
    long last = -1;
    for (int k = from; k < to; k++) {
      long number = EntryUnits.unitOf(slots[k]);
      if (number != last) {
        entryUnit(field, number);
        last = number;
      }
    }
  }

  /** Checks a unit of entries, once. */
  void entryUnit(EntryField field, long number) {
    if (!never && !field.isUnitVerified(number)) {
      check(
          field.tables(),
          field.unitAt(number),
          field.unitBytes(number),
          field.binding(),
          Kind.OFFSETS,
          number);
      field.setUnitVerified(number);
    }
  }

  /** Checks the block of a value of a variable run, once, and admits the block. */
  void block(VariableField field, int run, long slot) {
    if (field.isAdmitted(run, slot)) {
      return;
    }
    int bytes =
        VariableBlocks.bytes(field.blockValues(run, slot), field.run(run).unitValues());
    long at = field.blockAt(run, slot);
    if (field.presence().exist()) {
      long first = field.blockSlot(run, slot);
      validity(field.presence(), first);
      validity(field.presence(), first + field.blockValues(run, slot) - 1);
    }
    // Also for readers that verify nothing: all readers share what is admitted.
    check(field.tables(), at, bytes, field.binding(), Kind.OFFSETS, field.blockOf(run, slot));
    field.admit(run, slot, unit);
  }

  /** Checks the unit of records in which the record of a compressed block is, once. */
  void blockRecord(BlockField field, long block) {
    long number = BlockUnits.unitOf(block);
    if (!never && !field.isUnitVerified(number)) {
      check(
          field.tables(),
          field.unitAt(number),
          field.unitBytes(number),
          field.binding(),
          Kind.OFFSETS,
          number);
      field.setUnitVerified(number);
    }
  }

  /** Checks a unit of a table, whose checksum follows it. */
  private void check(
      Windows tables, long position, int length, Binding binding, Kind kind, long number) {
    load(tables, position, length);
    crc.reset();
    crc.update(unit.array(), 0, length);
    int found = binding.bind(kind, number, (int) crc.getValue());
    int expected = tables.intAt(position + length);
    if (found != expected) {
      throw mismatch.of(
          tables.path(),
          "the table at byte " + position + " (" + length + " bytes)",
          expected,
          found);
    }
  }

  private void load(Windows tables, long position, int length) {
    if (unit.capacity() == 0) {
      unit = ByteBuffer.allocate(EntryUnits.UNIT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }
    tables.copy(position, unit.array(), 0, length);
  }
}
