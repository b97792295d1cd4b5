package io.zrecord.rebalance;

import java.util.List;

/**
 * What a rebalance did.
 *
 * @param groups that were replaced
 * @param records that were rewritten in them
 * @param valueBytes stored bytes of their values before
 * @param before bytes of their chunk files before
 * @param after bytes of their chunk files after
 * @param shardsBefore shards of these groups before
 * @param shardsAfter shards of these groups after
 * @param failures groups that stayed as they were
 * @param isCutShort whether a later run has more to do
 */
public record RebalanceResult(
    int groups,
    long records,
    long valueBytes,
    long before,
    long after,
    int shardsBefore,
    int shardsAfter,
    List<Failure> failures,
    boolean isCutShort) {
  /**
   * A group that stayed as it was.
   *
   * @param firstIndex of its records
   * @param records that it has
   * @param reason what went wrong
   */
  public record Failure(long firstIndex, long records, String reason) {}

  public RebalanceResult {
    failures = List.copyOf(failures);
  }
}
