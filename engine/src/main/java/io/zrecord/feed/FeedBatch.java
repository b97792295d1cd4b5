package io.zrecord.feed;

import io.zrecord.errors.BatchReleasedException;
import io.zrecord.schema.FieldSpec;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A batch of a feed, and the lease of its buffers: until {@link #close} nobody writes to them,
 * afterwards they are filled with a later batch. Every method but {@code close} is a
 * {@link BatchReleasedException} then; a buffer that was taken before must not be read any more.
 * Belongs to one thread at a time.
 *
 * <p>With the system property {@code zrecord.traceBatches} set to {@code true}, a feed that stalls
 * says where the batches were taken that were not closed.
 */
public final class FeedBatch implements AutoCloseable {
  private static final VarHandle SLOT;

  static {
    try {
      SLOT = MethodHandles.lookup().findVarHandle(FeedBatch.class, "slot", Slot.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final FeedPlan plan;
  private final Release onRelease;
  private volatile @Nullable Slot slot;
  private @Nullable FeedState next;
  private @Nullable Object placed;
  private volatile @Nullable String releasedBy;
  private volatile boolean isHandedOut;

  /** Takes back the slot of a batch. */
  interface Release {
    void release(FeedBatch batch, Slot slot);
  }

  FeedBatch(Slot slot, FeedPlan plan, Release onRelease) {
    this.slot = slot;
    this.plan = plan;
    this.onRelease = onRelease;
  }

  /** Number of records. */
  public int count() {
    return held().count();
  }

  /** Name of the group that it is from. */
  public String group() {
    return held().range().group().name();
  }

  /** Whether it belongs to a pass of the validation. */
  public boolean isValidation() {
    return held().range().isValidation();
  }

  /** The epoch of the sampler; 0 in a validation. */
  public long epoch() {
    return held().range().epoch();
  }

  /**
   * Batches of the training before it, from its very beginning, those of this and all earlier runs.
   */
  public long batch() {
    return held().range().batch();
  }

  /** Where a record stands in the epoch, in the order of all ranks. */
  public long position(int i) {
    Slot from = held();
    return from.range().globalPosition(from.ordinal(checked(from, i)));
  }

  /** The seed of a record in this epoch, as transforms get it. */
  public long recordSeed(int i) {
    Slot from = held();
    return from.range().recordSeed(from.ordinal(checked(from, i)));
  }

  /** Where a feed goes on that is to deliver what was not delivered up to this batch. */
  public FeedState next() {
    Slot from = held();
    return next != null ? next : FeedState.of(plan, from.after(), List.of());
  }

  /** Index of a record in the dataset. */
  public long index(int i) {
    Slot from = held();
    return from.indices()[checked(from, i)];
  }

  /** Indices of the records in the dataset, a copy. */
  public long[] indices() {
    Slot from = held();
    return Arrays.copyOf(from.indices(), from.count());
  }

  /** The fields that it has. */
  public List<FieldSpec> fields() {
    return held().blocks().delivered().stream().map(FieldBlock::field).toList();
  }

  /**
   * All values of a field as they are collated: read-only, little-endian, direct, from position 0
   * to its limit. Absent values of a fixed width are zeros, others take no place. The same buffer
   * object at each call, rewound; take a {@code duplicate()} where two need it.
   */
  public ByteBuffer data(String field) {
    return block(field).delivered();
  }

  /**
   * The buffer of the feed's {@link BatchMemory} with which {@link #data} begins; not to be read or
   * written through.
   */
  public ByteBuffer memory(String field) {
    return block(field).allocated();
  }

  /** Dimensions of {@link #data}, the number of records first; -1 where values differ in length. */
  public int[] dimensions(String field) {
    return block(field).dimensions();
  }

  /**
   * The value of the {@code i}-th record without padding, a view of {@link #data}; empty if it is
   * absent and has no fixed width.
   */
  public ByteBuffer value(String field, int i) {
    checked(held(), i);
    return block(field).deliveredValue(i);
  }

  /** Bytes of the {@code i}-th value in {@link #data}, without padding. */
  public int lengthBytes(String field, int i) {
    checked(held(), i);
    return block(field).deliveredLengthBytes(i);
  }

  /**
   * Where the values end in {@link #data}, a copy: value {@code i} is from the end of the one
   * before, or 0.
   *
   * @throws IllegalArgumentException if the field is padded
   */
  public int[] ends(String field) {
    FieldBlock block = block(field);
    if (block.isPadded()) {
      throw new IllegalArgumentException("Values of field '" + field
          + "' are padded to one length; ask for dimensions and lengthBytes");
    }
    return block.copyOfEnds();
  }

  public boolean hasAbsent(String field) {
    return block(field).hasAbsent();
  }

  public boolean isAbsent(String field, int i) {
    checked(held(), i);
    return block(field).isAbsent(i);
  }

  /** Records of the sampler's batch that could not be delivered; empty but with some policies. */
  public List<BadRecord> badRecords() {
    return held().badRecords();
  }

  /** What the {@link BatchSink} returned; null without one. */
  public @Nullable Object placed() {
    held();
    return placed;
  }

  void place(@Nullable Object newPlaced) {
    placed = newPlaced;
  }

  void handOut() {
    isHandedOut = true;
  }

  void continueAt(FeedState state) {
    next = state;
  }

  private FieldBlock block(String field) {
    return FieldBlock.named(held().blocks().delivered(), field);
  }

  private static int checked(Slot slot, int i) {
    return java.util.Objects.checkIndex(i, slot.count());
  }

  private Slot held() {
    Slot held = slot;
    if (held == null) {
      throw new BatchReleasedException(
          plan.group(0).dataset().toString(),
          "Cannot read a batch of " + plan.group(0).dataset() + ": it was released by thread '"
              + releasedBy + "'. Read it before closing it, or copy what must outlive it",
          null);
    }
    return held;
  }

  /**
   * Gives the buffers back; closing again has no effect.
   *
   * @throws IllegalStateException if a {@link BatchSink} calls it: the batch is the consumer's to
   *     close
   */
  @Override
  public void close() {
    if (!isHandedOut) {
      throw new IllegalStateException("A batch of group '" + group()
          + "' was closed before it was delivered: a sink must leave that to the consumer");
    }
    if (slot != null) {
      releasedBy = Thread.currentThread().getName();
      Slot held = (Slot) SLOT.getAndSet(this, null);
      if (held != null) {
        onRelease.release(this, held);
      }
    }
  }
}
