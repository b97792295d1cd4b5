package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.BlockRecord;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.UnitChecksums;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.FixedRuns;
import io.zrecord.internal.shard.layout.StoredField;
import io.zrecord.internal.shard.layout.VariableField;
import io.zrecord.read.Verification;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Compares checksums. Mapped bytes are first copied to the heap, either to their target or to a
 * scratch array: on a map of a truncated file the intrinsic that computes a checksum would kill the
 * process. Belongs to one thread.
 */
final class BlockCheck {
  /** Small enough to stay in the L1 or L2 cache between the copy and the checksum. */
  private static final int SCRATCH_BYTES = 1 << 16;

  private final WindowTable table;
  private final TablesCheck tables;
  private final Mismatch mismatch;
  private final boolean never;
  private final boolean always;
  private final CRC32C crc = new CRC32C();
  private byte[] scratch = new byte[0];
  private long extraBytes;

  BlockCheck(Verification verification, WindowTable table, Mismatch mismatch) {
    this.table = table;
    this.tables = new TablesCheck(verification, mismatch);
    this.mismatch = mismatch;
    this.never = verification == Verification.NEVER;
    this.always = verification == Verification.ALWAYS;
  }

  /** Returns the checks of tables. */
  TablesCheck tables() {
    return tables;
  }

  /** Returns the bytes read only for checks since the last call. */
  long takeExtraBytes() {
    long bytes = extraBytes;
    extraBytes = 0;
    return bytes;
  }

  /** Tells whether no value of the field needs a check. */
  boolean isSettled(StoredField field) {
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
  void value(
      StoredField field, long index, long globalIndex, int window, int position, int length) {
    crc.reset();
    forEachPiece(window, position, length, null, 0);
    finish(field, Kind.VALUE, index, globalIndex, (int) crc.getValue(), window);
  }

  /** Copies stored bytes and checks the copy. */
  void copyValue(
      StoredField field,
      long index,
      long globalIndex,
      int window,
      int position,
      int length,
      ByteBuffer target,
      int at) {
    crc.reset();
    copyPieces(window, position, length, target, at);
    finish(field, Kind.VALUE, index, globalIndex, (int) crc.getValue(), window);
  }

  private void copyPieces(int window, int position, int length, ByteBuffer target, int at) {
    if (target.hasArray()) {
      int offset = target.arrayOffset() + at;
      table.copy(window, position, target.array(), offset, length);
      crc.update(target.array(), offset, length);
    } else {
      forEachPiece(window, position, length, target, at);
    }
  }

  private void finish(
      StoredField field, Kind kind, long index, long globalIndex, int crcOfBytes, int window) {
    int found = field.binding().bind(kind, index, crcOfBytes);
    int expected = field.storedChecksum(index);
    if (found != expected) {
      String path = window == WindowTable.EMPTY ? field.path() : table.path(window);
      throw mismatch.of(path, "the value at " + globalIndex, expected, found);
    }
    field.setVerified(index);
  }

  /** Sums bytes piece by piece in the scratch array, and copies them if there is a target. */
  private void forEachPiece(
      int window, int position, long length, @Nullable ByteBuffer target, int targetAt) {
    byte[] buffer = scratch();
    int number = window;
    int at = position;
    for (long done = 0; done < length; ) {
      int capacity = table.get(number).capacity();
      int step = (int) Math.min(Math.min(length - done, buffer.length), capacity - at);
      table.copy(number, at, buffer, 0, step);
      crc.update(buffer, 0, step);
      if (target != null) {
        target.put(targetAt + (int) done, buffer, 0, step);
      }
      done += step;
      at += step;
      if (at == capacity) {
        number++;
        at = 0;
      }
    }
  }

  /** Tells whether the unit of a value must be checked before the value is handed out. */
  boolean isDue(VariableField field, int run, long slot) {
    return !never
        && field.hasChecksums()
        && (always || !field.isUnitVerified(field.unitOf(run, slot)));
  }

  /** Checks the unit of a value of an admitted block in place. */
  void unit(ShardPart part, VariableField field, int run, long slot) {
    long from = field.start(run, field.unitSlot(run, slot));
    long length = field.end(run, field.unitEndSlot(run, slot) - 1) - from;
    long place = part.place(field.chunk(run), from, length);
    crc.reset();
    forEachPiece(Place.window(place), Place.position(place), length, null, 0);
    extraBytes += length;
    finishUnit(part, field, run, slot, from, length);
  }

  /**
   * Copies the values of a unit, which follow each other without a gap, and checks the copy.
   *
   * @param slot of the first value of the unit
   */
  void copyUnit(
      ShardPart part,
      VariableField field,
      int run,
      long slot,
      int length,
      ByteBuffer target,
      int at) {
    long from = field.start(run, slot);
    long place = part.place(field.chunk(run), from, length);
    crc.reset();
    copyPieces(Place.window(place), Place.position(place), length, target, at);
    finishUnit(part, field, run, slot, from, length);
  }

  private void finishUnit(
      ShardPart part, VariableField field, int run, long slot, long from, long length) {
    long first = field.unitSlot(run, slot);
    int found = field.binding().bind(Kind.VALUE, first, (int) crc.getValue());
    int expected = field.unitChecksum(run, slot);
    if (found != expected) {
      long end = field.unitEndSlot(run, slot);
      String which = end - first == 1
          ? "the value at " + part.indexOf(first)
          : "one of the values from " + part.indexOf(first) + " to " + part.indexOf(end - 1);
      throw mismatch.of(
          part.path(field.chunk(run)),
          which + " (" + length + " bytes at byte " + from + ")",
          expected,
          found);
    }
    field.setUnitVerified(field.unitOf(run, slot));
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
    tables.group(field, UnitChecksums.groupOf(number));
    long place = part.place(chunk, position, length);
    int window = Place.window(place);
    table.copy(window, Place.position(place), target, offset, length);
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

  /** Checks the stored bytes of a compressed block, if a check is due. */
  void block(BlockField field, long block, BlockRecord record, byte[] stored, int window) {
    if (never || !field.hasChecksums() || (!always && field.isVerified(block))) {
      return;
    }
    crc.reset();
    crc.update(stored, 0, record.storedBytes());
    int found = field.binding().bind(Kind.BLOCK, block, (int) crc.getValue());
    int expected = record.checksum();
    if (found != expected) {
      throw mismatch.of(
          window == WindowTable.EMPTY ? field.path() : table.path(window),
          "the block at byte " + record.position() + " (records from " + record.firstSlot()
              + " of the shard)",
          expected,
          found);
    }
    field.setVerified(block);
  }

  byte[] scratch() {
    if (scratch.length == 0) {
      scratch = new byte[SCRATCH_BYTES];
    }
    return scratch;
  }
}
