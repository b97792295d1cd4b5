package io.zrecord.internal.verify;

import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.VariableBlocks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Checks a field whose values are in variable runs (FORMAT.md section 5), block by block, and each
 * block unit by unit. Belongs to one thread.
 */
final class VariableRunCheck {
  private static final long U32 = 0xffff_ffffL;

  private final CheckRun run;
  private final ShardTables tables;
  private final FieldTables field;
  private final String fieldName;
  private final long firstIndex;
  private final ChunkFiles chunks;
  private final ValueCheck values;
  private final Binding binding;
  private final byte[] piece;
  private final byte[] block = new byte[VariableBlocks.MOST_BYTES];
  private final ByteBuffer words = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
  private final CRC32C crc = new CRC32C();
  private @Nullable PresenceCheck presence;
  private @Nullable Unit lost;
  private long blockNumber;
  private long valueBytes;
  private boolean hasDamage;

  /** Values of a run with one checksum, or several such units that are lost. */
  private record Unit(RunRecord run, long slot, long count, long start, long end) {}

  VariableRunCheck(
      CheckRun run,
      ShardTables tables,
      FieldTables field,
      String fieldName,
      long firstIndex,
      ChunkFiles chunks,
      ValueCheck values) {
    this.run = run;
    this.tables = tables;
    this.field = field;
    this.fieldName = fieldName;
    this.firstIndex = firstIndex;
    this.chunks = chunks;
    this.values = values;
    this.binding = new Binding(tables.json().shardId(), field.id());
    this.piece = run.scratch;
  }

  /** Checks the tables of the field, and the field's values. */
  void check(List<RunRecord> runs) {
    if (field.validity().isPresent()) {
      presence = new PresenceCheck(tables, field, fieldName);
      presence.check(run, firstIndex);
    }
    for (RunRecord stretch : runs) {
      checkRun(stretch);
    }
    if (!hasDamage && valueBytes != field.valueBytes()) {
      run.found(
          Kind.COUNT,
          tables.path(),
          fieldName,
          "it says " + field.valueBytes() + " bytes of values, but there are " + valueBytes);
    }
  }

  private void checkRun(RunRecord stretch) {
    long end = stretch.offset();
    long at = field.offsets().position() + stretch.offsetsAt();
    for (long i = 0; i < VariableBlocks.blockCount(stretch.count()); i++) {
      int count = VariableBlocks.valuesOf(i, stretch.count());
      int padded = VariableBlocks.paddedBytes(count, stretch.unitValues());
      long slot = stretch.firstSlot() + i * VariableBlocks.BLOCK_VALUES;
      if (loadBlock(stretch, at, slot, count, padded)) {
        if (end >= 0 && words.getLong(0) != end) {
          foundTable("the block at byte " + at + " begins at " + words.getLong(0)
              + " of its chunk, but the values before end at " + end);
        }
        checkBlock(stretch, slot, count);
        end = end(count - 1);
      } else {
        end = -1;
      }
      run.checked(count, 0);
      at += padded;
      blockNumber++;
    }
    reportLost();
    if (end >= 0 && !hasDamage && end != stretch.offset() + stretch.bytes()) {
      foundTable("the values of the run from record " + stretch.firstSlot() + " on end at " + end
          + " of their chunk, but the run at " + (stretch.offset() + stretch.bytes()));
    }
  }

  /** Loads a block. Returns whether its values can be looked for. */
  private boolean loadBlock(RunRecord stretch, long at, long slot, int count, int padded) {
    int bytes = VariableBlocks.bytes(count, stretch.unitValues());
    if (tables.tryRead(at, block, 0, padded) < padded) {
      hasDamage = true;
      run.found(new Finding(
          Kind.ENTRY,
          tables.path(),
          fieldName,
          firstIndex + slot,
          count,
          "the block of their ends at byte " + at + " cannot all be read"));
      return false;
    }
    if (!ShardTables.holds(block, bytes, binding, Binding.Kind.OFFSETS, blockNumber)
        || !ShardTables.isPadded(block, bytes, padded)) {
      foundTable(
          "the checksum of the block at byte " + at + " does not hold, which has the ends of "
              + count + " values from record " + (firstIndex + slot) + " on");
    }
    return true;
  }

  private long end(int value) {
    return words.getLong(0) + (words.getInt(VariableBlocks.ENDS_AT + Integer.BYTES * value) & U32);
  }

  private long start(int value) {
    long previous = value == 0 ? words.getLong(0) : end(value - 1);
    return field.alignment().start(previous, end(value));
  }

  private void checkBlock(RunRecord stretch, long slot, int count) {
    int step = stretch.unitValues() == 0 ? count : stretch.unitValues();
    for (int from = 0; from < count; from += step) {
      int to = Math.min(count, from + step);
      Unit unit = new Unit(stretch, slot + from, to - from, start(from), end(to - 1));
      if (!isWithin(stretch, from, to)) {
        hasDamage = true;
        run.found(new Finding(
            Kind.ENTRY,
            tables.path(),
            fieldName,
            firstIndex + unit.slot,
            unit.count,
            "the ends of these values lead out of their run, " + stretch));
      } else {
        checkUnit(unit, from / step, from, count);
      }
    }
  }

  private boolean isWithin(RunRecord stretch, int from, int to) {
    long last = stretch.offset() + stretch.bytes();
    boolean isWithin = words.getLong(0) >= stretch.offset() && words.getLong(0) <= last;
    for (int i = from; i < to && isWithin; i++) {
      long length = end(i) - start(i);
      isWithin = length >= 0 && length <= Integer.MAX_VALUE && end(i) <= last;
    }
    return isWithin;
  }

  private void checkUnit(Unit unit, int inBlock, int from, int count) {
    if (!read(unit)) {
      addLost(unit);
      return;
    }
    reportLost();
    run.checked(0, unit.end - unit.start);
    if (unit.run.unitValues() > 0) {
      int expected = words.getInt(VariableBlocks.checksumsAt(count) + Integer.BYTES * inBlock);
      int found = binding.bind(Binding.Kind.VALUE, unit.slot, (int) crc.getValue());
      if (found != expected) {
        found(
            Kind.VALUE,
            unit,
            "the checksum of the " + (unit.end - unit.start) + " bytes at " + unit.start + " is "
                + HexFormat.of().toHexDigits(found) + ", but "
                + HexFormat.of().toHexDigits(expected)
                + " was stored; at least one of these values is damaged");
        return;
      }
    }
    for (int i = from; i < from + unit.count; i++) {
      checkValue(unit, i, unit.slot + (i - from));
    }
  }

  private boolean read(Unit unit) {
    crc.reset();
    for (long at = unit.start; at < unit.end; at += piece.length) {
      int length = (int) Math.min(piece.length, unit.end - at);
      if (chunks.read(unit.run.chunk(), at, piece, 0, length) < length) {
        return false;
      }
      crc.update(piece, 0, length);
    }
    return true;
  }

  private void checkValue(Unit unit, int value, long slot) {
    long start = start(value);
    int length = (int) (end(value) - start);
    valueBytes += length;
    Unit alone = new Unit(unit.run, slot, 1, start, end(value));
    if (presence != null && !presence.isPresent(slot)) {
      if (length > 0) {
        found(Kind.PRESENCE, alone, "the value is absent, but has " + length + " bytes");
      }
      return;
    }
    ValueCheck.Problem problem = values.checkPayload(unit.run.chunk(), start, length);
    if (problem != null) {
      found(problem.kind(), alone, problem.text());
    }
  }

  /** Joins lost units that follow each other: a lost chunk costs too many to report each. */
  private void addLost(Unit unit) {
    Unit before = lost;
    run.checked(0, unit.end - unit.start);
    lost = before == null
        ? unit
        : new Unit(unit.run, before.slot, before.count + unit.count, before.start, unit.end);
  }

  private void reportLost() {
    Unit unit = lost;
    if (unit != null) {
      lost = null;
      found(
          Kind.VALUE,
          unit,
          "the " + (unit.end - unit.start) + " bytes at " + unit.start + " cannot all be read");
    }
  }

  private void foundTable(String problem) {
    hasDamage = true;
    run.found(Kind.ENTRY_FILE, tables.path(), fieldName, problem);
  }

  private void found(Kind kind, Unit unit, String problem) {
    hasDamage |= kind.isDamage();
    String path = chunks.path(unit.run.chunk());
    run.found(new Finding(
        kind,
        path,
        fieldName,
        firstIndex + unit.slot,
        unit.count,
        problem,
        new Finding.Stretch(path, unit.start, unit.end - unit.start)));
  }
}
