package io.zrecord.feed;

import io.zrecord.read.FieldReader;
import io.zrecord.schema.Codec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Loads batches of one group on one thread, with readers and a transform of its own. */
final class GroupLoader implements AutoCloseable {
  private final GroupPlan group;
  private final ReadAhead ahead;
  private final StageClock clock;
  private final boolean toleratesBadRecords;
  private final List<FieldReader> readers = new ArrayList<>();
  private final @Nullable RecordTransform transform;
  private final RecordOutput out;
  private RecordFailures bad = new RecordFailures();

  GroupLoader(GroupPlan group, ReadAhead ahead, StageClock clock, BadRecordPolicy policy) {
    this.ahead = ahead;
    this.group = group;
    this.clock = clock;
    this.toleratesBadRecords = policy != BadRecordPolicy.FAIL;
    group.fields().forEach(field -> readers.add(group.dataset().reader(field.name())));
    out = new RecordOutput(group.outputs().size());
    Supplier<? extends RecordTransform> factory = group.transform();
    transform = factory == null
        ? null
        : Objects.requireNonNull(
            factory.get(),
            () -> "The factory of transforms of group '" + group.name() + "' gave null");
  }

  List<FieldReader> readers() {
    return readers;
  }

  /** Selects the records of a slot; returns the bytes of their values. */
  long select(Slot slot) throws InterruptedException {
    clock.enter(Stage.READ);
    ahead.enter(slot.range());
    long bytes = 0;
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).select(slot.indices(), 0, slot.count());
      bytes += readers.get(i).totalLengthBytes();
    }
    return bytes;
  }

  /** Fills a slot with the records that are selected. */
  void fill(Slot slot) {
    Slot.GroupBlocks blocks = slot.blocks();
    for (int i = 0; i < readers.size(); i++) {
      FieldReader reader = readers.get(i);
      clock.enter(reader.field().compression().codec() == Codec.RAW ? Stage.READ : Stage.DECODE);
      blocks.inputs().get(i).load(reader);
    }
    if (transform != null) {
      clock.enter(Stage.TRANSFORM);
      transform(transform, slot, blocks);
    }
    clock.enter(Stage.COLLATE);
    for (int i = 0; i < blocks.delivered().size(); i++) {
      blocks.delivered().get(i).finish(bad);
    }
    if (!bad.isEmpty()) {
      throw badRecords(slot);
    }
  }

  private BadRecordsException badRecords(Slot slot) {
    BadRecordsException exception =
        new BadRecordsException(bad, slot.indices(), group.dataset().toString());
    bad = new RecordFailures();
    return exception;
  }

  private void transform(RecordTransform each, Slot slot, Slot.GroupBlocks blocks) {
    RecordInput in = new RecordInput(blocks.inputs());
    blocks.outputs().forEach(block -> block.begin(slot.count()));
    try {
      for (int i = 0; i < slot.count(); i++) {
        in.moveTo(i, slot.indices()[i]);
        out.open(blocks.outputs(), i);
        transform(each, slot, i, in);
      }
    } finally {
      in.end();
      out.end();
    }
  }

  private void transform(RecordTransform each, Slot slot, int i, RecordInput in) {
    try {
      each.apply(in, out, slot.range().recordSeed(slot.ordinal(i)));
      out.complete();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted in a transform", e);
    } catch (Exception e) {
      bad.add(i, "transform", e);
      if (!toleratesBadRecords) {
        throw badRecords(slot);
      }
      out.fillAbsent();
    }
  }

  @Override
  public void close() {
    if (transform != null) {
      transform.close();
    }
  }
}
