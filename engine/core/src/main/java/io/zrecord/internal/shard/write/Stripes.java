package io.zrecord.internal.shard.write;

import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.WriteOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * The stripes of a shard that is being written. Each field has a stripe of its own, which is
 * flushed when it is full, whatever the others hold. So the values of a small field next to large
 * ones are a few long runs, not one short run for each stripe of the large field.
 *
 * <p>With so many fields that a fair share of the memory falls below 1 MiB, neighbouring small
 * fields share a stripe, so that the many scalars of a record are a few ranges, not one range for
 * each. When the memory of all stripes nears the bound, the longest stripes are flushed first: they
 * leave the longest runs.
 *
 * <p>Belongs to one thread.
 */
final class Stripes {
  /** Least bytes of a stripe: one request of this size costs no more than two of half of it. */
  private static final long LEAST_BYTES = 1 << 20;

  /** Widest values of fields that share a stripe. */
  private static final int WIDEST_SHARED_BYTES = 64;

  private final SegmentPool pool;
  private final ChunkWriter chunks;
  private final Stripe[] stripes;
  private final long flushAboveBytes;
  private final long flushDownToBytes;

  Stripes(List<ColumnWriter> columns, WriteOptions options, SegmentPool pool, ChunkWriter chunks) {
    this.pool = pool;
    this.chunks = chunks;
    this.flushAboveBytes = options.stripeBytes() / 4 * 3;
    this.flushDownToBytes = options.stripeBytes() / 2;
    this.stripes = divide(columns, options).toArray(Stripe[]::new);
  }

  private static List<Stripe> divide(List<ColumnWriter> columns, WriteOptions options) {
    long fairBytes = Math.max(1, options.stripeBytes() / 2 / Math.max(1, columns.size()));
    // A lone field gains nothing from a longer stripe: its runs grow from stripe to stripe, and
    // bytes still in the processor's cache are checksummed and written faster.
    long ownBytes = columns.size() == 1 ? LEAST_BYTES : Math.max(LEAST_BYTES, fairBytes);
    long fullBytes = Math.min(ownBytes, options.chunkBytes());
    long sharing = (LEAST_BYTES + fairBytes - 1) / fairBytes;
    List<List<ColumnWriter>> groups = new ArrayList<>();
    List<ColumnWriter> small = new ArrayList<>();
    for (ColumnWriter column : columns) {
      if (sharing == 1 || !isSmall(column.field())) {
        groups.add(List.of(column));
        continue;
      }
      if (small.isEmpty()) {
        groups.add(small);
      }
      small.add(column);
      if (small.size() == sharing) {
        small = new ArrayList<>();
      }
    }
    return groups.stream().map(group -> new Stripe(group, fullBytes)).toList();
  }

  private static boolean isSmall(FieldSpec field) {
    return field.isDense() && field.valueWidthBytes().getAsInt() <= WIDEST_SHARED_BYTES;
  }

  /** Ends the record of each field, and flushes what is full. */
  void endRecord(long before) {
    for (Stripe stripe : stripes) {
      if (stripe.endRecord(before)) {
        flush(stripe);
      }
    }
    if (pool.takenBytes() > flushAboveBytes) {
      flushLongest();
    }
    // Values that went straight to the chunk fill it, too.
    chunks.rollIfFull();
  }

  /** Flushes all stripes. */
  void flush() {
    for (Stripe stripe : stripes) {
      flush(stripe);
    }
  }

  private void flushLongest() {
    while (pool.takenBytes() > flushDownToBytes) {
      Stripe longest = stripes[0];
      for (Stripe stripe : stripes) {
        if (stripe.collectedBytes() > longest.collectedBytes()) {
          longest = stripe;
        }
      }
      if (longest.collectedBytes() == 0) {
        return;
      }
      flush(longest);
    }
  }

  private void flush(Stripe stripe) {
    stripe.flush();
    chunks.rollIfFull();
  }
}
