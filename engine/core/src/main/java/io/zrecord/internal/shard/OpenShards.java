package io.zrecord.internal.shard;

import io.zrecord.internal.io.MapBudget;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Holds the shards that this process has open. Sealed shards never change, so all readers share
 * maps and verified bits, and a dataset opened again finds both.
 *
 * <p>A shard is kept while a {@link ShardUse} holds it, and for 30 seconds after its last use is
 * closed: tasks of an executor follow each other faster, and mapping again costs a page fault for
 * every page that is read. Afterwards the next use or a timer drops the shard. Its maps are never
 * unmapped explicitly, because values that were handed out are slices of them. The collector unmaps
 * when the last reader and the last slice are gone, and only then a deleted file gives its disk
 * space back. Independent of uses, mappings are bounded, and so is the memory for tables of files
 * that are not mapped: beyond a bound the shards used longest ago are dropped.
 *
 * <p>Thread-safe; no I/O happens under its lock.
 */
public final class OpenShards {
  /** Most shards kept: a shard without any mapping still takes some memory. */
  private static final int MAX_SHARDS = 100_000;

  /** Time that a shard is kept after its last use. */
  static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final OpenShards SHARED = new OpenShards(
      MapBudget.budget(),
      Runtime.getRuntime().maxMemory() / 8,
      System::nanoTime,
      OpenShards::runLater);

  private final int maxMaps;
  private final long maxHeapBytes;
  private final LongSupplier clock;
  private final Timer timer;
  private final Map<ShardId, Slot> slots = new LinkedHashMap<>(16, 0.75f, true);
  /** Shards without a use, in the order in which they lost the last one. */
  private final Set<Slot> idle = new LinkedHashSet<>();

  private int mapCount;
  private long heapBytes;
  private boolean isTimerSet;

  /** Runs a task later, once. */
  interface Timer {
    void runAfter(long nanos, Runnable task);
  }

  OpenShards(int maxMaps, long maxHeapBytes, LongSupplier clock, Timer timer) {
    this.maxMaps = maxMaps;
    this.maxHeapBytes = maxHeapBytes;
    this.clock = clock;
    this.timer = timer;
  }

  private static void runLater(long nanos, Runnable task) {
    CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(task);
  }

  /** Returns the shards of this process. */
  public static OpenShards shared() {
    return SHARED;
  }

  /** Makes a use, which has no shard yet. The caller closes it. */
  public ShardUse use() {
    return new ShardUse(this);
  }

  /** Returns an open shard. From now on the use holds the shard, unless the use is closed. */
  OpenShard get(ShardUse use, Storage storage, ShardSummary shard) {
    // The storage is asked before, because it may call anything.
    return get(use, storage, storage.location(), shard, ShardId.of(storage, shard));
  }

  private synchronized OpenShard get(
      ShardUse use, Storage storage, String location, ShardSummary shard, ShardId id) {
    Slot slot = slots.get(id);
    if (slot == null) {
      slot = new Slot(storage, location, id, shard);
      slots.put(id, slot);
      trim(slot);
    }
    if (use.hold(id, slot)) {
      slot.useCount++;
      idle.remove(slot);
    } else if (slot.useCount == 0) {
      setIdle(slot);
    }
    dropIdle();
    return slot.shard;
  }

  /** Ends a use. */
  synchronized void release(ShardUse use) {
    for (Slot slot : use.letGo()) {
      slot.useCount--;
      if (slot.useCount == 0 && !slot.isDropped) {
        setIdle(slot);
      }
    }
    dropIdle();
  }

  private void setIdle(Slot slot) {
    idle.remove(slot);
    slot.idleSince = clock.getAsLong();
    idle.add(slot);
  }

  /** Drops shards that were idle for long enough, and sets the timer for the rest. */
  private void dropIdle() {
    if (idle.isEmpty()) {
      return;
    }
    long now = clock.getAsLong();
    Iterator<Slot> eldest = idle.iterator();
    while (eldest.hasNext()) {
      Slot slot = eldest.next();
      long left = IDLE_NANOS - (now - slot.idleSince);
      if (left > 0) {
        setTimer(left);
        return;
      }
      eldest.remove();
      slots.remove(slot.id);
      forget(slot);
    }
  }

  private void setTimer(long nanos) {
    if (!isTimerSet) {
      isTimerSet = true;
      timer.runAfter(nanos, this::onTimer);
    }
  }

  private synchronized void onTimer() {
    isTimerSet = false;
    dropIdle();
  }

  /** Returns a shard for one reader. Its maps go with the reader. */
  public static OpenShard unshared(Storage storage, ShardSummary shard) {
    return new OpenShard(storage, shard, kept -> {});
  }

  /** Drops a shard. Readers keep what they have. */
  synchronized void drop(ShardId id) {
    Slot slot = slots.remove(id);
    if (slot != null) {
      idle.remove(slot);
      forget(slot);
    }
  }

  /** Drops the shards of all storages below a directory. Readers keep what they have. */
  public void dropBelow(String directory) {
    dropIf(slot -> slot.location.startsWith(directory + "/"));
  }

  /**
   * Drops the shards of a storage, so that the next user verifies them again. Readers keep what
   * they have.
   */
  public void dropAt(String location) {
    dropIf(slot -> slot.location.equals(location));
  }

  /** Drops the shards that nobody has open, without waiting for the end of their time. */
  public void dropUnused() {
    dropIf(slot -> slot.useCount == 0);
  }

  private synchronized void dropIf(Predicate<Slot> condition) {
    List<ShardId> found = new ArrayList<>();
    for (Slot slot : slots.values()) {
      if (condition.test(slot)) {
        found.add(slot.id);
      }
    }
    found.forEach(this::drop);
  }

  /** Drops all shards. Readers keep what they have. */
  public void clear() {
    dropIf(slot -> true);
  }

  synchronized int mapCount() {
    return mapCount;
  }

  synchronized long heapBytes() {
    return heapBytes;
  }

  synchronized int shardCount() {
    return slots.size();
  }

  private synchronized void onKept(Slot slot, long bytes) {
    if (slot.isDropped) {
      return;
    }
    if (bytes == 0) {
      slot.maps++;
      mapCount++;
    } else {
      slot.heapBytes += bytes;
      heapBytes += bytes;
    }
    trim(slot);
  }

  private boolean isOverBound() {
    return mapCount > maxMaps || heapBytes > maxHeapBytes || slots.size() > MAX_SHARDS;
  }

  private void trim(Slot keep) {
    Iterator<Slot> eldest = slots.values().iterator();
    while (isOverBound() && eldest.hasNext()) {
      Slot slot = eldest.next();
      if (slot != keep) {
        eldest.remove();
        idle.remove(slot);
        forget(slot);
      }
    }
  }

  private void forget(Slot slot) {
    slot.isDropped = true;
    mapCount -= slot.maps;
    heapBytes -= slot.heapBytes;
  }

  /** Holds a shard, and counts its uses. Guarded by the lock. */
  final class Slot {
    private final String location;
    private final ShardId id;
    private final OpenShard shard;
    private int maps;
    private long heapBytes;
    private int useCount;
    private long idleSince;
    private boolean isDropped;

    Slot(Storage storage, String location, ShardId id, ShardSummary summary) {
      this.location = location;
      this.id = id;
      this.shard = new OpenShard(storage, summary, bytes -> onKept(this, bytes));
    }
  }
}
