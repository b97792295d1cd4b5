package io.zrecord.verify;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.verify.Finding.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Checks all values of a field in the layout {@code entries}, in blocks, each in the order of the disk. Belongs to one thread. */
final class EntriesCheck {
  private final CheckRun run;
  private final FieldMeta field;
  private final long firstIndex;
  private final List<Finding> found = new ArrayList<>();
  private long absentCount;
  private long valueBytes;
  private boolean hasDamage;

  /** What changes the entries that are in the files: a journal. */
  interface Overlay {
    void apply(long first, int count, EntryBlock block);
  }

  /** @param firstIndex index in the dataset of the first record */
  EntriesCheck(CheckRun run, FieldMeta field, long firstIndex) {
    this.run = run;
    this.field = field;
    this.firstIndex = firstIndex;
  }

  void check(EntryFiles files, long recordCount, Overlay overlay, ValueCheck values) {
    EntryBlock block = new EntryBlock(recordCount);
    for (long first = 0; first < recordCount; first += EntryBlock.RECORDS) {
      int count = (int) Math.min(EntryBlock.RECORDS, recordCount - first);
      files.load(first, count, block);
      overlay.apply(first, count, block);
      checkBlock(files.path(), first, count, block, values);
    }
  }

  private void checkBlock(String path, long first, int count, EntryBlock block, ValueCheck values) {
    long bytes = 0;
    Integer[] order = block.inDiskOrder(count);
    for (int i = 0; i < count; i++) {
      int k = order[i];
      if (!block.isMissing[k]) {
        bytes += checkOne(path, first, k, block, values);
      }
    }
    reportMissing(path, first, count, block);
    found.sort(Comparator.comparingLong(Finding::firstIndex));
    found.forEach(run::found);
    found.clear();
    run.checked(count, bytes);
  }

  private long checkOne(String path, long first, int k, EntryBlock block, ValueCheck values) {
    long word0 = block.word0(k);
    long word1 = block.word1(k);
    ValueCheck.Problem problem = values.check(word0, word1, block.checksums[k]);
    if (problem != null) {
      add(problem, path, first + k, 1);
    }
    long bytes = Entry.physicalLength(word1) & 0xffff_ffffL;
    absentCount += Entry.isAbsent(word0, word1) ? 1 : 0;
    valueBytes += bytes;
    return bytes;
  }

  /** One finding for each stretch, since a file that is cut loses many. */
  private void reportMissing(String path, long first, int count, EntryBlock block) {
    for (int k = 0; k < count; k++) {
      int from = k;
      while (k < count && block.isMissing[k]) {
        k++;
      }
      if (k > from) {
        ValueCheck.Problem problem =
            new ValueCheck.Problem(Kind.ENTRY, "its entry or checksum is not in the file, or cannot be read");
        add(problem, path, first + from, k - from);
      }
    }
  }

  private void add(ValueCheck.Problem problem, String path, long index, long count) {
    hasDamage |= problem.kind().isDamage();
    found.add(new Finding(
        problem.kind(),
        path,
        field.spec().name(),
        firstIndex + index,
        count,
        problem.text(),
        problem.stretch()));
  }

  /** Compares what the meta file says of the field as a whole, unless an entry is damaged anyway. */
  void compareSums(String metaPath) {
    if (hasDamage) {
      return;
    }
    if (absentCount != field.absentCount()) {
      run.found(
          Kind.COUNT,
          metaPath,
          field.spec().name(),
          "it says " + field.absentCount() + " absent values, but there are " + absentCount);
    }
    if (valueBytes != field.valueBytes()) {
      run.found(
          Kind.COUNT,
          metaPath,
          field.spec().name(),
          "it says " + field.valueBytes() + " bytes of values, but there are " + valueBytes);
    }
  }
}
