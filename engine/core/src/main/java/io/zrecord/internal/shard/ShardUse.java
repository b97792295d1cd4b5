package io.zrecord.internal.shard;

import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Names one user of the shards of this process, such as an open dataset, so that shards that nobody
 * has open any more are let go. A use does not keep a shard alive by itself: the bound of mappings
 * may drop a shard that is in use. Thread-safe.
 */
public final class ShardUse implements AutoCloseable {
  private static final Cleaner CLEANER = Cleaner.create();

  private final OpenShards shards;
  /**
   * Guarded by the lock of {@link #shards}. Weak, because the use may outlive a shard that was
   * dropped.
   */
  private final Map<ShardId, WeakReference<OpenShards.Slot>> held = new HashMap<>();

  private boolean isClosed;

  ShardUse(OpenShards shards) {
    this.shards = shards;
  }

  /**
   * Ends the use when the owner is unreachable, in case nobody closes the use. The use must not
   * refer to the owner.
   */
  public ShardUse endWith(Object owner) {
    CLEANER.register(owner, this::close);
    return this;
  }

  /**
   * Returns an open shard. After {@link #close} the shard is found as well, but not kept for this
   * use.
   */
  public OpenShard get(Storage storage, ShardSummary shard) {
    return shards.get(this, storage, shard);
  }

  /**
   * Notes that this use has a shard; returns {@code false} if that was known, or the use has ended.
   */
  boolean hold(ShardId id, OpenShards.Slot slot) {
    if (isClosed) {
      return false;
    }
    WeakReference<OpenShards.Slot> before = held.get(id);
    if (before != null && before.get() == slot) {
      return false;
    }
    held.put(id, new WeakReference<>(slot));
    return true;
  }

  /** Ends the use; returns the shards that it had. */
  List<OpenShards.Slot> letGo() {
    isClosed = true;
    List<OpenShards.Slot> had = new ArrayList<>(held.size());
    for (WeakReference<OpenShards.Slot> reference : held.values()) {
      OpenShards.Slot slot = reference.get();
      if (slot != null) {
        had.add(slot);
      }
    }
    held.clear();
    return had;
  }

  /** Gives the shards back. Readers keep what they have. Closing again has no effect. */
  @Override
  public void close() {
    shards.release(this);
  }
}
