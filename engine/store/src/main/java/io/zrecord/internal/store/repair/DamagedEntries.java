package io.zrecord.internal.store.repair;

import io.zrecord.findings.CheckListener;
import io.zrecord.findings.Finding;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Collects the bad values from the findings of a check, for a repair. Takes 16 bytes of memory for
 * each stretch of bad values that was found in order. Belongs to one thread.
 */
final class DamagedEntries implements CheckListener {
  private final Map<String, Ranges> byField = new LinkedHashMap<>();
  private final CheckListener next;
  private final Set<Finding.Kind> kinds = EnumSet.noneOf(Finding.Kind.class);
  private long count;

  /** Ranges as pairs of a first index and an exclusive end. */
  private static final class Ranges {
    private long[] pairs = new long[16];
    private int length;

    /** Adds a range, merged with the last added range if the two touch or overlap. */
    void add(long first, long end) {
      if (length > 0 && first >= pairs[length - 2] && first <= pairs[length - 1]) {
        pairs[length - 1] = Math.max(pairs[length - 1], end);
        return;
      }
      if (length == pairs.length) {
        pairs = Arrays.copyOf(pairs, Math.multiplyExact(length, 2));
      }
      pairs[length++] = first;
      pairs[length++] = end;
    }

    long count() {
      long sum = 0;
      for (int i = 0; i < length; i += 2) {
        sum += pairs[i + 1] - pairs[i];
      }
      return sum;
    }
  }

  /** A range with an exclusive end. */
  private record Range(long first, long end) {}

  /** Takes a bad value. */
  interface Use {
    void accept(String field, long index);
  }

  /** Collects from findings and passes all of them on to {@code next}. */
  DamagedEntries(CheckListener next) {
    this.next = next;
  }

  @Override
  public void finding(Finding finding) {
    kinds.add(finding.kind());
    String field = finding.field();
    if (finding.kind().concernsValues() && field != null && finding.count() > 0) {
      byField
          .computeIfAbsent(field, name -> new Ranges())
          .add(finding.firstIndex(), finding.firstIndex() + finding.count());
      count += finding.count();
    }
    next.finding(finding);
  }

  @Override
  public void progress(long doneBytes, long totalBytes) {
    next.progress(doneBytes, totalBytes);
  }

  /** Tells whether there was a finding of the kind. */
  boolean has(Finding.Kind kind) {
    return kinds.contains(kind);
  }

  /** Returns the number of bad values. */
  long count() {
    return count;
  }

  void forEach(Use use) {
    byField.forEach((field, ranges) -> {
      for (int i = 0; i < ranges.length; i += 2) {
        for (long index = ranges.pairs[i]; index < ranges.pairs[i + 1]; index++) {
          use.accept(field, index);
        }
      }
    });
  }

  /**
   * Returns the indices of the records with a bad value, each once, from the highest to the lowest.
   * Takes 8 bytes for each; there are at most 2³¹−1.
   */
  long[] recordsDescending() {
    Ranges union = union();
    long[] descending = new long[Math.toIntExact(union.count())];
    int at = 0;
    for (int i = union.length - 2; i >= 0; i -= 2) {
      for (long index = union.pairs[i + 1] - 1; index >= union.pairs[i]; index--) {
        descending[at++] = index;
      }
    }
    return descending;
  }

  /** Returns the ranges of all fields together, in rising order. */
  private Ranges union() {
    List<Range> all = new ArrayList<>();
    for (Ranges ranges : byField.values()) {
      for (int i = 0; i < ranges.length; i += 2) {
        all.add(new Range(ranges.pairs[i], ranges.pairs[i + 1]));
      }
    }
    all.sort(Comparator.comparingLong(Range::first));
    Ranges union = new Ranges();
    all.forEach(range -> union.add(range.first, range.end));
    return union;
  }
}
