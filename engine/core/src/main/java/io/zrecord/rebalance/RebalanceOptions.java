package io.zrecord.rebalance;

import io.zrecord.schema.Compression;
import io.zrecord.shard.WriteOptions;
import java.io.Serializable;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Which shards are worth rewriting, and how: {@link #defaults} and the differences from them.
 * Immutable.
 */
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

  /**
   * Returns the defaults: shards below 64 MiB or with a fifth of their bytes dead are rewritten,
   * into shards of 1 GiB. The whole table is considered, and compressions stay.
   */
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

  /**
   * Rewrites shards whose share of live chunk bytes is certainly smaller than {@code part}, 0 to 1.
   */
  public RebalanceOptions withMinUtilization(double part) {
    return with(options -> options.minUtilization = part);
  }

  /**
   * Sets the size below which a shard is too small, and the size of new shards.
   *
   * @param minBytes neighbouring shards with fewer chunk bytes are rewritten, ≥ 0
   * @param targetBytes approximate chunk bytes of new shards; at least {@code minBytes} and 1 MiB
   */
  public RebalanceOptions withShardBytes(long minBytes, long targetBytes) {
    return with(options -> {
      options.minShardBytes = minBytes;
      options.targetShardBytes = targetBytes;
    });
  }

  /** Limits a run to about {@code bytes} > 0 bytes of values. */
  public RebalanceOptions withMaxRunBytes(long bytes) {
    return with(options -> options.maxRunBytes = bytes);
  }

  /** Considers only shards whose records are all in {@code [from, to)}. */
  public RebalanceOptions withIndices(long from, long to) {
    return with(options -> {
      options.fromIndex = from;
      options.toIndex = to;
    });
  }

  /**
   * Rewrites all shards in the range of indices on every run, whatever their state, to give them
   * another {@link #withWrite layout}. Cannot be combined with {@link #withMaxRunBytes}.
   */
  public RebalanceOptions withAllShards() {
    return with(options -> options.isOfAllShards = true);
  }

  /**
   * Sets the compressions of fields, by name. Shards in which such a field has another compression
   * are rewritten.
   */
  public RebalanceOptions withCompression(Map<String, Compression> byField) {
    byField.forEach((field, given) -> Objects.requireNonNull(given, field));
    return with(options -> options.compression = new TreeMap<>(byField));
  }

  /** Sets the layout of new shards. */
  public RebalanceOptions withWrite(WriteOptions layout) {
    Objects.requireNonNull(layout, "layout");
    return with(options -> options.write = layout);
  }

  /** Returns the value set by {@link #withMinUtilization}. */
  public double minUtilization() {
    return minUtilization;
  }

  /** Returns the first value set by {@link #withShardBytes}. */
  public long minShardBytes() {
    return minShardBytes;
  }

  /** Returns the second value set by {@link #withShardBytes}. */
  public long targetShardBytes() {
    return targetShardBytes;
  }

  /** Returns the value set by {@link #withMaxRunBytes}. */
  public long maxRunBytes() {
    return maxRunBytes;
  }

  /** Returns the first value set by {@link #withIndices}. */
  public long fromIndex() {
    return fromIndex;
  }

  /** Returns the second value set by {@link #withIndices}. */
  public long toIndex() {
    return toIndex;
  }

  /** Tells whether {@link #withAllShards} was called. */
  public boolean isOfAllShards() {
    return isOfAllShards;
  }

  /** Returns the value set by {@link #withCompression}. */
  public SortedMap<String, Compression> compression() {
    return Collections.unmodifiableSortedMap(compression);
  }

  /** Returns the value set by {@link #withWrite}. */
  public WriteOptions write() {
    return write;
  }
}
