package io.zrecord.spark.scan;

import io.zrecord.RecordDataset;
import io.zrecord.feed.spec.SamplerSpec;
import io.zrecord.sampler.Sampler;
import io.zrecord.table.TableSnapshot;
import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The samplers that tasks of this process use. Weights or labels are read once for each version of
 * a dataset, not for every task, epoch or rank. Samplers are kept while there is memory.
 * Thread-safe; a thread that asks for a sampler while it is being made waits for it.
 */
public final class OpenSamplers {
  private static final Map<Key, Entry> OPENED = new ConcurrentHashMap<>();

  private OpenSamplers() {}

  /** What one storage has may be shared by whoever reaches it in the same way only. */
  private record Key(Object storage, SnapshotId dataset, SamplerSpec spec) {}

  /**
   * A version and a sampler of all its records.
   *
   * @param snapshot the version
   * @param sampler sampler of the version's indices, not cut
   */
  public record Opened(TableSnapshot snapshot, Sampler sampler) {}

  /** Opens a version and its sampler. The sampler is not cut, so epochs of any length share it. */
  public static Opened of(SnapshotId dataset, SamplerSpec spec) {
    OPENED.values().removeIf(Entry::isForgotten);
    Key key = new Key(dataset.location().storage().identity(), dataset, spec.withoutNumSamples());
    Entry entry = OPENED.computeIfAbsent(key, absent -> new Entry());
    boolean isOpened = false;
    try {
      Opened opened = entry.opened(dataset, spec);
      isOpened = true;
      return opened;
    } finally {
      if (!isOpened) {
        OPENED.remove(key, entry);
      }
    }
  }

  /**
   * Makes its sampler at the first request. Meanwhile, only threads that want the same sampler
   * wait.
   */
  private static final class Entry {
    private volatile @Nullable SoftReference<Opened> reference;

    boolean isForgotten() {
      SoftReference<Opened> known = reference;
      return known != null && known.get() == null;
    }

    synchronized Opened opened(SnapshotId dataset, SamplerSpec spec) {
      SoftReference<Opened> known = reference;
      Opened opened = known == null ? null : known.get();
      if (opened == null) {
        opened = open(dataset, spec);
        reference = new SoftReference<>(opened);
      }
      return opened;
    }
  }

  private static Opened open(SnapshotId id, SamplerSpec spec) {
    TableSnapshot snapshot = id.open();
    try (RecordDataset dataset =
        RecordDataset.open(snapshot, RecordDataset.ReadOptions.defaults())) {
      return new Opened(snapshot, spec.uncut(dataset));
    }
  }
}
