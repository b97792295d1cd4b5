package io.zrecord.internal.verify;

import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Entry;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/**
 * Checks all values of a field in the layout {@code entries}, block by block, each block in the
 * order of the disk. Belongs to one thread.
 */
public final class EntriesCheck {
  private final CheckRun run;
  private final FieldSpec field;
  private final Amount amount;
  private final LongUnaryOperator indexOf;
  private final List<Found> found = new ArrayList<>();
  private long absentCount;
  private long valueBytes;
  private boolean hasDamage;

  /** What metadata says of a field: the absent values, and the physical lengths of all others. */
  public record Amount(long absentCount, long valueBytes) {}

  /** A problem of the values of some records. */
  private record Found(long index, long count, ValueCheck.Problem problem) {
    /**
     * Tells whether {@code next} extends this finding. A lost chunk costs too many values to report
     * each value on its own.
     */
    boolean isContinuedBy(Found next) {
      Finding.Stretch bytes = problem.stretch();
      Finding.Stretch more = next.problem.stretch();
      return problem.isLost()
          && next.problem.isLost()
          && index + count == next.index
          && bytes != null
          && more != null
          && bytes.file().equals(more.file());
    }

    Found plus(Found next) {
      Finding.Stretch bytes = Objects.requireNonNull(problem.stretch());
      Finding.Stretch more = Objects.requireNonNull(next.problem.stretch());
      long from = Math.min(bytes.offset(), more.offset());
      long to = Math.max(bytes.offset() + bytes.lengthBytes(), more.offset() + more.lengthBytes());
      Finding.Stretch both = new Finding.Stretch(bytes.file(), from, to - from);
      String text = "the bytes of these values, among those from " + from + " to " + to
          + ", cannot all be read from " + bytes.file();
      return new Found(
          index, count + next.count, new ValueCheck.Problem(problem.kind(), text, both, true));
    }
  }

  /** Changes to the entries in the files, such as a journal's. */
  public interface Overlay {
    /** An overlay that changes nothing. */
    Overlay NONE = new Overlay() {
      @Override
      public long next(long index) {
        return Long.MAX_VALUE;
      }

      @Override
      public void apply(long first, int count, EntryBlock block) {}
    };

    /**
     * Returns the first changed record at or after {@code index}; {@link Long#MAX_VALUE} if there
     * is none.
     */
    long next(long index);

    void apply(long first, int count, EntryBlock block);
  }

  /**
   * Prepares a check of one field.
   *
   * @param amount what the metadata says that the field has
   * @param firstIndex index in the dataset of the first record
   */
  public EntriesCheck(CheckRun run, FieldSpec field, Amount amount, long firstIndex) {
    this(run, field, amount, slot -> firstIndex + slot);
  }

  /**
   * Prepares a check of one field.
   *
   * @param amount what the metadata says that the field has
   * @param indexOf returns the index in the dataset of the record of an entry
   */
  EntriesCheck(CheckRun run, FieldSpec field, Amount amount, LongUnaryOperator indexOf) {
    this.run = run;
    this.field = field;
    this.amount = amount;
    this.indexOf = indexOf;
  }

  public void check(EntrySource files, long recordCount, Overlay overlay, ValueCheck values) {
    EntryBlock block = new EntryBlock(recordCount);
    long present = Math.min(recordCount, files.presentCount());
    for (long first = 0; first < recordCount; ) {
      // Records past the end of the files may be too many to count one by one: a damaged length can
      // be any number.
      long next = first < present ? first : Math.min(recordCount, overlay.next(first));
      if (next > first) {
        addMissing(first, next - first);
        report(files.path());
        run.checked(next - first, 0);
        first = next;
        continue;
      }
      long end = first < present ? present : recordCount;
      int count = (int) Math.min(EntryBlock.RECORDS, end - first);
      files.load(first, count, block);
      overlay.apply(first, count, block);
      checkBlock(files.path(), first, count, block, values);
      first += count;
    }
  }

  private void checkBlock(String path, long first, int count, EntryBlock block, ValueCheck values) {
    long bytes = 0;
    Integer[] order = block.inDiskOrder(count);
    for (int i = 0; i < count; i++) {
      int k = order[i];
      if (!block.isMissing[k]) {
        bytes += checkOne(first, k, block, values);
      }
    }
    reportMissing(first, count, block);
    report(path);
    run.checked(count, bytes);
  }

  private long checkOne(long first, int k, EntryBlock block, ValueCheck values) {
    long word0 = block.word0(k);
    long word1 = block.word1(k);
    ValueCheck.Problem problem = values.check(first + k, word0, word1, block.checksums[k]);
    if (problem != null) {
      add(problem, first + k, 1);
    }
    long bytes = Entry.physicalLength(word1) & 0xffff_ffffL;
    absentCount += Entry.isAbsent(word0, word1) ? 1 : 0;
    valueBytes += bytes;
    return bytes;
  }

  /** Reports one finding for each stretch, because a cut file loses many values. */
  private void reportMissing(long first, int count, EntryBlock block) {
    for (int k = 0; k < count; k++) {
      int from = k;
      while (k < count && block.isMissing[k]) {
        k++;
      }
      if (k > from) {
        addMissing(first + from, k - from);
      }
    }
  }

  private void addMissing(long index, long count) {
    String text = "its entry or checksum is not in the file, or cannot be read";
    add(new ValueCheck.Problem(Kind.ENTRY, text), index, count);
  }

  private void add(ValueCheck.Problem problem, long index, long count) {
    hasDamage |= problem.kind().isDamage();
    found.add(new Found(index, count, problem));
  }

  private void report(String path) {
    found.sort(Comparator.comparingLong(Found::index));
    for (int i = 0; i < found.size(); ) {
      Found joined = found.get(i++);
      while (i < found.size() && joined.isContinuedBy(found.get(i))) {
        joined = joined.plus(found.get(i++));
      }
      run.found(new Finding(
          joined.problem.kind(),
          path,
          field.name(),
          indexOf.applyAsLong(joined.index),
          joined.count,
          joined.problem.text(),
          joined.problem.stretch()));
    }
    found.clear();
  }

  /**
   * Compares the field's totals in the meta file with the values. Does nothing if an entry is
   * damaged anyway.
   */
  public void compareSums(String metaPath) {
    if (hasDamage) {
      return;
    }
    if (absentCount != amount.absentCount()) {
      run.found(
          Kind.COUNT,
          metaPath,
          field.name(),
          "it says " + amount.absentCount() + " absent values, but there are " + absentCount);
    }
    if (valueBytes != amount.valueBytes()) {
      run.found(
          Kind.COUNT,
          metaPath,
          field.name(),
          "it says " + amount.valueBytes() + " bytes of values, but there are " + valueBytes);
    }
  }
}
