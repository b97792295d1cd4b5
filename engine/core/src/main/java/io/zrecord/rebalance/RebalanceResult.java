package io.zrecord.rebalance;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * The result of a rebalance.
 *
 * @param groups groups replaced
 * @param records records rewritten in the replaced groups
 * @param before the replaced groups as they were
 * @param after the shards in place of the groups
 * @param failures groups that stayed as they were
 * @param isCutShort whether a later run has more to do
 */
public record RebalanceResult(
    int groups,
    long records,
    Extent before,
    Extent after,
    List<Failure> failures,
    boolean isCutShort) {

  /**
   * The total size of some shards.
   *
   * @param shards number of shards
   * @param valueBytes stored bytes of their values
   * @param chunkBytes bytes of their chunk files
   */
  public record Extent(int shards, long valueBytes, long chunkBytes) {
    static final Extent NONE = new Extent(0, 0, 0);

    Extent plus(Extent other) {
      return new Extent(
          shards + other.shards, valueBytes + other.valueBytes, chunkBytes + other.chunkBytes);
    }

    /**
     * Returns the share of the chunk files' bytes that are bytes of values, 0 to 1; 1 if there are
     * none.
     */
    public double utilization() {
      return chunkBytes == 0 ? 1 : (double) valueBytes / chunkBytes;
    }

    private void putInto(ObjectNode node, String when) {
      node.put("shards" + when, shards)
          .put("valueBytes" + when, valueBytes)
          .put("chunkBytes" + when, chunkBytes)
          .put("utilization" + when, Math.rint(utilization() * 1e4) / 1e4);
    }
  }

  /**
   * A group that stayed as it was.
   *
   * @param firstIndex index of the group's first record
   * @param records number of records in the group
   * @param reason what went wrong
   */
  public record Failure(long firstIndex, long records, String reason) {}

  public RebalanceResult {
    failures = List.copyOf(failures);
  }

  /** Returns the result as a JSON object on one line. */
  public String toJson() {
    ObjectNode node =
        JsonNodeFactory.instance.objectNode().put("groups", groups).put("records", records);
    before.putInto(node, "Before");
    after.putInto(node, "After");
    node.put("cutShort", isCutShort).put("groupsFailed", failures.size());
    for (Failure failure : failures) {
      node.withArray("failures")
          .addObject()
          .put("firstIndex", failure.firstIndex())
          .put("records", failure.records())
          .put("reason", failure.reason());
    }
    return node.toString();
  }
}
