package io.zrecord.feed;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.scan.FieldReader;
import java.util.ArrayList;
import java.util.List;

/** Loads batches into slots, one after the other, on a thread of its own with readers of its own. */
final class Loader implements Runnable {
  private final Handover handover;
  private final Schedule schedule;
  private final Sampler sampler;
  private final Runnable onStart;
  private final List<FieldReader> readers = new ArrayList<>();
  private volatile Stage stage = new Stage("has not begun", System.nanoTime());

  /**
   * What it is doing.
   *
   * @param what in words
   * @param sinceNanos of {@link System#nanoTime}
   */
  private record Stage(String what, long sinceNanos) {}

  Loader(
      Handover handover,
      Schedule schedule,
      Sampler sampler,
      RecordDataset dataset,
      List<String> fields,
      Runnable onStart) {
    this.handover = handover;
    this.schedule = schedule;
    this.sampler = sampler;
    this.onStart = onStart;
    fields.forEach(field -> readers.add(dataset.reader(field)));
  }

  @Override
  public void run() {
    try {
      enter("runs the start hook");
      onStart.run();
      while (loadNext()) {
        enter("looks for the next batch");
      }
      enter("has ended");
    } catch (InterruptedException e) {
      enter("was interrupted");
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      handover.fail(e);
      enter("has failed: " + e);
    } finally {
      handover.endLoader();
    }
  }

  private boolean loadNext() throws InterruptedException {
    enter("waits for room: all batches are loaded, or held by the consumer");
    Slot slot = handover.takeFree();
    // A number only with a slot in hand: so the batch that is waited for always has one.
    Slot.Place place = schedule.next();
    if (place == null) {
      handover.giveBack(slot);
      return false;
    }
    enter("loads the batch at position " + place.position() + " of epoch " + place.epoch());
    slot.begin(place);
    long start = System.nanoTime();
    try {
      load(slot, place);
    } catch (RuntimeException | Error e) {
      slot.fail(e);
    }
    handover.deliver(slot, System.nanoTime() - start);
    return slot.failure() == null;
  }

  private void load(Slot slot, Slot.Place place) {
    long[] indices = slot.indices();
    sampler.indices(place.epoch(), place.position(), indices, 0, place.count());
    for (int field = 0; field < readers.size(); field++) {
      readers.get(field).select(indices, 0, place.count());
      slot.blocks().get(field).load(readers.get(field));
    }
  }

  private void enter(String what) {
    stage = new Stage(what, System.nanoTime());
  }

  /** For the message of a timeout. */
  String describe() {
    Stage current = stage;
    return current.what + ", for " + (System.nanoTime() - current.sinceNanos) / 1_000_000 + " ms";
  }
}
