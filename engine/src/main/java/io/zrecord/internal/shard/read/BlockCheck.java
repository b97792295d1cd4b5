package io.zrecord.internal.shard.read;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.UnitChecksums;
import io.zrecord.internal.format.ValidityUnits;
import io.zrecord.internal.shard.EntryField;
import io.zrecord.internal.shard.FixedRuns;
import io.zrecord.internal.shard.Windows;
import io.zrecord.read.Verification;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Compares checksums. Mapped bytes are first copied to the heap, either to their target or to a
 * scratch array: on a map of a truncated file the intrinsic that computes a checksum would kill the
 * process. Belongs to one thread.
 */
final class BlockCheck {
  /** Small enough to stay in the L1 or L2 cache between the copy and the checksum. */
  private static final int SCRATCH_BYTES = 1 << 16;

  private final WindowTable table;
  private final Mismatch mismatch;
  private final boolean never;
  private final boolean always;
  private final CRC32C crc = new CRC32C();
  private byte[] scratch = new byte[0];
  private long extraBytes;

  /** Makes the exception for bytes whose checksum is wrong. */
  interface Mismatch {
    CorruptDataException of(String path, String what, int expected, int found);
  }

  BlockCheck(Verification verification, WindowTable table, Mismatch mismatch) {
    this.table = table;
    this.mismatch = mismatch;
    this.never = verification == Verification.NEVER;
    this.always = verification == Verification.ALWAYS;
  }

  /** Returns the bytes read only for checks since the last call. */
  long takeExtraBytes() {
    long bytes = extraBytes;
    extraBytes = 0;
    return bytes;
  }

  /** Tells whether no value of the field needs a check. */
  boolean isSettled(EntryField field) {
    return never || !field.hasChecksums() || (!always && field.isAllVerified());
  }

  /** Tells whether a value must be checked before it is handed out. */
  boolean isDue(EntryField field, long index) {
    return !never && field.hasChecksums() && (always || !field.isVerified(index));
  }

  /** Checks an absent value: the entry must have been written as absent. */
  void absent(EntryField field, long index, long globalIndex) {
    finish(field, Kind.ABSENT, index, globalIndex, 0, WindowTable.EMPTY);
  }

  /** Checks stored bytes in place. */
  void value(EntryField field, long index, long globalIndex, int window, int position, int length) {
    crc.reset();
    forEachPiece(window, position, length, (offset, step) -> {});
    finish(field, Kind.VALUE, index, globalIndex, (int) crc.getValue(), window);
  }

  /** Copies stored bytes and checks the copy. */
  void copyValue(
      EntryField field,
      long index,
      long globalIndex,
      int window,
      int position,
      int length,
      ByteBuffer target,
      int at) {
    crc.reset();
    if (target.hasArray()) {
      int offset = target.arrayOffset() + at;
      table.copy(window, position, target.array(), offset, length);
      crc.update(target.array(), offset, length);
    } else {
      forEachPiece(
          window, position, length, (offset, step) -> target.put(at + offset, scratch, 0, step));
    }
    finish(field, Kind.VALUE, index, globalIndex, (int) crc.getValue(), window);
  }

  private void finish(
      EntryField field, Kind kind, long index, long globalIndex, int crcOfBytes, int window) {
    int found = field.binding().bind(kind, index, crcOfBytes);
    int expected = field.storedChecksum(index);
    if (found != expected) {
      String path = window == WindowTable.EMPTY ? field.path() : table.path(window);
      throw mismatch.of(path, "the value at " + globalIndex, expected, found);
    }
    field.setVerified(index);
  }

  /** Takes the piece of a value in the scratch array. */
  private interface PieceUse {
    void use(int offset, int length);
  }

  private void forEachPiece(int window, int position, int length, PieceUse use) {
    byte[] buffer = scratch();
    int number = window;
    int at = position;
    for (int done = 0; done < length; ) {
      int capacity = table.get(number).capacity();
      int step = Math.min(Math.min(length - done, buffer.length), capacity - at);
      table.copy(number, at, buffer, 0, step);
      crc.update(buffer, 0, step);
      use.use(done, step);
      done += step;
      at += step;
      if (at == capacity) {
        number++;
        at = 0;
      }
    }
  }

  /** Tells whether no unit of the field needs a check. */
  boolean isSettled(FixedRuns field) {
    return never || !field.hasChecksums() || (!always && field.isAllVerified());
  }

  /** Tells whether a unit of a run must be checked before its bytes are handed out. */
  boolean isDue(FixedRuns field, long unit) {
    return !never && field.hasChecksums() && (always || !field.isVerified(unit));
  }

  /** Checks the units that contain the bytes {@code [from, to)} of a run. */
  void units(ShardPart part, FixedRuns field, int runOrdinal, long from, long to) {
    RunRecord run = field.run(runOrdinal);
    int unitBytes = field.unitBytes();
    for (long unit = from / unitBytes; unit * unitBytes < to; unit++) {
      if (isDue(field, run.firstUnit() + unit)) {
        int length = (int) Math.min(unitBytes, run.bytes() - unit * unitBytes);
        extraBytes += length;
        copyUnit(part, field, runOrdinal, unit, length, scratch(), 0);
      }
    }
  }

  /** Copies a whole unit of a run and checks the copy. */
  void copyUnit(
      ShardPart part,
      FixedRuns field,
      int runOrdinal,
      long unit,
      int length,
      byte[] target,
      int offset) {
    RunRecord run = field.run(runOrdinal);
    int chunk = field.chunk(runOrdinal);
    long position = run.offset() + unit * field.unitBytes();
    long number = run.firstUnit() + unit;
    group(field, UnitChecksums.groupOf(number));
    int window = part.ready(chunk, position, length);
    table.copy(window, part.within(chunk, position), target, offset, length);
    crc.reset();
    crc.update(target, offset, length);
    int found = field.binding().bind(Kind.BLOCK, number, (int) crc.getValue());
    int expected = field.unitChecksum(number);
    if (found != expected) {
      throw mismatch.of(
          table.path(window),
          "unit " + unit + " of the run at byte " + run.offset() + " (records from "
              + run.firstSlot() + " of the shard)",
          expected,
          found);
    }
    field.setVerified(number);
  }

  /** Checks the checksums of a group of units, once. */
  private void group(FixedRuns field, long group) {
    if (!field.isGroupVerified(group)) {
      table(
          field.tables(),
          field.groupAt(group),
          field.groupBytes(group),
          field.binding(),
          Kind.CHECKSUMS,
          group);
      field.setGroupVerified(group);
    }
  }

  /** Checks the unit of presence bits that contains the bit of a value. */
  void validity(FixedRuns field, long slot) {
    long unit = ValidityUnits.unitOf(slot);
    if (!never && (always || !field.isValidityVerified(unit))) {
      table(
          field.tables(),
          field.validityAt(unit),
          field.validityBytes(unit),
          field.binding(),
          Kind.VALIDITY,
          unit);
      field.setValidityVerified(unit);
    }
  }

  /** Checks the units of entries of {@code slots[from, to)}, each once. */
  void entries(EntryField field, long[] slots, int from, int to) {
    if (never || field.isEveryUnitVerified()) {
      return;
    }
    long last = -1;
    for (int k = from; k < to; k++) {
      long unit = EntryUnits.unitOf(slots[k]);
      if (unit != last) {
        entryUnit(field, unit);
        last = unit;
      }
    }
  }

  /** Checks a unit of entries, once. */
  void entryUnit(EntryField field, long unit) {
    if (!never && !field.isUnitVerified(unit)) {
      table(
          field.tables(),
          field.unitAt(unit),
          field.unitBytes(unit),
          field.binding(),
          Kind.OFFSETS,
          unit);
      field.setUnitVerified(unit);
    }
  }

  /** Checks a unit of a table, whose checksum follows it. */
  private void table(
      Windows tables, long position, int length, Binding binding, Kind kind, long number) {
    tables.copy(position, scratch(), 0, length);
    crc.reset();
    crc.update(scratch, 0, length);
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

  byte[] scratch() {
    if (scratch.length == 0) {
      scratch = new byte[SCRATCH_BYTES];
    }
    return scratch;
  }
}
