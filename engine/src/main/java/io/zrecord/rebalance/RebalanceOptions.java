package io.zrecord.rebalance;

import io.zrecord.schema.Compression;
import io.zrecord.shard.WriteOptions;
import java.io.Serializable;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is worth rewriting, and how. Immutable.
 *
 * @param minUtilization rewritten are shards of whose chunk bytes a smaller part is surely alive, 0 to 1
 * @param minShardBytes rewritten are neighbouring shards with fewer chunk bytes, ≥ 0
 * @param targetShardBytes chunk bytes of new shards, about; at least {@code minShardBytes} and 1 MiB
 * @param maxRunBytes a run rewrites at most about so many bytes of values, > 0
 * @param fromIndex only shards are rewritten that have no record before this index, ≥ 0
 * @param toIndex … and none from this index on
 * @param compression compressions that fields are to have; shards in which they have another one are rewritten
 * @param write how new shards are laid out
 */
public record RebalanceOptions(
    double minUtilization,
    long minShardBytes,
    long targetShardBytes,
    long maxRunBytes,
    long fromIndex,
    long toIndex,
    Map<String, Compression> compression,
    WriteOptions write)
    implements Serializable {
  private static final long MIB = 1 << 20;

  public RebalanceOptions {
    compression = java.util.Collections.unmodifiableMap(new TreeMap<>(compression));
    require("minUtilization", minUtilization, minUtilization >= 0 && minUtilization <= 1, "0 to 1");
    require("minShardBytes", minShardBytes, minShardBytes >= 0, "0 or more");
    require(
        "targetShardBytes",
        targetShardBytes,
        targetShardBytes >= MIB && targetShardBytes >= minShardBytes,
        "1048576 or more, and not below minShardBytes " + minShardBytes);
    require("maxRunBytes", maxRunBytes, maxRunBytes > 0, "1 or more");
    require("fromIndex", fromIndex, fromIndex >= 0, "0 or more");
    require("toIndex", toIndex, toIndex >= fromIndex, "not below fromIndex " + fromIndex);
  }

  private static void require(String name, Number value, boolean isAllowed, String range) {
    if (!isAllowed) {
      throw new IllegalArgumentException(
          "Option " + name + " is " + value + "; it must be " + range);
    }
  }

  /** Shards below 64 MiB or with a fifth of their bytes dead, into shards of 1 GiB; all of the table, compressions as they are. */
  public static RebalanceOptions defaults() {
    return new RebalanceOptions(
        0.8,
        64 * MIB,
        1024 * MIB,
        Long.MAX_VALUE,
        0,
        Long.MAX_VALUE,
        Map.of(),
        WriteOptions.defaults());
  }

  public RebalanceOptions withMinUtilization(double part) {
    return new RebalanceOptions(
        part, minShardBytes, targetShardBytes, maxRunBytes, fromIndex, toIndex, compression, write);
  }

  /** Sizes of shards that are too small, and of those that are made. */
  public RebalanceOptions withShardBytes(long minBytes, long targetBytes) {
    return new RebalanceOptions(
        minUtilization, minBytes, targetBytes, maxRunBytes, fromIndex, toIndex, compression, write);
  }

  public RebalanceOptions withMaxRunBytes(long bytes) {
    return new RebalanceOptions(
        minUtilization,
        minShardBytes,
        targetShardBytes,
        bytes,
        fromIndex,
        toIndex,
        compression,
        write);
  }

  /** Only shards whose records are all in {@code [from, to)}. */
  public RebalanceOptions withIndices(long from, long to) {
    return new RebalanceOptions(
        minUtilization, minShardBytes, targetShardBytes, maxRunBytes, from, to, compression, write);
  }

  /** Compressions by names of fields. */
  public RebalanceOptions withCompression(Map<String, Compression> byField) {
    return new RebalanceOptions(
        minUtilization,
        minShardBytes,
        targetShardBytes,
        maxRunBytes,
        fromIndex,
        toIndex,
        byField,
        write);
  }

  public RebalanceOptions withWrite(WriteOptions layout) {
    return new RebalanceOptions(
        minUtilization,
        minShardBytes,
        targetShardBytes,
        maxRunBytes,
        fromIndex,
        toIndex,
        compression,
        layout);
  }
}
