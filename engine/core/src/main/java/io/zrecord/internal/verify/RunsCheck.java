package io.zrecord.internal.verify;

import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.UnitChecksums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks a field whose values are in runs of one width (FORMAT.md section 5), unit by unit. Belongs
 * to one thread.
 */
final class RunsCheck {
  private final CheckRun run;
  private final ShardTables tables;
  private final FieldTables field;
  private final String fieldName;
  private final int width;
  private final long firstIndex;
  private final Binding binding;
  private final byte[] block;
  private final byte[] group = new byte[UnitChecksums.GROUP_BYTES + Integer.BYTES];
  private final ByteBuffer checksums = ByteBuffer.wrap(group).order(ByteOrder.LITTLE_ENDIAN);
  private long unitCount;
  private long groupInMemory = -1;
  private boolean isGroupSound;

  RunsCheck(
      CheckRun run,
      ShardTables tables,
      FieldTables field,
      String fieldName,
      int width,
      long firstIndex) {
    this.run = run;
    this.block = run.scratch;
    this.tables = tables;
    this.field = field;
    this.fieldName = fieldName;
    this.width = width;
    this.firstIndex = firstIndex;
    this.binding = new Binding(tables.json().shardId(), field.id());
  }

  /** Checks the tables of the field, and the field's values. */
  void check(List<RunRecord> runs, ChunkFiles chunks) {
    long length = tables.json().length();
    if (field.valueBytes() != length * width) {
      run.found(
          Kind.COUNT,
          tables.path(),
          fieldName,
          "it says " + field.valueBytes() + " bytes of values, but there are " + length * width);
    }
    PresenceCheck presence = null;
    if (field.validity().isPresent()) {
      presence = new PresenceCheck(tables, field, fieldName);
      presence.check(run, firstIndex);
    }
    RunRecord last = runs.get(runs.size() - 1);
    unitCount = field.units().isPresent()
        ? last.firstUnit() + RunRecord.unitCount(last.bytes(), field.unitBytes())
        : 0;
    for (RunRecord stretch : runs) {
      checkRun(stretch, chunks, presence);
    }
  }

  private int unitBytes() {
    return field.units().isPresent() ? field.unitBytes() : FieldTables.MOST_UNIT_BYTES;
  }

  private void checkRun(RunRecord stretch, ChunkFiles chunks, @Nullable PresenceCheck presence) {
    long present = Math.min(
        stretch.bytes(), Math.max(0, chunks.presentBytes(stretch.chunk()) - stretch.offset()));
    // A lost stretch is one finding, however long the tables say it is.
    long whole = present == stretch.bytes() ? present : present / unitBytes() * unitBytes();
    for (long unit = 0; unit * unitBytes() < whole; unit++) {
      checkUnit(stretch, unit, chunks, presence);
    }
    if (whole < stretch.bytes()) {
      run.checked(0, stretch.bytes() - whole);
      foundLost(chunks, stretch, whole, stretch.bytes() - whole);
    }
    run.checked(stretch.count(), 0);
  }

  private void checkUnit(
      RunRecord stretch, long unit, ChunkFiles chunks, @Nullable PresenceCheck presence) {
    long from = unit * unitBytes();
    int length = (int) Math.min(unitBytes(), stretch.bytes() - from);
    long firstRecord = stretch.firstSlot() + from / width;
    long lastRecord = stretch.firstSlot() + (from + length - 1) / width;
    String path = chunks.path(stretch.chunk());
    long position = stretch.offset() + from;
    run.checked(0, length);
    if (chunks.read(stretch.chunk(), position, block, 0, length) < length) {
      foundLost(chunks, stretch, from, length);
      return;
    }
    long number = stretch.firstUnit() + unit;
    if (unitCount > 0 && loadGroup(UnitChecksums.groupOf(number))) {
      int expected =
          checksums.getInt((int) (UnitChecksums.at(number) - UnitChecksums.groupAt(groupInMemory)));
      int found = binding.bind(Binding.Kind.BLOCK, number, Crc32c.of(block, 0, length));
      if (found != expected) {
        found(
            new Finding.Stretch(path, position, length),
            firstRecord,
            lastRecord - firstRecord + 1,
            "the checksum of the " + length + " bytes at " + position + " is "
                + HexFormat.of().toHexDigits(found) + ", but "
                + HexFormat.of().toHexDigits(expected)
                + " was stored; at least one of these values is damaged");
        return;
      }
    }
    if (presence != null) {
      checkSlots(path, stretch, from, length, presence);
    }
  }

  /** Loads the checksums of a group and tells whether they can be used. */
  private boolean loadGroup(long number) {
    if (groupInMemory != number) {
      groupInMemory = number;
      int bytes = UnitChecksums.groupBytes(number, unitCount);
      long at = field.units().position() + UnitChecksums.groupAt(number);
      boolean isRead = tables.tryRead(at, group, 0, bytes + Integer.BYTES) == bytes + Integer.BYTES;
      isGroupSound =
          isRead && ShardTables.holds(group, bytes, binding, Binding.Kind.CHECKSUMS, number);
      if (!isGroupSound) {
        run.found(
            Kind.RUNS,
            tables.path(),
            fieldName,
            isRead
                ? "the checksum of the checksums at byte " + at + " does not hold"
                : "the checksums at byte " + at + " cannot all be read");
      }
    }
    return isGroupSound;
  }

  /**
   * Reports lost bytes of a run.
   *
   * @param from offset of the first lost byte in the run
   */
  private void foundLost(ChunkFiles chunks, RunRecord stretch, long from, long lengthBytes) {
    long first = from / width;
    long position = stretch.offset() + from;
    found(
        new Finding.Stretch(chunks.path(stretch.chunk()), position, lengthBytes),
        stretch.firstSlot() + first,
        (from + lengthBytes - 1) / width - first + 1,
        "the " + lengthBytes + " bytes at " + position + " cannot all be read");
  }

  /** Checks that the slots of absent values are zero. */
  private void checkSlots(
      String path, RunRecord stretch, long from, int length, PresenceCheck presence) {
    for (int at = 0; at < length; ) {
      long ordinal = (from + at) / width;
      int end = (int) Math.min(length, (ordinal + 1) * width - from);
      if (!presence.isPresent(stretch.firstSlot() + ordinal)) {
        for (int i = at; i < end; i++) {
          if (block[i] != 0) {
            run.found(new Finding(
                Kind.PRESENCE,
                path,
                fieldName,
                firstIndex + stretch.firstSlot() + ordinal,
                1,
                "the value is absent, but its slot is not zero"));
            break;
          }
        }
      }
      at = end;
    }
  }

  private void found(Finding.Stretch bytes, long index, long count, String problem) {
    run.found(new Finding(
        Kind.VALUE, bytes.file(), fieldName, firstIndex + index, count, problem, bytes));
  }
}
