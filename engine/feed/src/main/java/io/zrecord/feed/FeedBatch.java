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
 * Holds a batch of a feed, and leases its buffers: until {@link #close} nobody writes to them, and
 * afterwards they take a later batch. After {@code close}, every other method throws
 * {@link BatchReleasedException}, and a buffer that was taken before must not be read. A batch
 * belongs to one thread at a time.
 *
 * <p>With the system property {@code zrecord.traceBatches} set to {@code true}, a feed that stalls
 * says where the batches were taken that are not closed.
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
  private long batchesLeft = -1;
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

  /** Returns the number of records. */
  public int count() {
    return held().count();
  }

  /** Returns the name of the group that the batch is from. */
  public String group() {
    return held().range().group().name();
  }

  /** Returns whether the batch belongs to a pass of the validation. */
  public boolean isValidation() {
    return held().range().isValidation();
  }

  /** Returns the epoch of the sampler; 0 in a validation. */
  public long epoch() {
    return held().range().epoch();
  }

  /**
   * Returns the number of batches of the training before this batch, from the very beginning: those
   * of this run and of all earlier runs.
   */
  public long batch() {
    return held().range().batch();
  }

  /** Returns the position of a record in the epoch, in the order of all ranks. */
  public long position(int i) {
    Slot from = held();
    return from.range().globalPosition(from.ordinal(checked(from, i)));
  }

  /** Returns the seed of a record in this epoch, as transforms get it. */
  public long recordSeed(int i) {
    Slot from = held();
    return from.range().recordSeed(from.ordinal(checked(from, i)));
  }

  /** Returns the state from which a feed delivers all that was not delivered up to this batch. */
  public FeedState next() {
    Slot from = held();
    return next != null ? next : FeedState.of(plan, from.after(), List.of());
  }

  /**
   * Returns how many batches are planned from {@link #next} to the end of its epoch, in which a
   * feed from there begins, or to the end of the feed; 0 after the last batch of the feed, and
   * {@link io.zrecord.sampler.Sampler#ENDLESS} if the epoch does not end. Batches that are left out
   * because of bad records count.
   */
  public long batchesLeft() {
    Slot from = held();
    return next != null ? batchesLeft : plan.batchesLeft(from.after());
  }

  /** Returns the index of a record in the dataset. */
  public long index(int i) {
    Slot from = held();
    return from.indices()[checked(from, i)];
  }

  /** Returns the indices of the records in the dataset, a copy. */
  public long[] indices() {
    Slot from = held();
    return Arrays.copyOf(from.indices(), from.count());
  }

  /** Returns the fields of the batch. */
  public List<FieldSpec> fields() {
    return held().blocks().delivered().stream().map(FieldBlock::field).toList();
  }

  /**
   * Returns all values of a field as they are collated: read-only, little-endian, direct, from
   * position 0 to its limit. Absent values of a fixed width are zeros; other absent values take no
   * room. Each call returns the same buffer object, rewound; take a {@code duplicate()} where two
   * readers need it.
   */
  public ByteBuffer data(String field) {
    return block(field).delivered();
  }

  /**
   * Returns the buffer of the feed's {@link BatchMemory} with which {@link #data} begins. Do not
   * read or write through this buffer.
   */
  public ByteBuffer memory(String field) {
    return block(field).allocated();
  }

  /**
   * Returns the dimensions of {@link #data}, the number of records first; -1 where values differ in
   * length.
   */
  public int[] dimensions(String field) {
    return block(field).dimensions();
  }

  /**
   * Returns the value of the {@code i}-th record without padding, a view of {@link #data}; empty if
   * the value is absent and has no fixed width.
   */
  public ByteBuffer value(String field, int i) {
    checked(held(), i);
    return block(field).deliveredValue(i);
  }

  /** Returns the bytes of the {@code i}-th value in {@link #data}, without padding. */
  public int lengthBytes(String field, int i) {
    checked(held(), i);
    return block(field).deliveredLengthBytes(i);
  }

  /**
   * Returns where the values end in {@link #data}, a copy. Value {@code i} begins at the end of the
   * value before, the first at 0.
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

  /** Returns whether the value of any record of the batch is absent in a field. */
  public boolean hasAbsent(String field) {
    return block(field).hasAbsent();
  }

  /** Returns whether the value of the {@code i}-th record is absent in a field. */
  public boolean isAbsent(String field, int i) {
    checked(held(), i);
    return block(field).isAbsent(i);
  }

  /**
   * Returns the records of the sampler's batch that could not be delivered; always empty under
   * {@link BadRecordPolicy#FAIL}.
   */
  public List<BadRecord> badRecords() {
    return held().badRecords();
  }

  /** Returns what the {@link BatchSink} returned; null without a sink. */
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

  void continueAt(FeedState state, long left) {
    next = state;
    batchesLeft = left;
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
   * @throws IllegalStateException if a {@link BatchSink} calls it: only the consumer closes a batch
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
