package io.zrecord.internal.store;

import io.zrecord.internal.io.MapBudget;
import io.zrecord.storage.Storage;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The shards that this process has open. Sealed shards never change, so all readers share maps and verified bits, and a dataset
 * opened again finds them. Bounded by mappings: beyond the budget the shards used longest ago are dropped, and the collector
 * unmaps them when their last reader is gone. Thread-safe; no I/O happens under its lock.
 */
public final class OpenShards {
  /** A shard without any mapping still takes some memory. */
  private static final int MAX_SHARDS = 100_000;

  private static final OpenShards SHARED = new OpenShards(MapBudget.budget());

  private final int budget;
  private final Map<ShardId, Slot> slots = new LinkedHashMap<>(16, 0.75f, true);
  private int mapCount;

  OpenShards(int budget) {
    this.budget = budget;
  }

  /** The shards of this process. */
  public static OpenShards shared() {
    return SHARED;
  }

  /** The open shard of that identity. */
  public synchronized OpenShard get(Storage storage, ShardId id) {
    Slot slot = slots.get(id);
    if (slot == null) {
      slot = new Slot(storage, id);
      slots.put(id, slot);
      trim(slot);
    }
    return slot.shard;
  }

  /** A shard for one reader, whose maps go with it. */
  public static OpenShard unshared(Storage storage, ShardId id) {
    return new OpenShard(storage, id, () -> {});
  }

  /** Drops a shard. Readers keep what they have. */
  synchronized void drop(ShardId id) {
    Slot slot = slots.remove(id);
    if (slot != null) {
      slot.dropped = true;
      mapCount -= slot.maps;
    }
  }

  /** Drops the shards of all storages below a directory. Readers keep what they have. */
  public void dropBelow(String directory) {
    dropIf(id -> id.location().startsWith(directory + "/"));
  }

  /** Drops the shards of a storage: who opens it anew has nothing verified yet. Readers keep what they have. */
  public void dropAt(String location) {
    dropIf(id -> id.location().equals(location));
  }

  private void dropIf(Predicate<ShardId> condition) {
    List<ShardId> found;
    synchronized (this) {
      found = slots.keySet().stream().filter(condition).toList();
    }
    found.forEach(this::drop);
  }

  /** Drops all shards. Readers keep what they have. */
  public synchronized void clear() {
    slots.values().forEach(slot -> slot.dropped = true);
    slots.clear();
    mapCount = 0;
  }

  synchronized int mapCount() {
    return mapCount;
  }

  private synchronized void onMapped(Slot slot) {
    if (!slot.dropped) {
      slot.maps++;
      mapCount++;
      trim(slot);
    }
  }

  private void trim(Slot keep) {
    Iterator<Slot> eldest = slots.values().iterator();
    while ((mapCount > budget || slots.size() > MAX_SHARDS) && eldest.hasNext()) {
      Slot slot = eldest.next();
      if (slot != keep) {
        slot.dropped = true;
        mapCount -= slot.maps;
        eldest.remove();
      }
    }
  }

  private final class Slot {
    private final OpenShard shard;
    private int maps;
    private boolean dropped;

    Slot(Storage storage, ShardId id) {
      shard = new OpenShard(storage, id, () -> onMapped(this));
    }
  }
}
