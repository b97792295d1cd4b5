package io.zrecord.verify;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** What a repair needs of what a check finds: the values that are bad, 16 bytes for each stretch of them. Belongs to one thread. */
final class BadValues implements CheckListener {
  private final Map<String, Ranges> byField = new LinkedHashMap<>();
  private final CheckListener next;
  private final Set<Finding.Kind> kinds = EnumSet.noneOf(Finding.Kind.class);
  private long count;

  /** First indices and counts. */
  private static final class Ranges {
    private long[] pairs = new long[16];
    private int length;

    void add(long first, long count) {
      if (length == pairs.length) {
        pairs = Arrays.copyOf(pairs, Math.multiplyExact(length, 2));
      }
      pairs[length++] = first;
      pairs[length++] = count;
    }
  }

  /** What to do with a bad value. */
  interface Use {
    void accept(String field, long index);
  }

  /** Hands all findings on. */
  BadValues(CheckListener next) {
    this.next = next;
  }

  @Override
  public void finding(Finding finding) {
    kinds.add(finding.kind());
    String field = finding.field();
    if (finding.kind().concernsValues() && field != null && finding.count() > 0) {
      byField
          .computeIfAbsent(field, name -> new Ranges())
          .add(finding.firstIndex(), finding.count());
      count += finding.count();
    }
    next.finding(finding);
  }

  @Override
  public void progress(long doneBytes, long totalBytes) {
    next.progress(doneBytes, totalBytes);
  }

  /** Whether there was a finding of the kind. */
  boolean has(Finding.Kind kind) {
    return kinds.contains(kind);
  }

  /** Number of bad values. */
  long count() {
    return count;
  }

  void forEach(Use use) {
    byField.forEach((field, ranges) -> {
      for (int i = 0; i < ranges.length; i += 2) {
        for (long k = 0; k < ranges.pairs[i + 1]; k++) {
          use.accept(field, ranges.pairs[i] + k);
        }
      }
    });
  }

  /** Indices of the records that have one, each once, from the highest to the lowest. */
  long[] recordsDescending() {
    long[] indices = new long[Math.toIntExact(count)];
    int[] length = {0};
    forEach((field, index) -> indices[length[0]++] = index);
    Arrays.sort(indices);
    int distinct = 0;
    for (int i = 0; i < indices.length; i++) {
      if (i == 0 || indices[i] != indices[i - 1]) {
        indices[distinct++] = indices[i];
      }
    }
    long[] descending = new long[distinct];
    for (int i = 0; i < distinct; i++) {
      descending[i] = indices[distinct - 1 - i];
    }
    return descending;
  }
}
