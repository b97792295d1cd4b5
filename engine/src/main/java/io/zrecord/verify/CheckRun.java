package io.zrecord.verify;

import io.zrecord.verify.Finding.Kind;
import io.zrecord.verify.ShardVerification.Role;
import org.jspecify.annotations.Nullable;

/** A check that is going on: takes findings and counts. Belongs to one thread. */
final class CheckRun {
  /** Listeners are told this often, so that telling costs nothing. */
  private static final long REPORT_STEP_BYTES = 4L << 20;

  private static final int SCRATCH_BYTES = 1 << 18;

  /** For bytes that nobody keeps. */
  final byte[] scratch = new byte[SCRATCH_BYTES];

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
  private Role role = Role.RECORDS;

  CheckRun(CheckListener listener) {
    this.listener = listener;
  }

  /** Says that there will be more to look at. */
  void expect(long moreBytes) {
    totalBytes += moreBytes;
  }

  /** Begins a shard of a table: what is found until {@link #endShard} is no damage if nobody needs the shard any more. */
  void beginShard(ShardNeed shardNeed, Role shardRole) {
    need = shardNeed;
    role = shardRole;
  }

  void endShard() {
    need = null;
    role = Role.RECORDS;
  }

  /** Begins a part of the bytes expected. */
  void beginPart(long records, long expectedBytes) {
    recordCount += records;
    partBytes = doneBytes;
    partEndBytes = doneBytes + expectedBytes;
  }

  /** Ends the part, whether all of it could be looked at or not. */
  void endPart() {
    doneBytes = partEndBytes;
    report();
  }

  /** Values that were looked at. */
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

  /** A finding about a file. */
  void found(Kind kind, String file, String problem) {
    found(new Finding(kind, file, null, -1, 0, problem));
  }

  /** A finding about a file of a field. */
  void found(Kind kind, String file, @Nullable String field, String problem) {
    found(new Finding(kind, file, field, -1, 0, problem));
  }

  void found(Finding original) {
    Finding finding = role == Role.INDEX_MAP ? original.ofIndexMap() : original;
    if (need != null && finding.kind().isDamage() && !need.isNeeded(finding.file())) {
      need.note(finding.file()).ifPresent(this::tell);
    } else {
      tell(finding);
    }
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

  CheckSummary summary() {
    return new CheckSummary(damageCount, noteCount, badValueCount, recordCount, valueCount, bytes);
  }
}
