package io.zrecord.store;

import io.zrecord.schema.Compression;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * When a store is worth rewriting, and how. Immutable.
 *
 * @param minUtilization the store is rewritten if a smaller share of its chunk bytes is alive, 0 to
 *     1
 * @param chunkBytes bytes at which a new chunk is closed, 64 KiB to 1 TiB; the store is also
 *     rewritten if it has far more chunks than that makes
 * @param stripeBytes memory for records that are read and written together, 64 KiB to 1 GiB; values
 *     above 1 MiB go through in pieces
 * @param compression compressions that fields are to have; the store is also rewritten if a field
 *     has another codec
 */
public record StoreRebalanceOptions(
    double minUtilization,
    long chunkBytes,
    long stripeBytes,
    Map<String, Compression> compression) {
  private static final long KIB = 1 << 10;
  private static final long GIB = 1 << 30;
  private static final double DEFAULT_UTILIZATION = 0.8;
  private static final long DEFAULT_CHUNK_BYTES = 256L << 20;
  private static final long DEFAULT_STRIPE_BYTES = 32L << 20;

  public StoreRebalanceOptions {
    compression.forEach((field, given) -> Objects.requireNonNull(given, field));
    compression = java.util.Collections.unmodifiableMap(new TreeMap<>(compression));
    require("minUtilization", minUtilization, minUtilization >= 0 && minUtilization <= 1, "0 to 1");
    require(
        "chunkBytes",
        chunkBytes,
        chunkBytes >= 64 * KIB && chunkBytes <= 1024 * GIB,
        64 * KIB + " to " + 1024 * GIB);
    require(
        "stripeBytes",
        stripeBytes,
        stripeBytes >= 64 * KIB && stripeBytes <= GIB,
        64 * KIB + " to " + GIB);
  }

  private static void require(String name, Number value, boolean isAllowed, String range) {
    if (!isAllowed) {
      throw new IllegalArgumentException(
          "Option " + name + " is " + value + "; it must be " + range);
    }
  }

  /**
   * Returns the defaults: stores with a fifth of their bytes dead are rewritten, into chunks of 256
   * MiB, with 32 MiB of memory; compressions stay.
   */
  public static StoreRebalanceOptions defaults() {
    return new StoreRebalanceOptions(
        DEFAULT_UTILIZATION, DEFAULT_CHUNK_BYTES, DEFAULT_STRIPE_BYTES, Map.of());
  }

  public StoreRebalanceOptions withMinUtilization(double part) {
    return new StoreRebalanceOptions(part, chunkBytes, stripeBytes, compression);
  }

  public StoreRebalanceOptions withChunkBytes(long bytes) {
    return new StoreRebalanceOptions(minUtilization, bytes, stripeBytes, compression);
  }

  public StoreRebalanceOptions withStripeBytes(long bytes) {
    return new StoreRebalanceOptions(minUtilization, chunkBytes, bytes, compression);
  }

  /** Returns these options with compressions by names of fields. */
  public StoreRebalanceOptions withCompression(Map<String, Compression> byField) {
    return new StoreRebalanceOptions(minUtilization, chunkBytes, stripeBytes, byField);
  }
}
