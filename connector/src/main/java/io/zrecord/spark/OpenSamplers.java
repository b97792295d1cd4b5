package io.zrecord.spark;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.table.TableSnapshot;
import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The samplers that tasks of this process use, so that weights or labels are read once for a version of a dataset, not for every task,
 * epoch or rank. Kept while there is memory. Thread-safe; who asks for one that is being made waits for it.
 */
final class OpenSamplers {
  private static final Map<Key, SoftReference<Opened>> OPENED = new ConcurrentHashMap<>();

  private OpenSamplers() {}

  private record Key(SnapshotId dataset, SamplerConf conf) {}

  /**
   * A version and a sampler of all its records.
   *
   * @param snapshot of that version
   * @param sampler of its indices
   */
  record Opened(TableSnapshot snapshot, Sampler sampler) {}

  static Opened of(SnapshotId dataset, SamplerConf conf) {
    OPENED.values().removeIf(reference -> reference.get() == null);
    Opened[] result = new Opened[1];
    OPENED.compute(new Key(dataset, conf), (key, reference) -> {
      @Nullable Opened known = reference == null ? null : reference.get();
      result[0] = known == null ? open(key) : known;
      return known == null ? new SoftReference<>(result[0]) : reference;
    });
    return result[0];
  }

  private static Opened open(Key key) {
    TableSnapshot snapshot = key.dataset().open();
    try (RecordDataset dataset =
        RecordDataset.open(snapshot, RecordDataset.ReadOptions.defaults())) {
      return new Opened(snapshot, key.conf().of(dataset));
    }
  }
}
