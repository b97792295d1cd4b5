package io.zrecord.internal.verify;

import io.zrecord.findings.CheckListener;
import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.RankedBitmap;
import org.jspecify.annotations.Nullable;

/** A running check: collects findings and counts. Belongs to one thread. */
public final class CheckRun {
  /** Bytes between two reports of progress, so that reporting costs next to nothing. */
  private static final long REPORT_STEP_BYTES = 4L << 20;

  private static final int SCRATCH_BYTES = 1 << 18;

  /** Target of reads whose bytes are not kept. */
  public final byte[] scratch = new byte[SCRATCH_BYTES];

  private final CheckListener listener;
  private long damageCount;
  private long noteCount;
  private long badValueCount;
  private long recordCount;
  private long valueCount;
  private long bytes;
  private long doneBytes;
  private long partBytes;
  private long partEndBytes;
  private long totalBytes;
  private long reportedBytes;
  private @Nullable ShardNeed need;
  private ShardRole role = ShardRole.RECORDS;
  private long firstOfShard;
  private @Nullable RankedBitmap deleted;

  public CheckRun(CheckListener listener) {
    this.listener = listener;
  }

  /** Announces more bytes to check. */
  public void expect(long moreBytes) {
    totalBytes += moreBytes;
  }

  /**
   * Begins a shard of a table. Findings until {@link #endShard} are no damage if no version needs
   * the shard any more.
   */
  public void beginShard(ShardNeed shardNeed, ShardRole shardRole) {
    need = shardNeed;
    role = shardRole;
  }

  public void endShard() {
    need = null;
    role = ShardRole.RECORDS;
  }

  /**
   * Begins the tables of a shard with a patch: findings until {@link #endSlots} count slots instead
   * of records.
   *
   * @param firstIndex index of the shard's first record
   * @param deletedSlots the slots that were deleted; null if none was
   */
  void beginSlots(long firstIndex, @Nullable RankedBitmap deletedSlots) {
    firstOfShard = firstIndex;
    deleted = deletedSlots;
  }

  void endSlots() {
    deleted = null;
  }

  /** Begins a part of the expected bytes. */
  public void beginPart(long records, long expectedBytes) {
    recordCount += records;
    partBytes = doneBytes;
    partEndBytes = doneBytes + expectedBytes;
  }

  /** Ends the part, whether or not all of it could be checked. */
  public void endPart() {
    doneBytes = partEndBytes;
    report();
  }

  /** Counts checked values. */
  void checked(long values, long storedBytes) {
    valueCount += values;
    bytes += storedBytes;
    partBytes += storedBytes;
    doneBytes = Math.min(partBytes, partEndBytes);
    if (doneBytes - reportedBytes >= REPORT_STEP_BYTES) {
      report();
    }
  }

  private void report() {
    reportedBytes = doneBytes;
    listener.progress(doneBytes, totalBytes);
  }

  /** Reports a finding about a file. */
  public void found(Kind kind, String file, String problem) {
    found(new Finding(kind, file, null, -1, 0, problem));
  }

  /** Reports a finding about a file of a field. */
  public void found(Kind kind, String file, @Nullable String field, String problem) {
    found(new Finding(kind, file, field, -1, 0, problem));
  }

  public void found(Finding original) {
    Finding finding = role == ShardRole.INDEX_MAP
        ? ofIndexMap(original)
        : ofRecords(original, firstOfShard, deleted);
    if (need != null && finding.kind().isDamage() && !need.isNeeded(finding.file())) {
      need.note(finding.file()).ifPresent(this::tell);
    } else {
      tell(finding);
    }
  }

  /**
   * Returns a finding about slots of a shard as one about its records. What concerns deleted
   * records only, concerns no record.
   *
   * @param first index of the shard's first record
   * @param deleted the slots that were deleted; null if none was
   */
  static Finding ofRecords(Finding finding, long first, @Nullable RankedBitmap deleted) {
    if (deleted == null || finding.firstIndex() < first) {
      return finding;
    }
    long slot = finding.firstIndex() - first;
    long index = slot - deleted.rank(slot);
    long end = slot + finding.count();
    long left = end - deleted.rank(end) - index;
    return left == 0 && finding.count() > 0
        ? with(finding, -1, 0, finding.problem() + "; the records were deleted")
        : with(finding, first + index, left, finding.problem());
  }

  /**
   * Returns a finding as a finding about an index map. A record of a map is not a record of a
   * version, and no value of a version is lost.
   */
  private static Finding ofIndexMap(Finding finding) {
    String which = finding.count() == 0
        ? ""
        : "of " + finding.count() + " new indices, from that of the former index "
            + finding.firstIndex() + " on: ";
    Kind kind = finding.kind().isDamage() ? Kind.INDEX_MAP : finding.kind();
    return new Finding(
        kind, finding.file(), null, -1, 0, which + finding.problem(), finding.stretch());
  }

  private static Finding with(Finding finding, long firstIndex, long count, String problem) {
    return new Finding(
        finding.kind(),
        finding.file(),
        finding.field(),
        firstIndex,
        count,
        problem,
        finding.stretch());
  }

  private void tell(Finding finding) {
    if (finding.kind().isDamage()) {
      damageCount++;
    } else {
      noteCount++;
    }
    if (finding.kind().concernsValues()) {
      badValueCount += finding.count();
    }
    listener.finding(finding);
  }

  public CheckSummary summary() {
    return new CheckSummary(damageCount, noteCount, badValueCount, recordCount, valueCount, bytes);
  }
}
