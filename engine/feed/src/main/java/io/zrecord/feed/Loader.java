package io.zrecord.feed;

import io.zrecord.internal.io.Closing;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads batches into slots, one after the other, on a thread of its own with readers of its own.
 */
final class Loader implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Loader.class);

  private final LoaderSettings settings;
  private final Handover handover;
  private final BatchSchedule schedule;
  private final StageClock clock = new StageClock();
  private final List<GroupLoader> groups = new ArrayList<>();
  private @Nullable BatchSink sink;
  private volatile @Nullable Throwable failure;

  Loader(LoaderSettings settings, Handover handover, BatchSchedule schedule) {
    this.settings = settings;
    this.handover = handover;
    this.schedule = schedule;
  }

  @Override
  public void run() {
    try {
      settings.onStart().run();
      for (int i = 0; i < settings.plan().groups().size(); i++) {
        groups.add(new GroupLoader(
            settings.plan().group(i), settings.ahead().get(i), clock, settings.policy()));
      }
      sink = settings.newSink();
      boolean hasMore = true;
      while (hasMore) {
        hasMore = loadNext();
      }
    } catch (Throwable e) {
      // Catch everything: the consumer would take a silent end of this thread for the end of the
      // data. After a close nobody looks at the failure.
      fail(e);
    } finally {
      end();
    }
  }

  private void fail(Throwable cause) {
    failure = cause;
    handover.fail(cause);
  }

  private void end() {
    List<AutoCloseable> parts = new ArrayList<>(groups);
    if (sink != null) {
      parts.add(sink);
    }
    try {
      Closing.all(parts);
    } catch (Throwable e) {
      LOG.warn("A transform or sink of a feed could not be closed", e);
      fail(e);
    } finally {
      clock.enter(Stage.END);
      handover.endLoader(clock);
    }
  }

  private boolean loadNext() throws InterruptedException {
    clock.enter(Stage.WAIT);
    Slot slot = handover.pollFree();
    if (slot == null && schedule.hasNext()) {
      slot = handover.takeFree();
    }
    // Take a number only with a slot in hand: so the batch that is waited for always has a slot.
    if (slot == null || !schedule.next(slot)) {
      if (slot != null) {
        handover.giveBack(slot);
      }
      return false;
    }
    handover.begin(slot);
    try {
      load(slot);
    } catch (Throwable e) {
      slot.fail(e);
    }
    // Clear an interrupt that other code left set; a close does not need it.
    Thread.interrupted();
    clock.enter(Stage.DELIVER);
    handover.deliver(slot, clock);
    return slot.failure() == null;
  }

  private void load(Slot slot) throws InterruptedException {
    clock.enter(Stage.SAMPLE);
    slot.range().writeIndices(slot.indices());
    GroupLoader loader = groups.get(slot.range().groupOrdinal());
    try {
      long bytes = loader.select(slot);
      clock.enter(Stage.RESERVE);
      handover.reserve(slot, bytes);
      loader.fill(slot);
    } catch (RuntimeException e) {
      if (settings.policy() == BadRecordPolicy.FAIL || !Salvage.mayHelp(e)) {
        throw e;
      }
      new Salvage(loader, settings.policy(), slot).run(e);
    }
    if (!slot.isDropped()) {
      handover.adjust(slot, slot.usedBytes());
      clock.enter(Stage.PLACE);
      place(slot);
    }
  }

  private void place(Slot slot) {
    FeedBatch batch = settings.newBatch(slot);
    slot.deliver(batch);
    if (sink != null) {
      try {
        batch.place(sink.place(batch));
      } catch (Exception e) {
        throw new IllegalStateException(
            "The sink failed with batch " + batch.batch() + " of group '" + batch.group() + "': "
                + e,
            e);
      }
    }
  }

  /** Describes the loader for the message of a timeout. */
  String describe() {
    Throwable cause = failure;
    return cause == null ? clock.describe() : "has failed: " + cause;
  }
}
