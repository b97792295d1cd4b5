package io.zrecord.internal.verify;

import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.ValidityUnits;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bits that tell which values of a field with runs are present (FORMAT.md section 5). Belongs
 * to one thread.
 */
final class PresenceCheck {
  private final ShardTables tables;
  private final FieldTables field;
  private final String fieldName;
  private final long length;
  private final Binding binding;
  private final byte[] unit = new byte[ValidityUnits.UNIT_BYTES + ValidityUnits.CHECKSUM_BYTES];
  private final ByteBuffer buffer = ByteBuffer.wrap(unit).order(ByteOrder.LITTLE_ENDIAN);
  private long unitInMemory = -1;
  private boolean isWhole;

  PresenceCheck(ShardTables tables, FieldTables field, String fieldName) {
    this.tables = tables;
    this.field = field;
    this.fieldName = fieldName;
    this.length = tables.json().length();
    this.binding = new Binding(tables.json().shardId(), field.id());
  }

  /** Checks all units and reports what is wrong. */
  void check(CheckRun run, long firstIndex) {
    long present = 0;
    boolean isSound = true;
    for (long number = 0; number < ValidityUnits.unitCount(length); number++) {
      load(number);
      int bytes = ValidityUnits.unitBytes(number, length);
      long first = number * ValidityUnits.UNIT_SLOTS;
      long slots = Math.min(ValidityUnits.UNIT_SLOTS, length - first);
      boolean holds = isWhole
          && ShardTables.holds(unit, bytes, binding, Binding.Kind.VALIDITY, number)
          && ShardTables.isPadded(unit, bytes, bytes + ValidityUnits.CHECKSUM_BYTES);
      if (!holds) {
        isSound = false;
        run.found(new Finding(
            Kind.PRESENCE,
            tables.path(),
            fieldName,
            firstIndex + first,
            slots,
            isWhole
                ? "the checksum of unit " + number + " of the presence bits does not hold"
                : "unit " + number + " of the presence bits cannot all be read"));
      }
      for (int i = 0; i < bytes; i += Long.BYTES) {
        present += Long.bitCount(buffer.getLong(i));
      }
    }
    if (isSound && present != length - field.absentCount()) {
      run.found(
          Kind.PRESENCE,
          tables.path(),
          fieldName,
          "it has " + present + " bits, but " + (length - field.absentCount()) + " of " + length
              + " values are said to be present");
    }
  }

  /** Tells whether a value is present. A value whose bit cannot be read counts as present. */
  boolean isPresent(long slot) {
    long number = ValidityUnits.unitOf(slot);
    load(number);
    long word = ValidityUnits.wordAt(slot) - ValidityUnits.unitAt(number);
    return !isWhole || (buffer.getLong((int) word) >>> slot & 1) != 0;
  }

  private void load(long number) {
    if (unitInMemory != number) {
      unitInMemory = number;
      int bytes = ValidityUnits.unitBytes(number, length) + ValidityUnits.CHECKSUM_BYTES;
      long at = field.validity().position() + ValidityUnits.unitAt(number);
      isWhole = tables.tryRead(at, unit, 0, bytes) == bytes;
      if (!isWhole) {
        java.util.Arrays.fill(unit, (byte) 0);
      }
    }
  }
}
