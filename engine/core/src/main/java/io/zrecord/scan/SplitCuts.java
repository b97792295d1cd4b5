package io.zrecord.scan;

import java.util.Arrays;

/**
 * Decides where a sequence of selected records is cut into splits. The pieces (shards) that a cut
 * should not divide without need are added in order. A cut is a number of records from the
 * beginning.
 */
final class SplitCuts {
  private static final int MAX_CUTS = 1 << 20;

  private final SplitSizing sizing;
  private long[] pieceRecords = new long[16];
  private double[] pieceWeights = new double[16];
  private int pieces;
  private long records;
  private double weight;

  private long[] cuts = new long[16];
  private int cutCount;

  SplitCuts(SplitSizing sizing) {
    this.sizing = sizing;
  }

  /** Adds a piece of {@code recordCount} > 0 records. */
  void add(long recordCount, double pieceWeight) {
    if (pieces == pieceRecords.length) {
      pieceRecords = Arrays.copyOf(pieceRecords, 2 * pieces);
      pieceWeights = Arrays.copyOf(pieceWeights, 2 * pieces);
    }
    pieceRecords[pieces] = recordCount;
    pieceWeights[pieces++] = pieceWeight;
    records += recordCount;
    weight += pieceWeight;
  }

  /**
   * Returns the number of records of each split, in order. At least one piece must have been added.
   */
  long[] recordCounts() {
    cutCount = 0;
    if (sizing.splitCount() > 0) {
      cutEvenly((int) Math.min(sizing.splitCount(), records));
    } else {
      cutAlongPieces();
    }
    addCut(records);
    long[] counts = new long[cutCount];
    for (int i = 0; i < cutCount; i++) {
      counts[i] = cuts[i] - (i == 0 ? 0 : cuts[i - 1]);
    }
    return counts;
  }

  /** Cuts where the weight passes k/n of the whole, and leaves every split a record. */
  private void cutEvenly(int n) {
    int piece = 0;
    long recordsBefore = 0;
    double weightBefore = 0;
    long last = 0;
    for (int k = 1; k < n; k++) {
      double target = weight * k / n;
      while (piece < pieces - 1 && weightBefore + pieceWeights[piece] < target) {
        weightBefore += pieceWeights[piece];
        recordsBefore += pieceRecords[piece++];
      }
      double share = Math.min(1, (target - weightBefore) / pieceWeights[piece]);
      long inside = Math.round(share * pieceRecords[piece]);
      last = Math.max(last + 1, Math.min(recordsBefore + inside, records - (n - k)));
      addCut(last);
    }
  }

  private void cutAlongPieces() {
    double min = sizing.minSplitBytes();
    double max = sizing.maxSplitBytes();
    double target = Math.max(min, Math.min(max, weight / Math.max(1, sizing.minimumSplits())));
    long done = 0;
    double open = 0;
    double closed = 0;
    for (int piece = 0; piece < pieces; piece++) {
      long parts = (long) Math.min(
          (double) pieceRecords[piece],
          Math.max(1, Math.ceil(pieceWeights[piece] / target - 1e-9)));
      double perRecord = pieceWeights[piece] / pieceRecords[piece];
      long taken = 0;
      for (long part = 1; part <= parts; part++) {
        long partRecords = share(pieceRecords[piece], part, parts) - taken;
        taken += partRecords;
        double partWeight = partRecords * perRecord;
        if (open > 0 && open + partWeight > target && (open >= min || open + partWeight > max)) {
          // Too small alone, too big together: cut in the middle of both.
          double missing = open >= min ? 0 : (partWeight - open) / 2;
          long moved = Math.min(partRecords - 1, (long) Math.ceil(missing / perRecord));
          addCut(done + moved);
          closed = open + moved * perRecord;
          open = -moved * perRecord;
        }
        open += partWeight;
        done += partRecords;
      }
    }
    if (open < min && cutCount > 0) {
      enlargeLast(open, closed);
    }
  }

  /**
   * Enlarges a last split that is smaller than the minimum: merges it with the split before, or
   * takes records from that split.
   */
  private void enlargeLast(double lastWeight, double weightBefore) {
    if (lastWeight + weightBefore <= sizing.maxSplitBytes()) {
      cutCount--;
      return;
    }
    double missing = sizing.minSplitBytes() - lastWeight;
    long cut = cuts[cutCount - 1];
    long lowest = cutCount == 1 ? 1 : cuts[cutCount - 2] + 1;
    long end = records;
    for (int piece = pieces - 1; piece >= 0 && missing > 0; piece--) {
      long start = end - pieceRecords[piece];
      long here = Math.min(end, cut) - start;
      if (here > 0) {
        double perRecord = pieceWeights[piece] / pieceRecords[piece];
        long moved = Math.min(here, (long) Math.ceil(missing / perRecord));
        cut -= moved;
        missing -= moved * perRecord;
      }
      end = start;
    }
    cuts[cutCount - 1] = Math.max(lowest, cut);
  }

  /** Returns {@code total · part / parts} without overflow. */
  private static long share(long total, long part, long parts) {
    return total / parts * part + Math.min(part, total % parts);
  }

  private void addCut(long cut) {
    if (cutCount == MAX_CUTS) {
      throw new IllegalStateException("The scan would have more than " + MAX_CUTS
          + " splits; give their number, or larger ones");
    }
    if (cutCount == cuts.length) {
      cuts = Arrays.copyOf(cuts, 2 * cutCount);
    }
    cuts[cutCount++] = cut;
  }
}
