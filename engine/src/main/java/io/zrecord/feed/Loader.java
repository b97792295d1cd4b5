package io.zrecord.feed;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Loads batches into slots, one after the other, on a thread of its own with readers of its own. */
final class Loader implements Runnable {
  private final LoaderSettings settings;
  private final Handover handover;
  private final Schedule schedule;
  private final StageClock clock = new StageClock();
  private final List<GroupLoader> groups = new ArrayList<>();
  private @Nullable BatchSink sink;
  private volatile @Nullable Throwable failure;

  Loader(LoaderSettings settings, Handover handover, Schedule schedule) {
    this.settings = settings;
    this.handover = handover;
    this.schedule = schedule;
  }

  @Override
  public void run() {
    try {
      settings.onStart().run();
      for (GroupPlan group : settings.plan().groups()) {
        groups.add(new GroupLoader(group, clock, settings.policy()));
      }
      sink = settings.newSink();
      boolean hasMore = true;
      while (hasMore) {
        hasMore = loadNext();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failure = e;
      handover.fail(e);
    } finally {
      end();
    }
  }

  private void end() {
    try {
      groups.forEach(GroupLoader::close);
      if (sink != null) {
        sink.close();
      }
    } catch (RuntimeException | Error e) {
      failure = e;
      handover.fail(e);
    } finally {
      clock.enter(Stage.END);
      handover.endLoader();
    }
  }

  private boolean loadNext() throws InterruptedException {
    clock.enter(Stage.WAIT);
    Slot slot = handover.takeFree();
    // A number only with a slot in hand: so the batch that is waited for always has one.
    if (slot == null || !schedule.next(slot)) {
      if (slot != null) {
        handover.giveBack(slot);
      }
      return false;
    }
    handover.begin(slot);
    try {
      load(slot);
    } catch (RuntimeException | Error e) {
      slot.fail(e);
    }
    clock.enter(Stage.DELIVER);
    handover.deliver(slot, clock);
    return slot.failure() == null;
  }

  private void load(Slot slot) throws InterruptedException {
    clock.enter(Stage.SAMPLE);
    slot.place().writeIndices(slot.indices());
    GroupLoader loader = groups.get(slot.place().groupOrdinal());
    try {
      long bytes = loader.select(slot);
      clock.enter(Stage.WAIT);
      handover.reserve(slot, bytes);
      loader.fill(slot);
    } catch (RuntimeException e) {
      if (settings.policy() == BadRecordPolicy.FAIL || !Salvage.mayHelp(e)) {
        throw e;
      }
      new Salvage(loader, settings.policy(), slot).run(e);
    }
    if (!slot.isDropped()) {
      clock.enter(Stage.PLACE);
      place(slot);
    }
  }

  private void place(Slot slot) throws InterruptedException {
    FeedBatch batch = settings.newBatch(slot);
    slot.deliver(batch);
    if (sink != null) {
      try {
        batch.place(sink.place(batch));
      } catch (InterruptedException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException("The sink failed with a batch of " + batch.group(), e);
      }
    }
  }

  /** For the message of a timeout. */
  String describe() {
    Throwable cause = failure;
    return cause == null ? clock.describe() : "has failed: " + cause;
  }
}
