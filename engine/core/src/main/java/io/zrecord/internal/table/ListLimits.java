package io.zrecord.internal.table;

/**
 * How many shards and lists a writer puts into one file (FORMAT.md section 7.5). Readers accept any
 * number. Immutable.
 *
 * @param shards most shards that a manifest or a list of lists holds itself, those that stand in
 *     the place of others included, and that a list holds
 * @param lists most lists that a list of lists names
 * @param listsOfManifest most lists of shards that a manifest itself names, because each commit
 *     writes it whole
 * @param replacedPercent most shards of a list, in percent, in whose place others stand; if more
 *     are to be replaced, the list is written again, which costs at most as much again
 */
public record ListLimits(int shards, int lists, int listsOfManifest, int replacedPercent) {
  /** The limits of this release. */
  static final ListLimits USUAL = new ListLimits(1000, 1000, 100, 50);

  /** Tests of small tables choose others, so that these have lists. */
  private static volatile ListLimits inForce = USUAL;

  /** Returns the limits to which writers keep. */
  public static ListLimits inForce() {
    return inForce;
  }

  static void choose(ListLimits limits) {
    inForce = limits;
  }
}
