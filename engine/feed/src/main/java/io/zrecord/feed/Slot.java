package io.zrecord.feed;

import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Holds one batch on its way from a loader to the consumer; the consumer gives the slot back for
 * another batch. A slot belongs to its holder.
 */
final class Slot {
  private final List<BatchBuffer> buffers = new ArrayList<>();
  private final List<GroupBlocks> groups = new ArrayList<>();
  private final BatchMemory memory;
  private final BatchRange range;
  private final Cursor after;
  private long number;
  private long reservedBytes;
  private long[] indices = new long[0];
  private int[] ordinals = new int[0];
  private int count;
  private List<BadRecord> badRecords = List.of();
  private boolean isDropped;
  private @Nullable Throwable failure;
  private @Nullable FeedBatch batch;

  /**
   * Groups the blocks of a group, which share their memory with the blocks of other groups.
   *
   * @param inputs what is read
   * @param outputs what the transform makes
   * @param delivered what the consumer sees: outputs instead of inputs of the same name
   */
  record GroupBlocks(
      List<FieldBlock> inputs, List<FieldBlock> outputs, List<FieldBlock> delivered) {}

  Slot(FeedPlan plan, BatchMemory memory) {
    this.memory = memory;
    this.range = new BatchRange(plan.group(0));
    this.after = plan.start();
    for (GroupPlan group : plan.groups()) {
      groups.add(blocksOf(group));
    }
  }

  private GroupBlocks blocksOf(GroupPlan group) {
    List<String> made = group.outputs().stream().map(FieldSpec::name).toList();
    List<FieldBlock> inputs = new ArrayList<>();
    List<FieldBlock> outputs = new ArrayList<>();
    List<FieldBlock> delivered = new ArrayList<>();
    int buffer = 0;
    for (FieldSpec field : group.fields()) {
      boolean isReplaced = made.contains(field.name());
      Collation collation = isReplaced ? Collation.ragged() : group.collation(field);
      FieldBlock block = new FieldBlock(field, collation, buffer(buffer++));
      inputs.add(block);
      if (!isReplaced) {
        delivered.add(block);
      }
    }
    for (FieldSpec field : group.outputs()) {
      FieldBlock block = new FieldBlock(field, group.collation(field), buffer(buffer++));
      outputs.add(block);
      delivered.add(block);
    }
    return new GroupBlocks(List.copyOf(inputs), List.copyOf(outputs), List.copyOf(delivered));
  }

  private BatchBuffer buffer(int ordinal) {
    while (buffers.size() <= ordinal) {
      buffers.add(new BatchBuffer(memory));
    }
    return buffers.get(ordinal);
  }

  void begin(long newNumber, Cursor cursor) {
    number = newNumber;
    after.copyFrom(cursor);
    count = range.count();
    badRecords = List.of();
    isDropped = false;
    failure = null;
    batch = null;
    if (indices.length < count) {
      indices = new long[count];
      ordinals = new int[count];
    }
    for (int i = 0; i < count; i++) {
      ordinals[i] = i;
    }
  }

  BatchRange range() {
    return range;
  }

  /** Returns the cursor after this batch. */
  Cursor after() {
    return after;
  }

  /** Returns the number of the batch in the feed, from 0. */
  long number() {
    return number;
  }

  GroupBlocks blocks() {
    return groups.get(range.groupOrdinal());
  }

  /** Returns the indices of the records. */
  long[] indices() {
    return indices;
  }

  /** Returns the number of records that are delivered. */
  int count() {
    return count;
  }

  /** Returns which record of the range is at {@code i}. */
  int ordinal(int i) {
    return ordinals[i];
  }

  /** Takes only some records of the range, or some records in place of others. */
  void arrange(long[] allIndices, List<Integer> kept) {
    count = kept.size();
    for (int i = 0; i < count; i++) {
      ordinals[i] = kept.get(i);
      indices[i] = allIndices[kept.get(i)];
    }
  }

  List<BadRecord> badRecords() {
    return badRecords;
  }

  void report(List<BadRecord> bad) {
    badRecords = List.copyOf(bad);
  }

  boolean isDropped() {
    return isDropped;
  }

  void drop() {
    isDropped = true;
    count = 0;
  }

  void fail(Throwable newFailure) {
    failure = newFailure;
  }

  @Nullable
  Throwable failure() {
    return failure;
  }

  void deliver(FeedBatch newBatch) {
    batch = newBatch;
  }

  @Nullable
  FeedBatch batch() {
    return batch;
  }

  long reservedBytes() {
    return reservedBytes;
  }

  void reserve(long bytes) {
    reservedBytes = bytes;
  }

  /** Returns the bytes of what is delivered. */
  long lengthBytes() {
    long bytes = 0;
    List<FieldBlock> delivered = blocks().delivered();
    for (int i = 0; i < delivered.size(); i++) {
      bytes += delivered.get(i).deliveredBytes();
    }
    return bytes;
  }

  /**
   * Returns the bytes of memory that the batch uses, including stored values that a transform
   * replaces.
   */
  long usedBytes() {
    GroupBlocks blocks = blocks();
    long bytes = 0;
    for (int i = 0; i < blocks.inputs().size(); i++) {
      bytes += blocks.inputs().get(i).usedBytes();
    }
    for (int i = 0; i < blocks.outputs().size(); i++) {
      bytes += blocks.outputs().get(i).usedBytes();
    }
    return bytes;
  }

  /** Frees memory that is far more than this batch needed and than a batch's share of a bound. */
  void trim(long shareBytes) {
    long capacity = 0;
    for (int i = 0; i < buffers.size(); i++) {
      capacity += buffers.get(i).capacityBytes();
    }
    if (capacity / 2 > shareBytes && capacity / 2 > reservedBytes) {
      buffers.forEach(BatchBuffer::drop);
    }
    if (reservedBytes > shareBytes) {
      blocks().delivered().forEach(FieldBlock::trim);
    }
  }
}
