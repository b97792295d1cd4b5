package io.zrecord.feed;

import io.zrecord.Prefetcher.Prefetch;
import io.zrecord.errors.ZRecordException;
import io.zrecord.sampler.Sampler;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Asks for the bytes of a part of an order before its records are loaded, so that each place of a
 * file is asked for once although batches come back to it. While a part is loaded, the next one is
 * on its way, and the one before is kept for batches that are late. Orders without parts, and files
 * that are mapped, need nothing of this. Thread-safe; no lock is held over a request.
 */
final class ReadAhead implements AutoCloseable {
  /** Most records of a part. Longer parts are cut. */
  private static final int MOST_RECORDS = 1 << 20;

  /** Parts that are kept: the one before, the current one and the next one. */
  private static final int KEPT = 3;

  private final GroupPlan group;
  private final List<String> fields;
  private final Deque<Part> parts = new ArrayDeque<>();
  private boolean isClosed;

  /** Positions of an epoch whose bytes are asked for together. */
  private static final class Part {
    final Sampler order;
    final long turn;
    final long epoch;
    final long from;
    final long to;
    private final AtomicBoolean isBegun = new AtomicBoolean();
    private final CountDownLatch asked = new CountDownLatch(1);
    private @Nullable Prefetch prefetch;
    private boolean isDropped;

    Part(Sampler order, long turn, long epoch, long from) {
      this.order = order;
      this.turn = turn;
      this.epoch = epoch;
      this.from = from;
      this.to = Math.min(order.endOfPart(epoch, from), from + MOST_RECORDS);
    }

    boolean contains(BatchRange range) {
      return range.turn() == turn && range.position() >= from && range.position() < to;
    }

    boolean isAfter(BatchRange range) {
      return range.turn() < turn || (range.turn() == turn && range.position() < from);
    }

    /** Returns the part that follows; null after the last one of an epoch. */
    @Nullable
    Part next() {
      return to < order.length() ? new Part(order, turn, epoch, to) : null;
    }

    synchronized void hold(Prefetch asked) {
      if (isDropped) {
        asked.close();
      } else {
        prefetch = asked;
      }
    }

    synchronized void drop() {
      isDropped = true;
      if (prefetch != null) {
        prefetch.close();
        prefetch = null;
      }
    }
  }

  ReadAhead(GroupPlan group) {
    this.group = group;
    this.fields = group.fields().stream().map(FieldSpec::name).toList();
  }

  /** Asks for what is needed from a batch on. Call this before the batch is loaded. */
  void enter(BatchRange range) throws InterruptedException {
    Sampler order = range.order();
    if (!group.dataset().isRemote()
        || order.endOfPart(range.epoch(), range.position()) == range.position() + 1) {
      return;
    }
    List<Part> needed = current(order, range);
    needed.forEach(this::ask);
    if (!needed.isEmpty()) {
      // Until all is asked for, a batch would ask for its records by itself.
      needed.get(0).asked.await();
    }
  }

  /** Returns the part of a batch and the next one, and drops those that were left. */
  private synchronized List<Part> current(Sampler order, BatchRange range) {
    if (isClosed) {
      return List.of();
    }
    for (Part part : parts) {
      if (part.contains(range)) {
        return part == parts.getLast() ? following(part) : List.of(part);
      }
    }
    if (!parts.isEmpty() && parts.getLast().isAfter(range)) {
      // Late: its part is dropped.
      return List.of();
    }
    Part part = new Part(order, range.turn(), range.epoch(), range.position());
    add(part);
    return following(part);
  }

  private List<Part> following(Part part) {
    Part next = part.next();
    if (next == null) {
      return List.of(part);
    }
    add(next);
    return List.of(part, next);
  }

  private void add(Part part) {
    parts.addLast(part);
    if (parts.size() > KEPT) {
      parts.removeFirst().drop();
    }
  }

  private void ask(Part part) {
    if (!part.isBegun.compareAndSet(false, true)) {
      return;
    }
    try {
      askOnce(part);
    } catch (ZRecordException e) {
      // Whoever loads the records meets the error.
    } finally {
      part.asked.countDown();
    }
  }

  private void askOnce(Part part) {
    long[] indices = new long[(int) (part.to - part.from)];
    part.order.indices(part.epoch, part.from, indices, 0, indices.length);
    part.hold(group.dataset().prefetcher(fields).ask(indices));
  }

  @Override
  public synchronized void close() {
    isClosed = true;
    parts.forEach(Part::drop);
    parts.clear();
  }
}
