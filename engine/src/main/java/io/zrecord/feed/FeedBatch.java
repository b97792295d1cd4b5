package io.zrecord.feed;

import io.zrecord.errors.BatchReleasedException;
import io.zrecord.sampler.SamplerState;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A batch of a feed, and the lease of its buffers: until {@link #close} nobody writes to them, afterwards they are filled with a later
 * batch. Every method but {@code close} is a {@link BatchReleasedException} then; a buffer that was taken before must not be read any more.
 * Belongs to one thread at a time.
 */
public final class FeedBatch implements AutoCloseable {
  private final String location;
  private final SamplerState next;
  private final Consumer<Slot> onRelease;
  private final AtomicReference<@Nullable Slot> slot;
  private final Slot.Place place;
  private volatile String releasedBy = "";

  FeedBatch(String location, Slot slot, SamplerState next, Consumer<Slot> onRelease) {
    this.location = location;
    this.slot = new AtomicReference<>(slot);
    this.place = slot.place();
    this.next = next;
    this.onRelease = onRelease;
  }

  /** Number of records. */
  public int count() {
    held();
    return place.count();
  }

  /** The epoch of the sampler. */
  public long epoch() {
    held();
    return place.epoch();
  }

  /** Position of the first record in the epoch. */
  public long position() {
    held();
    return place.position();
  }

  /** Where a feed goes on that is to deliver what follows this batch. Stays valid. */
  public SamplerState next() {
    return next;
  }

  /** Indices of the records in the dataset, a copy. */
  public long[] indices() {
    return Arrays.copyOf(held().indices(), place.count());
  }

  /** All values of a field, one after the other: read-only, little-endian, direct. Absent values of a fixed width are zeros, others take no place. */
  public ByteBuffer data(String field) {
    return block(field).data();
  }

  /** The value of the {@code i}-th record, a view of {@link #data}; empty if it is absent and has no fixed width. */
  public ByteBuffer value(String field, int i) {
    FieldBlock block = block(field);
    int start = block.start(i);
    return block.data().slice(start, block.end(i) - start).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Where the values end in {@link #data}, a copy: value {@code i} is from the end of the one before, or 0. */
  public int[] ends(String field) {
    FieldBlock block = block(field);
    int[] ends = new int[place.count()];
    Arrays.setAll(ends, block::end);
    return ends;
  }

  public boolean hasAbsent(String field) {
    return block(field).hasAbsent();
  }

  public boolean isAbsent(String field, int i) {
    return block(field).isAbsent(i);
  }

  private FieldBlock block(String field) {
    for (FieldBlock block : held().blocks()) {
      if (block.field().name().equals(field)) {
        return block;
      }
    }
    throw new IllegalArgumentException("Field '" + field + "' is not in the feed; its fields are "
        + held().blocks().stream().map(block -> block.field().name()).toList());
  }

  private Slot held() {
    Slot held = slot.get();
    if (held == null) {
      throw new BatchReleasedException(
          location,
          "Cannot read the batch at position " + place.position() + " of epoch " + place.epoch()
              + " of " + location + ": it was released by thread '" + releasedBy
              + "'. Read it before closing it, or copy what must outlive it",
          null);
    }
    return held;
  }

  /** Gives the buffers back; closing again has no effect. */
  @Override
  public void close() {
    releasedBy = Thread.currentThread().getName();
    Slot held = slot.getAndSet(null);
    if (held != null) {
      onRelease.accept(held);
    }
  }
}
