package io.zrecord.rebalance;

import io.zrecord.schema.Compression;
import io.zrecord.shard.WriteOptions;
import java.io.Serializable;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/** What is worth rewriting, and how: {@link #defaults} and what is to differ from them. Immutable. */
public final class RebalanceOptions implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final long MIB = 1 << 20;

  private double minUtilization = 0.8;
  private long minShardBytes = 64 * MIB;
  private long targetShardBytes = 1024 * MIB;
  private long maxRunBytes = Long.MAX_VALUE;
  private long fromIndex;
  private long toIndex = Long.MAX_VALUE;
  private boolean isOfAllShards;
  private TreeMap<String, Compression> compression = new TreeMap<>();
  private WriteOptions write = WriteOptions.defaults();

  private RebalanceOptions() {}

  /** Shards below 64 MiB or with a fifth of their bytes dead, into shards of 1 GiB; all of the table, compressions as they are. */
  public static RebalanceOptions defaults() {
    return new RebalanceOptions();
  }

  private RebalanceOptions with(Consumer<RebalanceOptions> change) {
    RebalanceOptions changed = new RebalanceOptions();
    changed.minUtilization = minUtilization;
    changed.minShardBytes = minShardBytes;
    changed.targetShardBytes = targetShardBytes;
    changed.maxRunBytes = maxRunBytes;
    changed.fromIndex = fromIndex;
    changed.toIndex = toIndex;
    changed.isOfAllShards = isOfAllShards;
    changed.compression = compression;
    changed.write = write;
    change.accept(changed);
    changed.requireRanges();
    return changed;
  }

  private void requireRanges() {
    require("minUtilization", minUtilization, minUtilization >= 0 && minUtilization <= 1, "0 to 1");
    require("minShardBytes", minShardBytes, minShardBytes >= 0, "0 or more");
    require(
        "targetShardBytes",
        targetShardBytes,
        targetShardBytes >= MIB && targetShardBytes >= minShardBytes,
        "1048576 or more, and not below minShardBytes " + minShardBytes);
    require("maxRunBytes", maxRunBytes, maxRunBytes > 0, "1 or more");
    require(
        "maxRunBytes",
        maxRunBytes,
        !isOfAllShards || maxRunBytes == Long.MAX_VALUE,
        "left out where all shards are rewritten, for each run would begin with the same ones; name a"
            + " range of indices for each run");
    require("fromIndex", fromIndex, fromIndex >= 0, "0 or more");
    require("toIndex", toIndex, toIndex >= fromIndex, "not below fromIndex " + fromIndex);
  }

  private static void require(String name, Number value, boolean isAllowed, String range) {
    if (!isAllowed) {
      throw new IllegalArgumentException(
          "Option " + name + " is " + value + "; it must be " + range);
    }
  }

  /** Rewritten are shards of whose chunk bytes surely a smaller part than this, 0 to 1, is alive. */
  public RebalanceOptions withMinUtilization(double part) {
    return with(options -> options.minUtilization = part);
  }

  /**
   * Sizes of shards that are too small, and of those that are made.
   *
   * @param minBytes rewritten are neighbouring shards with fewer chunk bytes, ≥ 0
   * @param targetBytes chunk bytes of new shards, about; at least {@code minBytes} and 1 MiB
   */
  public RebalanceOptions withShardBytes(long minBytes, long targetBytes) {
    return with(options -> {
      options.minShardBytes = minBytes;
      options.targetShardBytes = targetBytes;
    });
  }

  /** A run rewrites at most about so many bytes of values, > 0. */
  public RebalanceOptions withMaxRunBytes(long bytes) {
    return with(options -> options.maxRunBytes = bytes);
  }

  /** Only shards whose records are all in {@code [from, to)}. */
  public RebalanceOptions withIndices(long from, long to) {
    return with(options -> {
      options.fromIndex = from;
      options.toIndex = to;
    });
  }

  /**
   * All shards in the range of indices, whatever their state, each time that it runs: to give them another {@link #withWrite layout}. Does
   * not go with {@link #withMaxRunBytes}.
   */
  public RebalanceOptions withAllShards() {
    return with(options -> options.isOfAllShards = true);
  }

  /** Compressions that fields are to have, by name; shards in which they have another one are rewritten. */
  public RebalanceOptions withCompression(Map<String, Compression> byField) {
    return with(options -> options.compression = new TreeMap<>(byField));
  }

  /** How new shards are laid out. */
  public RebalanceOptions withWrite(WriteOptions layout) {
    return with(options -> options.write = layout);
  }

  /** As given to {@link #withMinUtilization}. */
  public double minUtilization() {
    return minUtilization;
  }

  /** As given to {@link #withShardBytes}. */
  public long minShardBytes() {
    return minShardBytes;
  }

  /** As given to {@link #withShardBytes}. */
  public long targetShardBytes() {
    return targetShardBytes;
  }

  /** As given to {@link #withMaxRunBytes}. */
  public long maxRunBytes() {
    return maxRunBytes;
  }

  /** As given to {@link #withIndices}. */
  public long fromIndex() {
    return fromIndex;
  }

  /** As given to {@link #withIndices}. */
  public long toIndex() {
    return toIndex;
  }

  /** Whether {@link #withAllShards} was called. */
  public boolean isOfAllShards() {
    return isOfAllShards;
  }

  /** As given to {@link #withCompression}. */
  public SortedMap<String, Compression> compression() {
    return Collections.unmodifiableSortedMap(compression);
  }

  /** As given to {@link #withWrite}. */
  public WriteOptions write() {
    return write;
  }
}
