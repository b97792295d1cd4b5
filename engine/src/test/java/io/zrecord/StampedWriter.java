package io.zrecord;

import io.zrecord.StampedRecords.Stamp;
import io.zrecord.StampedRecords.WrongValueException;
import io.zrecord.read.Verification;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Appends, updates and deletes stamped records in groups, checkpoints, and closes and opens the
 * store again and again; knows for every record what was committed when, so that readers can tell a
 * stale value. One thread writes; questions come from any.
 */
final class StampedWriter {
  private static final int MOST_RECORDS = 8_000;
  private static final int MOST_IDS = 1 << 21;
  private static final int HOT_RECORDS = 512;
  private static final int MOST_OPERATIONS = 64;
  private static final int MOST_COMMITS_OF_AN_OPENING = 20;

  private final Path path;
  private final StoreOptions options;
  private final Random random;
  private final RecordValues values;
  private final AtomicReference<RecordStore> store = new AtomicReference<>();
  private final AtomicReference<@Nullable RecordStore> lastClosed = new AtomicReference<>();
  private final AtomicReferenceArray<@Nullable Committed> committed =
      new AtomicReferenceArray<>(MOST_IDS);

  /** Number of the last commit that has returned. */
  private final AtomicLong commits = new AtomicLong();

  /** Records by index, including operations that are not committed. */
  private final List<Stamp> records = new ArrayList<>();

  private long nextId;
  private final AtomicLong nextVersion = new AtomicLong();
  private final AtomicLong closes = new AtomicLong();
  private final AtomicLong checkpoints = new AtomicLong();
  private final AtomicBoolean isDone = new AtomicBoolean();

  /** The newest version that a commit made visible; none if it deleted the record. */
  private record Committed(long version, long commit, boolean isDeleted) {}

  StampedWriter(Path path, StoreOptions options, long seed) {
    this.path = path;
    this.options = options;
    this.random = new Random(seed);
    RecordStore created = RecordStore.create(path, StampedRecords.SCHEMA, options);
    this.values = created.newValues();
    store.set(created);
  }

  /** Returns the store that was opened last, which may be just closing. */
  RecordStore store() {
    return store.get();
  }

  /** Returns whether the closing of a store that {@link #store} returned has ended. */
  boolean hasClosed(RecordStore former) {
    return former != store.get() || former == lastClosed.get();
  }

  /** Returns the number of commits that have returned; ask before reading. */
  long commits() {
    return commits.get();
  }

  long closes() {
    return closes.get();
  }

  long checkpoints() {
    return checkpoints.get();
  }

  /**
   * @param commitsBefore answer of {@link #commits} before the value was read
   * @throws WrongValueException if a newer version had been committed then, or this one was never
   *     written
   */
  void requireCurrent(Stamp stamp, long commitsBefore) {
    if (stamp.id() < 0 || stamp.id() >= MOST_IDS || stamp.version() >= nextVersion.get()) {
      throw new WrongValueException(stamp + " was never written");
    }
    Committed newest = committed.get((int) stamp.id());
    if (newest != null
        && newest.commit() <= commitsBefore
        && (newest.isDeleted() || newest.version() > stamp.version())) {
      throw new WrongValueException(stamp + " was read after " + newest);
    }
  }

  /**
   * Commits a number of groups, and goes on until there were a checkpoint and three closes, and it
   * is enough. Does something whenever the store is closed. Leaves the store closed.
   */
  void run(int groups, BooleanSupplier isEnough, Runnable whenClosed) {
    long nextClose = 0;
    try {
      while (commits() < groups || checkpoints() == 0 || closes() < 3 || !isEnough.getAsBoolean()) {
        group();
        if (random.nextInt(40) == 0) {
          store().checkpoint();
          checkpoints.incrementAndGet();
        }
        if (commits() > nextClose) {
          close();
          whenClosed.run();
          // Without verification a torn value comes through to who reads it.
          Verification[] all = Verification.values();
          Verification next = all[(int) (closes.incrementAndGet() % all.length)];
          store.set(RecordStore.open(path, options.withVerification(next)));
          nextClose = commits() + random.nextInt(MOST_COMMITS_OF_AN_OPENING);
          // Lets go of the maps that nobody holds any more.
          System.gc();
        }
      }
      close();
      closes.incrementAndGet();
    } finally {
      isDone.set(true);
    }
  }

  /** Returns whether {@link #run} has ended. */
  boolean isDone() {
    return isDone.get();
  }

  private void close() {
    store().close();
    lastClosed.set(store());
  }

  private void group() {
    List<Stamp> changed = new ArrayList<>();
    List<Stamp> deleted = new ArrayList<>();
    boolean grows = records.size() < MOST_RECORDS && nextId < MOST_IDS;
    for (int i = random.nextInt(MOST_OPERATIONS); i >= 0; i--) {
      int dice = random.nextInt(100);
      if (records.isEmpty() || (grows && dice < 50)) {
        changed.add(append());
      } else if (dice < 80) {
        changed.add(update());
      } else {
        deleted.add(delete());
      }
    }
    store().commit();
    long commit = commits.get() + 1;
    changed.forEach(
        stamp -> committed.set((int) stamp.id(), new Committed(stamp.version(), commit, false)));
    deleted.forEach(
        stamp -> committed.set((int) stamp.id(), new Committed(stamp.version(), commit, true)));
    commits.set(commit);
  }

  private Stamp append() {
    Stamp stamp = new Stamp(nextId++, nextVersion.getAndIncrement());
    store().append(StampedRecords.fill(values, stamp));
    records.add(stamp);
    return stamp;
  }

  private int anyIndex() {
    int most = random.nextBoolean() ? HOT_RECORDS : records.size();
    return random.nextInt(Math.min(most, records.size()));
  }

  private Stamp update() {
    int index = anyIndex();
    Stamp stamp = new Stamp(records.get(index).id(), nextVersion.getAndIncrement());
    store().update(index, StampedRecords.fill(values, stamp));
    records.set(index, stamp);
    return stamp;
  }

  private Stamp delete() {
    int index = anyIndex();
    Stamp deleted = records.get(index);
    store().delete(index);
    Stamp last = records.remove(records.size() - 1);
    if (index < records.size()) {
      records.set(index, last);
    }
    return deleted;
  }
}
