package io.zrecord.feed;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.read.FieldReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Loads the good records of a batch that has bad records, as the policy says. */
final class Salvage {
  private static final Logger LOG = LoggerFactory.getLogger(Salvage.class);
  private static final int MAX_LOGGED = 10;

  private final GroupLoader loader;
  private final BadRecordPolicy policy;
  private final Slot slot;
  private final long[] allIndices;
  private final TreeMap<Integer, BadRecord> bad = new TreeMap<>();

  Salvage(GroupLoader loader, BadRecordPolicy policy, Slot slot) {
    this.loader = loader;
    this.policy = policy;
    this.slot = slot;
    this.allIndices = Arrays.copyOf(slot.indices(), slot.range().count());
  }

  /**
   * Returns whether a failure may lie in single records. A refusal of the system, such as to open
   * one more file, does not.
   */
  static boolean mayHelp(RuntimeException failure) {
    boolean isRefused = failure instanceof StorageException;
    return !isRefused
        && (failure instanceof ZRecordException || failure instanceof BadRecordsException);
  }

  /**
   * Fills the slot, or drops its batch. Where no record is bad any more, such as after bytes that
   * came wrong once, the batch is loaded once more.
   *
   * @param first what went wrong
   */
  void run(RuntimeException first) throws InterruptedException {
    if (first instanceof ZRecordException) {
      for (int i = 0; i < allIndices.length; i++) {
        probe(i);
      }
    } else {
      take((BadRecordsException) first);
    }
    boolean isDone = false;
    while (!isDone) {
      isDone = isFilled();
    }
    if (slot.isDropped() && policy == BadRecordPolicy.SUBSTITUTE && isShared()) {
      throw first;
    }
    log();
    slot.report(List.copyOf(bad.values()));
  }

  /** Returns whether other ranks count on as many batches from this one. */
  private boolean isShared() {
    return slot.range().group().ranks().worldSize() > 1;
  }

  /** Reads a record alone, and notes it if it is bad. */
  private void probe(int ordinal) {
    for (FieldReader reader : loader.readers()) {
      try {
        reader.select(allIndices, ordinal, 1);
        reader.value(0);
      } catch (StorageException e) {
        throw e;
      } catch (ZRecordException e) {
        bad.put(ordinal, new BadRecord(allIndices[ordinal], reader.field().name(), reason(e)));
        return;
      }
    }
  }

  /**
   * Tries to fill the slot with records that are not known to be bad; returns whether that ended.
   */
  private boolean isFilled() throws InterruptedException {
    List<Integer> kept = kept();
    slot.arrange(allIndices, kept);
    if (kept.isEmpty()) {
      slot.drop();
      return true;
    }
    try {
      loader.select(slot);
      loader.fill(slot);
      return true;
    } catch (BadRecordsException e) {
      take(e);
      return false;
    }
  }

  private void take(BadRecordsException failure) {
    failure.bad().byPosition().forEach((position, why) -> {
      int ordinal = slot.ordinal(position);
      bad.put(ordinal, new BadRecord(allIndices[ordinal], why.field(), reason(why.cause())));
    });
  }

  private List<Integer> kept() {
    List<Integer> kept = new ArrayList<>();
    boolean isDropped = policy == BadRecordPolicy.DROP_BATCH && !bad.isEmpty();
    if (isDropped || bad.size() == allIndices.length) {
      return kept;
    }
    for (int i = 0; i < allIndices.length; i++) {
      if (!bad.containsKey(i)) {
        kept.add(i);
      } else if (policy == BadRecordPolicy.SUBSTITUTE) {
        kept.add(nextGood(i));
      }
    }
    return kept;
  }

  private int nextGood(int ordinal) {
    int next = ordinal;
    while (bad.containsKey(next)) {
      next = (next + 1) % allIndices.length;
    }
    return next;
  }

  private void log() {
    bad.values().stream()
        .limit(MAX_LOGGED)
        .forEach(record -> LOG.warn(
            "Bad record of {}: index {}, field '{}', {}: {}",
            slot.range().group().dataset(),
            record.index(),
            record.field(),
            policy,
            record.reason()));
    if (bad.size() > MAX_LOGGED) {
      LOG.warn("and {} more bad records of the same batch", bad.size() - MAX_LOGGED);
    }
  }

  private static String reason(Exception e) {
    return e instanceof ZRecordException ? String.valueOf(e.getMessage()) : e.toString();
  }
}
