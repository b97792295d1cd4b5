package io.zrecord.internal.shard.layout;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.UnitChecksums;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.internal.shard.file.TablesFile;
import java.util.List;

/** A field whose values are in runs of one width (FORMAT.md section 5). */
public final class FixedRuns implements OpenField {
  private final TablesFile file;
  private final Binding binding;
  private final int widthBytes;
  private final List<RunRecord> runs;
  private final long[] firstSlots;
  private final long[] offsets;
  private final int[] chunks;
  private final double runsPerSlot;
  private final int unitBytes;
  private final long unitCount;
  private final long unitsAt;
  private final PresenceBits presence;
  private final VerifiedBits verifiedUnits;
  private final VerifiedBits verifiedGroups;

  private FixedRuns(
      TablesFile file, FieldTables tables, int widthBytes, Binding binding, List<RunRecord> runs) {
    this.file = file;
    this.binding = binding;
    this.widthBytes = widthBytes;
    this.runs = runs;
    this.firstSlots = runs.stream().mapToLong(RunRecord::firstSlot).toArray();
    this.offsets = runs.stream().mapToLong(RunRecord::offset).toArray();
    this.chunks = runs.stream().mapToInt(RunRecord::chunk).toArray();
    this.runsPerSlot = 1.0 / runs.get(0).count();
    this.unitsAt = tables.units().position();
    this.presence = new PresenceBits(file, tables, binding);
    // Without checksums nothing is verified, so any unit will do.
    this.unitBytes = unitsAt == 0 ? FieldTables.MOST_UNIT_BYTES : tables.unitBytes();
    RunRecord last = runs.get(runs.size() - 1);
    this.unitCount =
        unitsAt == 0 ? 0 : last.firstUnit() + RunRecord.unitCount(last.bytes(), unitBytes);
    this.verifiedUnits = new VerifiedBits(unitCount, file.windows().isMapped());
    this.verifiedGroups = new VerifiedBits(UnitChecksums.groupCount(unitCount));
  }

  public static FixedRuns open(
      TablesFile file, FieldTables tables, int widthBytes, Binding binding, List<RunRecord> runs) {
    return new FixedRuns(file, tables, widthBytes, binding, runs);
  }

  @Override
  public int chunkCount() {
    return file.json().chunks().size();
  }

  @Override
  public long endBytes(int chunkOrdinal, long position) {
    return RunRecord.endBytes(runs, chunkOrdinal, position);
  }

  @Override
  public int shardChunk(int ordinal) {
    return file.shardChunk(ordinal);
  }

  /** Returns the full path of the file of the tables. */
  public String path() {
    return file.path();
  }

  /** Returns the bytes of the file of the tables. */
  public Windows tables() {
    return file.windows();
  }

  public boolean hasChecksums() {
    return unitCount > 0;
  }

  public int widthBytes() {
    return widthBytes;
  }

  /** Returns the bytes of a run that share a checksum, a power of two. */
  public int unitBytes() {
    return unitBytes;
  }

  public int runCount() {
    return firstSlots.length;
  }

  public RunRecord run(int ordinal) {
    return runs.get(ordinal);
  }

  /** Returns the ordinal of the chunk of a run among the chunks of the field. */
  public int chunk(int run) {
    return chunks[run];
  }

  /** Returns the position in its chunk of a value of a run. */
  public long position(int run, long slot) {
    return offsets[run] + (slot - firstSlots[run]) * widthBytes;
  }

  /** Returns the ordinal of the run that contains the value. */
  public int runOf(long slot) {
    if (firstSlots.length == 1) {
      return 0;
    }
    // Runs of a bulk writer have the same length, except the last. A division would take longer.
    int guess = (int) Math.min(slot * runsPerSlot, firstSlots.length - 1);
    if (slot >= firstSlots[guess]
        && (guess + 1 == firstSlots.length || slot < firstSlots[guess + 1])) {
      return guess;
    }
    int low = 0;
    int high = firstSlots.length - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (firstSlots[middle] <= slot) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Returns what binds the checksums of the field. */
  public Binding binding() {
    return binding;
  }

  public int unitChecksum(long unit) {
    return tables().intAt(unitsAt + UnitChecksums.at(unit));
  }

  public boolean isVerified(long unit) {
    return verifiedUnits.isSet(unit);
  }

  /** Tells whether every unit was verified. */
  public boolean isAllVerified() {
    return verifiedUnits.isAllSet();
  }

  public void setVerified(long unit) {
    verifiedUnits.set(unit);
  }

  /** Returns the position in the tables of the checksums of a group of units. */
  public long groupAt(long group) {
    return unitsAt + UnitChecksums.groupAt(group);
  }

  /** Returns the length of these checksums. The checksum of the group follows. */
  public int groupBytes(long group) {
    return UnitChecksums.groupBytes(group, unitCount);
  }

  public boolean isGroupVerified(long group) {
    return verifiedGroups.isSet(group);
  }

  public void setGroupVerified(long group) {
    verifiedGroups.set(group);
  }

  /** Returns the bits that tell which values are present. */
  public PresenceBits presence() {
    return presence;
  }
}
